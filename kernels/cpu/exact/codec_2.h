// Coding of planes sample by sample, without loss or with a bounded error. Source: section
// "Exact samples 2" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/exact/codec.h"
#include "cpu/runtime/progress.h"

namespace mmp {

struct Exact2Tools {
    int predictors, models, weight_sets;
    bool last_stage;
    int max_error;
};

// Samples are planes one after the other, in rows from the top; each sample is below 2^depth.
// `decoded` receives the samples that a decoder makes.
std::vector<uint8_t> encode_exact_2(const uint16_t* samples, const ExactShape& shape,
                                    const Exact2Tools& tools, int threads, uint16_t* decoded,
                                    const Progress& progress, ExactRates& rates);
void decode_exact_2(const uint8_t* payload, size_t size, const ExactShape& shape,
                    const Exact2Tools& tools, int threads, uint16_t* samples,
                    const Progress& progress, ExactRates& rates);

}  // namespace mmp
