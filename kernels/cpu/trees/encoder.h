#pragma once

#include <stdint.h>

#include <memory>
#include <utility>
#include <vector>

#include "cpu/trees/search/costs.h"
#include "cpu/trees/picture.h"
#include "cpu/trees/search/index.h"

namespace mmp {

struct EncoderOptions {
    RateOptions rates;
    int threads = 1;
    const SearchKernel* kernel = nullptr;  // null: brute force, for benchmarks
};

// Encodes a plane of samples, rows from the top. Returns the payload and the decoded picture.
std::pair<std::vector<uint8_t>, std::unique_ptr<Picture>> encode(const uint8_t* samples,
                                                                 Plane plane, const Tools& tools,
                                                                 const EncoderOptions& options,
                                                                 const Progress& progress);

}  // namespace mmp
