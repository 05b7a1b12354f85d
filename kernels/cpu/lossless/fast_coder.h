// Coding the samples of a plane one by one in the fast mode, in both directions.
// Source: section "Fast mode" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <string>

#include "cpu/entropy/lines.h"
#include "cpu/lossless/codec.h"
#include "cpu/lossless/hashes.h"
#include "cpu/lossless/pixels/blocks.h"
#include "cpu/lossless/plane.h"
#include "cpu/lossless/strips.h"
#include "cpu/lossless/context.h"
#include "cpu/runtime/errors.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

// Sum is int32_t where samples have eight bits at most.
template <class Coder, class Sum>
class FastCoder {
public:
    // `blocks` says which samples are known; none is without it.
    FastCoder(const PlanesBeside& planes, LosslessPlane& own, const LosslessTools& tools,
              const pixels::Blocks* blocks, Coder& coder)
        : planes_(planes),
          plane_(own),
          blocks_(blocks),
          q_(planes.count),
          max_error_(tools.max_error),
          step_(2 * tools.max_error + 1),
          step_bits_(bit_length(step_) - 1),
          bits_(bit_length((plane_.most + tools.max_error) / step_)),
          strips_(planes, kNarrow[q_]),
          first_(size_t(kContexts) * kLineDecisions),
          second_(size_t{kSecondDecisions} << kSecondBits),
          coder_(coder) {}

    MMP_INLINE void code_row(int row) {
        plane_.begin_row(row);
        strips_.begin_row(row);
        find_line(row, 0);
        int end = blocks_ ? 0 : plane_.width();
        for (int column = 0; column < plane_.width(); ++column) {
            if (column == end) {
                end = blocks_->end_of(row, column);
                if (blocks_->repeats(row, column)) {
                    column = end - 1;
                    find_line(row, end);
                    continue;
                }
            }
            code_sample(row, column);
            if (coder_.is_end_of_cell(column)) coder_.end_cell(row, column);
        }
        coder_.end_cell(row, plane_.width() - 1);
        plane_.end_row(row);
    }

private:
    static constexpr int kNeighbours = 6, kLineBits = 14, kColumns = 32;
    static constexpr int kActivities = kMostActivity + 1, kMostHitUses = 7;
    static constexpr int kMissed = 8, kContexts = 9 * kMissed * kActivities;
    static constexpr char kSection[] = "Fast mode";
    static constexpr int kMostUnary = 14, kMostDigits = 16;
    static constexpr int kLow = 14;  // the first decision on the low bits
    // The second model has the first unary decisions, then those on the low bits.
    static constexpr int kSecondBits = 13, kSecondUnary = 6, kSecondDecisions = 8;
    static constexpr int kMostSecondUses = 12, kSecondTotal = 4096;

    // Finds the line of the table for the sample in this column. It does not depend on the sample
    // left of it, so it is fetched while that one is coded.
    MMP_INLINE void find_line(int row, int column) {
        const int32_t* here = plane_.sample(row, column);
        sum_ = 0;
        for (int k = 0; k < q_; ++k)
            sum_ += *planes_.before[k]->sample(row, column) * kHashFactors.of[k];
#pragma GCC unroll 6
        for (int i = 1; i < kNeighbours; ++i)
            sum_ += here[kPlaces[i][0] * plane_.stride() + kPlaces[i][1]] * kHashFactors.of[i + 2];
        line_ = seen_.line(mixed_hash(sum_));
        __builtin_prefetch(line_);
    }

    static MMP_INLINE int probability(uint32_t model) {
        return int((model & 65535) ^ kHalfOfModel);
    }
    static MMP_INLINE void learn(uint32_t& model, int bit) {
        const uint32_t uses = model >> 16;
        const int one = probability(model);
        const int moved = one + int((int64_t{(bit << 16) - one} * kMix.rate[uses]) >> 16);
        const uint32_t limited = uint32_t(std::clamp(moved, kLeastOfModel, 65536 - kLeastOfModel));
        model = (limited ^ kHalfOfModel) | (uses < kMostModelUses ? uses + 1 : uses) << 16;
    }

    // A second model holds how often it was used in its lower 4 bits, and its probability of 1 in
    // 1/4096 above them, by exclusive or with 1/2.
    static MMP_INLINE int second_probability(uint16_t model) {
        return (model >> 4) ^ kSecondTotal / 2;
    }
    static MMP_INLINE void learn_second(uint16_t& model, int bit) {
        const int uses = model & 15, one = second_probability(model);
        const int moved = one + ((bit * (kSecondTotal - 1) - one) * kSecondRates.of[uses] >> 16);
        model = uint16_t((moved ^ kSecondTotal / 2) << 4 | std::min(uses + 1, kMostSecondUses));
    }
    struct SecondRates {
        int of[kMostSecondUses + 1];
        constexpr SecondRates() : of() {
            for (int uses = 0; uses <= kMostSecondUses; ++uses) of[uses] = 131072 / (uses + 4);
        }
    };
    static constexpr SecondRates kSecondRates{};

    MMP_INLINE int code_bit(uint32_t& model, int given) {
        const int bit = coder_.code(uint32_t(probability(model)), given);
        learn(model, bit);
        return bit;
    }
    // Codes a bit by the mean of two models.
    MMP_INLINE int code_bit(uint32_t& model, uint16_t& second, int given) {
        const int mean = (probability(model) + 16 * second_probability(second) + 8) >> 1;
        const int bit = coder_.code(uint32_t(mean), given);
        learn(model, bit);
        learn_second(second, bit);
        return bit;
    }

    MMP_INLINE void code_sample(int row, int column) {
        int32_t* here = plane_.sample(row, column);
        int32_t* e = plane_.error(row, column);
        const int stride = plane_.stride(), limit = plane_.most << kFractionBits;
        const int w = here[-1], n = here[-stride], nw = here[-stride - 1], ne = here[1 - stride];
        const uint32_t key = mixed_hash(sum_ + w * kHashFactors.of[2]);
        Seen& seen = checked(line_[key >> 29], key);
        find_line(row, column + 1);

        int others[2] = {};
        for (int k = 0; k < q_; ++k) others[k] = *planes_.before[k]->error(row, column);
        // Distances count steps, so their contexts and low digits do too.
        const int active = activity_class(activity_at(e, stride, others, q_) >> step_bits_);
        const int fitted = std::clamp(strips_.predict(row, column, level_at(here, stride)), 0, limit);
        const int around[6] = {w, n, nw, ne, here[-2], here[-2 * stride]};
        int texture = 0;
        for (int i = 0; i < 6; ++i) texture |= ((around[i] << kFractionBits) > fitted) << i;
        int& bias = biases_[texture][active];
        const int mended = std::clamp(fitted + ((bias + 8) >> 4), 0, limit);
        const int predicted = (mended + (1 << (kFractionBits - 1))) >> kFractionBits;

        bool known = false;
        if (seen.uses) {
            const int value = seen.value;
            uint32_t& model = hits_[std::min<int>(seen.uses, kMostHitUses)][active]
                                   [(value == w) | (value == n) << 1 | (value == nw) << 2];
            known = code_bit(model, std::abs(*here - value) <= max_error_);
            if (known) *here = value;
        }
        if (!known) *here = code_residual(row, column, predicted, active, w, n, nw, seen);

        seen.learn(*here);
        const int error = (*here << kFractionBits) - fitted;
        bias += (16 * error - bias) >> 5;
        *e = (error + (1 << (kFractionBits - 1))) >> kFractionBits;
    }

    // Codes a sample by its distance from the prediction, and returns the decoded sample.
    MMP_INLINE int code_residual(int row, int column, int predicted, int active, int w, int n,
                                 int nw, const Seen& seen) {
        const int32_t given = *plane_.sample(row, column);
        const int off = q_ ? *planes_.before[0]->error(row, column)
                           : median_of(w, n, nw) - predicted;
        const int missed = seen.uses ? 4 + std::clamp(seen.value - predicted, -3, 3) : 0;
        const int context = (signed_class(off) * kMissed + missed) * kActivities + active;
        uint32_t* first = &first_[size_t(context) * kLineDecisions];
        const int low_bits = std::min(bits_, std::max(0, active / 2 - (q_ ? 3 : 2)));
        uint32_t sum = predicted * kHashFactors.of[0] + low_bits * kHashFactors.of[1];
        if (q_ == 0) sum += seen.value * kHashFactors.of[2];
        for (int k = 0; k < q_; ++k)
            sum += *planes_.before[k]->sample(row, column) * kHashFactors.of[k + 2];
        uint16_t* second = &second_[size_t{kSecondDecisions} * (mixed_hash(sum) >> (32 - kSecondBits))];

        int folded = 0;
        if (coder_.writes) {
            const int size = (std::abs(given - predicted) + max_error_) / step_;
            folded = 2 * size - (given < predicted && size);
        }
        const auto code_high = [&](int i) __attribute__((always_inline)) {
            const int more = (folded >> low_bits) > i;
            return i < kSecondUnary ? code_bit(first[i], second[i], more) : code_bit(first[i], more);
        };
        int high = 0;
        while (high < kMostUnary && code_high(high)) ++high;
        if (high == kMostUnary) high += code_excess((folded >> low_bits) - kMostUnary);
        int found = high << low_bits;
        if (low_bits) {
            const int left = low_bits - 1, own = high > 0;
            found |= code_bit(first[kLow + own], second[kSecondUnary + own], folded >> left & 1) << left;
            if (left) found |= int(coder_.plain(folded & ((1 << left) - 1), left));
        }
        const int size = (found + 1) >> 1;
        const int64_t sample = predicted + int64_t{step_} * (found & 1 ? -size : size);
        if (sample < -max_error_ || sample > plane_.most + max_error_)
            throw CorruptPayload("sample is " + std::to_string(sample) + ", allowed is " +
                                     std::to_string(-max_error_) + " to " +
                                     std::to_string(plane_.most + max_error_),
                                 kSection);
        return int(std::clamp<int64_t>(sample, 0, plane_.most));
    }

    // Codes a number from 0 on: the digits of its successor, then those below the first.
    MMP_INLINE int code_excess(int given) {
        const int digits = coder_.plain(coder_.writes ? bit_length(given + 1) - 1 : 0, 5);
        if (digits > kMostDigits)
            throw CorruptPayload("number of digits is " + std::to_string(digits) + ", allowed is 0 to " +
                                     std::to_string(kMostDigits),
                                 kSection);
        const int tail = digits ? int(coder_.plain((given + 1) & ((1 << digits) - 1), digits)) : 0;
        return (1 << digits | tail) - 1;
    }

    const PlanesBeside planes_;
    LosslessPlane& plane_;
    const pixels::Blocks* const blocks_;
    const int q_, max_error_, step_, step_bits_, bits_;
    Strips<Sum, kColumns> strips_;
    int biases_[64][kActivities] = {};
    uint32_t hits_[kMostHitUses + 1][kActivities][8] = {};
    ZeroedLines<uint32_t> first_;
    ZeroedLines<uint16_t> second_;
    SeenTable seen_{kLineBits};
    uint32_t sum_ = 0;  // of the next sample without the neighbour left of it
    Seen* line_ = nullptr;
    Coder& coder_;
};

}  // namespace mmp
