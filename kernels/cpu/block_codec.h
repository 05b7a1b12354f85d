// Pictures by predicted blocks, encoded and decoded.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <utility>
#include <vector>

#include "block_coder.h"
#include "block_survey.h"
#include "picture.h"

namespace mmp {

struct CodedBlocks {
    BlockPicture picture;
    Tally tally;
};

struct BlockOptions {
    int64_t lambda_fixed;
    BlockEffort effort;
    int threads;
};

// Encodes a plane of samples, rows from the top.
std::pair<std::vector<uint8_t>, std::unique_ptr<CodedBlocks>> encode_blocks(
    const uint8_t* samples, Plane plane, const BlockTools& tools, const BlockOptions& options,
    const Progress& progress);

// Decodes a payload. Throws TruncatedPayload or CorruptPayload.
std::unique_ptr<CodedBlocks> decode_blocks(const uint8_t* payload, size_t size, Plane plane,
                                           const BlockTools& tools, const Progress& progress);

}  // namespace mmp
