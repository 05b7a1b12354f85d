// Runs: several equal samples that one decision codes, where all neighbours are equal.
// Source: part "Runs" of section "Lossless samples" of docs/format/format.md; after M. Weinberger,
// G. Seroussi and G. Sapiro, "The LOCO-I lossless image compression algorithm", 2000.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>
#include <bit>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/lossless/context.h"
#include "cpu/lossless/hashes.h"
#include "cpu/lossless/plane.h"
#include "cpu/lossless/strips.h"
#include "cpu/runtime/simd.h"

namespace mmp {

class Runs {
public:
    struct Contexts {
        std::array<uint32_t, kAllModels> of_models;
        std::array<int, kMostSets> rows;  // of the sets of weights
    };

    explicit Runs(const PlanesBeside& planes) : planes_(planes) {}

    void begin_row() { breaks_above_ = breaks, breaks = 0, after = 0; }

    // Returns the length of the run that may begin here and ends before column `end`, a power of
    // two, or 0. In a run, all neighbours of each sample are equal.
    MMP_INLINE int length(int row, int column, int end) const {
        const int32_t* here = planes_.own->sample(row, column);
        const int stride = planes_.own->stride();
        const int32_t w = here[-1];
        if (here[-stride] != w || here[-stride - 1] != w || here[-stride + 1] != w ||
            here[-2] != w || here[-3] != w)
            return 0;
        const auto off = [&](int right) __attribute__((always_inline)) {
            const int32_t* at = here + right - stride;
            return (loaded<Ints4>(at) ^ w) | (loaded<Ints4>(at - stride) ^ w) |
                   (loaded<Ints4>(at - 2 * stride) ^ w);
        };
        const auto any = [](Ints4 v) __attribute__((always_inline)) {
            return (v[0] | v[1] | v[2] | v[3]) != 0;
        };
        if (any(off(-3) | off(-1))) return 0;
        const int most = std::min(kMost, end - column);
        int length = 0;
        for (; length + 4 <= most; length += 4) {
            Ints4 differs = off(length + 3);
            for (int k = 0; k < planes_.count; ++k) {
                const int32_t* there = planes_.before[k]->sample(row, column);
                differs |= loaded<Ints4>(there + length) ^ there[-1];
            }
            if (any(differs)) break;
        }
        return length < kLeast ? 0 : int(std::bit_floor(uint32_t(length)));
    }

    // Returns the contexts of the decision whether a run is broken.
    MMP_INLINE Contexts contexts(int row, int column, int run) const {
        const LosslessPlane& own = *planes_.own;
        int beside[2] = {}, others[2] = {};
        for (int k = 0; k < planes_.count; ++k) {
            beside[k] = *planes_.before[k]->sample(row, column);
            others[k] = *planes_.before[k]->error(row, column);
        }
        const int active = activity_class(
            activity_at(own.error(row, column), own.stride(), others, planes_.count));
        const int number = bit_length(run / kLeast) - 1;
        const int distance = column - after, gap = activity_class(distance);
        const int here = std::min(breaks, 3), both = std::min(breaks_above_, 3) * 4 + here;
        Contexts found;
        found.of_models.fill(number);
        found.of_models[0] = hashed(*own.sample(row, column - 1), beside[0], beside[1]);
        found.of_models[1] = 4 * std::min(distance, kFarthest) + number;
        found.of_models[2] = (gap / 2 * 4 + here) * 4 + number;
        found.of_models[3] = both * 4 + number;
        found.of_models[4] = number * 32 + active;
        found.of_models[5] = 4 * activity_class(own.width() - column) + number;
        found.of_models[6] = std::min(breaks, 15) * 16 + std::min(breaks_above_, 15);
        found.of_models[7] = both * 16 + gap / 2;
        found.rows = {active, number * 3 + std::min(here, 2), gap * 4 + number, both};
        return found;
    }

    int after = 0;   // column after the last sample of the row that does not belong to a run
    int breaks = 0;  // broken runs of the row

private:
    static constexpr int kLeast = 8, kMost = 32, kFarthest = 1023;

    const PlanesBeside planes_;
    int breaks_above_ = 0;
};

}  // namespace mmp
