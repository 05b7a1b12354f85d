// Coding of planes sample by sample, without loss or with a bounded error. Source: section
// "Lossless samples" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <memory>
#include <optional>
#include <vector>

#include "cpu/entropy/rates.h"
#include "cpu/runtime/progress.h"

namespace mmp {

struct LosslessShape {
    int planes, height, width, depth;

    int64_t plane_size() const { return int64_t{height} * width; }
};

struct TwoValuesRows;
struct SourcePlanes;

// Planes of two values, each alone in its payload, that continue one another.
struct LosslessChain {
    const int most_width;
    const int64_t most_rows;  // of all planes; more of them take longer
    std::shared_ptr<TwoValuesRows> rows = nullptr;  // none before the first plane, and after errors
};

struct LosslessTools {
    int form;  // 1 to 3; 1 is the fast mode
    int max_error;
    LosslessChain* chain = nullptr;  // what the plane continues; none if it stands alone
};

// Ideal code length of the maps, of the residuals, and of the residuals of each cell, in 2^-12 bit.
struct LosslessRates {
    int64_t map = 0, residual = 0;
    std::optional<CellRates> cells;
};

// Samples are planes one after the other, in rows from the top; each sample is below 2^depth.
// `decoded` receives the samples that a decoder makes. `source` holds what red, green and blue were
// made from; nullptr if that is not known.
std::vector<uint8_t> encode_lossless(const uint16_t* samples, const LosslessShape& shape,
                                  const LosslessTools& tools, const SourcePlanes* source,
                                  int threads, uint16_t* decoded, const Progress& progress,
                                  LosslessRates& rates);
void decode_lossless(const uint8_t* payload, size_t size, const LosslessShape& shape,
                  const LosslessTools& tools, int threads, uint16_t* samples,
                  const Progress& progress, LosslessRates& rates);

}  // namespace mmp
