// Lossless coding of planes, sample by sample. Source: section "Exact samples" of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include <optional>
#include <vector>

#include "cpu/entropy/rates.h"
#include "cpu/runtime/progress.h"

namespace mmp {

struct ExactShape {
    int planes, height, width, depth;

    int64_t plane_size() const { return int64_t{height} * width; }
};

// Ideal code length of the maps and of the residuals, in 2^-12 bit; exact samples 2 also have that
// of the residuals of each cell.
struct ExactRates {
    int64_t map = 0, residual = 0;
    std::optional<CellRates> cells;
};

// Samples are planes one after the other, in rows from the top; each sample is below 2^depth.
std::vector<uint8_t> encode_exact(const uint16_t* samples, const ExactShape& shape,
                                  const Progress& progress, ExactRates& rates);
void decode_exact(const uint8_t* payload, size_t size, const ExactShape& shape, uint16_t* samples,
                  const Progress& progress, ExactRates& rates);

}  // namespace mmp
