#pragma once

#include <stddef.h>
#include <stdint.h>
#include <memory>
#include <utility>
#include <vector>

#include "picture.h"
#include "search_index.h"

namespace mmp {

struct EncoderOptions {
    int64_t lambda_fixed = 0;  // in 2^-16 squared error per bit
    bool log2_rates = false;   // rate of an index: log2 of the dictionary's size
    int threads = 1;
    const SearchKernel* kernel = nullptr;
};

// Encodes a plane of samples, rows from the top. Gives the payload and the coded picture.
std::pair<std::vector<uint8_t>, std::unique_ptr<Picture>> encode(const uint8_t* samples,
                                                                 Plane plane, const Tools& tools,
                                                                 const EncoderOptions& options,
                                                                 const Progress& progress);

}  // namespace mmp
