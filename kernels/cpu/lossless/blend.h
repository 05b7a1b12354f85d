// The blend of several predictions of a sample by their errors around it.
// Source: section "Blend" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <bit>

#include "cpu/lossless/predictors.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

class Blend {
public:
    Blend(int predictors, int width)
        : predictors_(predictors),
          stride_(width + 2 * kBeside),
          squares_(predictors > 1 ? size_t(kRows) * stride_ * kLanes : 0) {}

    // Forgets the row that was four rows above.
    void begin_row(int row) {
        if (predictors_ > 1 && row >= kRows)
            std::fill_n(at(row, -kBeside), size_t(stride_) * kLanes, 0);
    }

    MMP_INLINE int blended(int row, int column, const int (&predictions)[kMostPredictors]) {
        if (predictors_ == 1) return predictions[0];
        const auto square = [&](int up, int right) __attribute__((always_inline)) {
            return loaded<Longs4>(at(row - up, column + right));
        };
        const Longs4 near = square(0, -1) + square(1, 0);
        const Longs4 diagonal = square(1, -1) + square(1, 1);
        const Longs4 second = square(0, -2) + square(2, 0);
        const Longs4 far = square(1, -2) + square(1, 2) + square(2, -1) + square(2, 1) +
                           square(0, -3) + square(3, 0);
        const Longs4 errors = 64 + 4 * near + 3 * diagonal + 2 * second + far;
        int least = 1 << 30;
        for (int j = 0; j < predictors_; ++j) {
            const int k = 63 - std::countl_zero(uint64_t(errors[j]));
            logarithms_[j] = 8 * k + int(errors[j] >> (k - 3) & 7);
            least = std::min(least, logarithms_[j]);
        }
        constexpr int32_t kParts[4] = {65536, 55109, 46341, 38968};
        int64_t sum = 0, shares = 0;
        for (int j = 0; j < predictors_; ++j) {
            const int d = logarithms_[j] - least;
            const int share = d > 64 ? 0 : kParts[d & 3] >> (d >> 2);
            sum += int64_t{share} * predictions[j];
            shares += share;
        }
        // A quotient that is not whole is 2^-18 or more away from the next integer, and its
        // rounding moves it by less.
        return int(double(sum + (shares >> 1)) / double(shares));
    }

    // Returns the class 0 to 31 of the errors of a predictor around the sample that was predicted
    // last; 0 with one predictor.
    MMP_INLINE int spread(int j) const { return std::clamp((logarithms_[j] - 88) / 5, 0, 31); }

    // Learns the errors of the predictions, which are in 1/64.
    MMP_INLINE void learn(int row, int column, const int (&predictions)[kMostPredictors],
                          int sample) {
        if (predictors_ == 1) return;
        int64_t* to = at(row, column);
        for (int j = 0; j < predictors_; ++j) {
            const int64_t error = (int64_t{sample} << 6) - predictions[j];
            to[j] = error * error;
        }
    }

private:
    static constexpr int kRows = 4, kBeside = 3, kLanes = 4;

    int64_t* at(int row, int column) {
        return &squares_[((row & (kRows - 1)) * size_t(stride_) + column + kBeside) * kLanes];
    }

    const int predictors_, stride_;
    int logarithms_[kMostPredictors] = {};
    ZeroedLines<int64_t> squares_;
};

}  // namespace mmp
