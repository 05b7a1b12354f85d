// Coding the samples of a plane one by one, in both directions.
// Source: section "Exact samples" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "cpu/runtime/errors.h"
#include "cpu/exact/plane.h"
#include "cpu/exact/fit.h"
#include "cpu/exact/prediction.h"
#include "cpu/exact/sums.h"
#include "cpu/exact/surroundings.h"
#include "cpu/entropy/mixed_bits.h"

namespace mmp {

// By number of earlier planes: the numbers of regressors in the plane and in each earlier plane.
constexpr int kRegressors[3][2] = {{10, 0}, {8, 6}, {6, 4}};

// Codes the samples of one plane with N regressors. Sum is int32_t where samples have eight bits at
// most.
template <class Coder, class Sum, int N>
class PlaneCoder {
public:
    // `planes` are the earlier planes, then this one. At most the last two earlier planes are used.
    PlaneCoder(const std::vector<ExactPlane*>& planes, Coder& coder)
        : plane_(*planes.back()),
          beside_(std::min<int>(int(planes.size()) - 1, 2)),
          before_{beside_ > 0 ? planes[planes.size() - 2] : nullptr,
                  beside_ > 1 ? planes[planes.size() - 3] : nullptr},
          bits_(bit_length(plane_.most)),
          sums_(plane_.width()),
          fits_{Fit<Sum, N>(bits_), Fit<Sum, N>(bits_)},
          mixed_(kDecisions,
                 {32, 4096, 9 * 32, 64 * 8, 729, 256 * 8, 81 * 32, kMatchContexts}),
          seen_(zeroed<Seen>(size_t{1} << kHashBits)),
          coder_(coder) {}

    MMP_INLINE void code_row(int row) {
        plane_.begin_row(row);
        sums_.begin_row(row);
        begin_fit(0);
        fits_[0].template eliminate<0, N>();
        for (int column = 0; column < plane_.width(); ++column) code_sample(row, column);
        plane_.end_row(row);
    }

private:
    // The first 16 decisions are those of short distances from the prediction.
    enum Decision {
        kZero,
        kNegative,
        kLength,
        kShortSize = kLength + 2 * 5,
        kLongLength = kShortSize + 4,
        kLongSize = kLongLength + 2 * 11,
        kLowBit = kLongSize + 8 * 13,
        kDecisions = kLowBit + 13
    };

    MMP_INLINE void code_sample(int row, int column) {
        int32_t* here = plane_.sample(row, column);
        const Regressors regressors = find_regressors(row, column);
        const int level = level_at(here, plane_.stride());
        const int limit = plane_.most << kFractionBits;
        const int stride = plane_.stride();
        const int around[6] = {here[-1],          here[-stride], here[-stride - 1],
                               here[-stride + 1], here[-2],      here[-2 * stride]};
        const auto [w, n, nw, ne, ww, nn] = around;
        const uint32_t key = seen_key(row, column, around);
        __builtin_prefetch(&seen_[key >> kCheckBits]);
        const int median = median_of(w, n, nw);
        const int32_t* e = plane_.error(row, column);
        const int ew = e[-1], en = e[-stride], ene = e[-stride + 1];
        int others[2] = {};
        for (int k = 0; k < beside_; ++k) others[k] = *before_[k]->error(row, column);
        const int activity = activity_at(e, stride, others, beside_);
        const int active = activity_class(activity);

        sums_.add_regressors(column, regressors);
        if (column + 1 < plane_.width()) begin_fit(column + 1);
        Fit<Sum, N>& next = fits_[(column + 1) % 2];
        alignas(64) Sum targets[kPaddedRegressors];
        sums_.find_targets(column, targets);
        const int drift = fits_[column % 2].drift(targets, regressors, next);
        const int fitted = std::clamp((level << kFractionBits) + drift, 0, limit);
        const int mended = corrector_.mended(around, median, activity, fitted, limit);
        const int predicted = (mended + (1 << (kFractionBits - 1))) >> kFractionBits;
        const int fraction = (mended & ((1 << kFractionBits) - 1)) >> 3;

        Seen& seen = checked(seen_[key >> kCheckBits], key);
        const int coarse = std::min(7, active / 3);
        const int off = signed_class(median - predicted);
        mixed_.select(
            {active, (length_class(ew) * 16 + length_class(en)) * 16 + length_class(ene),
             off * 32 + active, corrector_.texture() * 8 + coarse,
             (signed_class(ew) * 9 + signed_class(en)) * 9 + signed_class(ene),
             std::min(predicted >> std::max(0, bits_ - 8), 255) * 8 + coarse,
             (beside_ ? signed_class(others[0]) * 9 + signed_class(others[1]) : fraction) * 32 +
                 active,
             match_context(seen, predicted)},
            active, off * 3 + std::min(2, fraction / 3));
        *here = code_residual(predicted, *here, next);

        seen.learn(*here);
        const int error = (*here << kFractionBits) - fitted;
        corrector_.learn(error);
        *plane_.error(row, column) = (error + (1 << (kFractionBits - 1))) >> kFractionBits;
        sums_.add_target(column, regressors, *here - level);
    }

    MMP_INLINE int offset(const int (&place)[2]) const {
        return place[0] * plane_.stride() + place[1];
    }

    // Returns the regressors of a sample, which are differences from the level of their plane.
    template <int Beside>
    MMP_INLINE Regressors find_regressors(int row, int column) const {
        constexpr int kOwnCount = kRegressors[Beside][0], kOtherCount = kRegressors[Beside][1];
        int32_t u[kPaddedRegressors] = {};
        const int32_t* here = plane_.sample(row, column);
        const int level = level_at(here, plane_.stride());
#pragma GCC unroll 16
        for (int i = 0; i < kOwnCount; ++i) u[i] = here[offset(kPlaces[i])] - level;
#pragma GCC unroll 2
        for (int k = 0; k < Beside; ++k) {
            const int32_t* there = before_[k]->sample(row, column);
            const int its_level = level_at(there, plane_.stride());
#pragma GCC unroll 16
            for (int i = 0; i < kOtherCount; ++i)
                u[kOwnCount + k * kOtherCount + i] = there[offset(kOtherPlaces[i])] - its_level;
        }
        return {Ints8{u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]},
                Ints8{u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]}};
    }
    MMP_INLINE Regressors find_regressors(int row, int column) const {
        if constexpr (N == kRegressors[0][0]) return find_regressors<0>(row, column);
        return beside_ == 1 ? find_regressors<1>(row, column) : find_regressors<2>(row, column);
    }

    // Begins to solve the equations of the sample in this column. It needs no samples but those up
    // to two columns before.
    MMP_INLINE void begin_fit(int column) {
        Fit<Sum, N>& fit = fits_[column % 2];
        sums_.find_matrix(column, fit.matrix());
        fit.begin();
    }

    MMP_INLINE uint32_t seen_key(int row, int column, const int (&around)[6]) const {
        uint32_t key = 0;
        for (const int value : around) key = key * 65599 + value;
        if (beside_) key = key * 65599 + *before_[0]->sample(row, column);
        return key * 0x9E3779B1u;
    }

    // Codes a bit; does something else between the steps that wait for each other.
    template <class Meanwhile>
    MMP_INLINE int code_bit(int decision, int given, const Meanwhile& meanwhile) {
        const int odds = mixed_.predict(decision);
        meanwhile();
        const int bit = coder_.code(kMix.squash[odds], given);
        coder_.residual.add(2 * odds + bit);
        mixed_.learn(decision, bit);
        return bit;
    }

    static int length_decision(int length) {
        return length < 5 ? kLength + 2 * length : kLongLength + 2 * (length - 5);
    }
    // Returns one less than the decision on the highest bit below the leading one.
    static int size_decision(int length) {
        return length < 3 ? kShortSize + length - 2 : kLongSize + 8 * (length - 3);
    }

    MMP_INLINE int code_residual(int predicted, int given, Fit<Sum, N>& next) {
        const auto code = [&](int decision, bool bit) __attribute__((always_inline)) {
            return code_bit(decision, bit, [] {});
        };
        const auto finish_next = [&]() __attribute__((always_inline)) {
            next.template eliminate<Fit<Sum, N>::kMeanwhile, N>();
        };
        int residual = 0;
        if (coder_.writes) residual = given - predicted;
        if (!code_bit(kZero, residual != 0, finish_next)) return predicted;
        const bool at_end = predicted == 0 || predicted == plane_.most;
        const bool negative = at_end ? predicted == plane_.most : code(kNegative, residual < 0);
        const int given_size = std::abs(residual), given_length = bit_length(given_size) - 1;
        int length = 0;
        while (length < bits_ - 1 &&
               code(length_decision(length) + negative, length < given_length))
            ++length;
        int size = 1;
        for (int i = length - 1; i >= 0; --i) {
            const int decision = length - 1 - i < 3 ? size_decision(length) + size : kLowBit + i;
            size = 2 * size + code(decision, given_size >> i & 1);
        }
        const int sample = negative ? predicted - size : predicted + size;
        if (sample < 0 || sample > plane_.most)
            throw CorruptPayload("sample is " + std::to_string(sample) + ", allowed is 0 to " +
                                     std::to_string(plane_.most),
                                 "Exact samples");
        return sample;
    }

    ExactPlane& plane_;
    const int beside_;  // number of earlier planes in use
    ExactPlane* const before_[2];
    const int bits_;
    FadedSums<Sum, N> sums_;
    Fit<Sum, N> fits_[2];  // of even and odd columns
    MixedBits mixed_;
    Corrector corrector_;
    Zeroed<Seen> seen_;
    Coder& coder_;
};

}  // namespace mmp
