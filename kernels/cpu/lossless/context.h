// What lossless samples learn and look up beside the logistic mixing.
// Source: section "Lossless samples" of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <bit>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/lossless/prediction.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kMostActivity = 31;
constexpr int kFarthestSeen = 500, kSeenContexts = 1024, kMostSeen = 4;
constexpr int kMatchContexts = 1 + kMostSeen * kSeenContexts;
constexpr int kCheckBits = 14;
constexpr int kAllModels = 24;  // of samples: those of the slowest form
constexpr int kDistances = 16;  // classes of distances, rounded up

// A running mean of errors, in 1/16 of their unit.
struct Bias {
    int32_t mean = 0, uses = 0;

    void learn(int32_t error) {
        mean += int32_t((int64_t{16 * error - mean} * kMix.rate[uses]) >> 16);
        if (uses < 64) ++uses;
    }
};

// A sample that followed neighbours with the same hash, and a measure of how often it did.
struct Seen {
    uint16_t check, uses;
    int32_t value;

    void learn(int32_t sample) {
        if (uses && value == sample) {
            uses = std::min<uint16_t>(uses + 1, 255);
        } else if ((uses >>= 1) == 0) {
            uses = 1, value = sample;
        }
    }
};

// A table of them, in lines of 8 entries.
class SeenTable {
public:
    explicit SeenTable(int line_bits = 15)
        : shift_(32 - line_bits), entries_(size_t{8} << line_bits) {}
    Seen* line(uint32_t hash) const { return &entries_[size_t{8} * (hash >> shift_)]; }

private:
    int shift_;
    ZeroedLines<Seen> entries_;
};

// Returns the entry of a key, which is emptied if it has the check of another one.
MMP_INLINE Seen& checked(Seen& seen, uint32_t key) {
    const uint16_t check = key & ((1 << kCheckBits) - 1);
    if (seen.check != check) seen = {check, 0, 0};
    return seen;
}

inline int match_context(const Seen& seen, int predicted) {
    if (!seen.uses) return 0;
    const int off = std::clamp(seen.value - predicted, -kFarthestSeen, kFarthestSeen);
    return (std::min<int>(seen.uses, kMostSeen) - 1) * kSeenContexts + 2 + kFarthestSeen + off;
}

inline int bit_length(uint32_t value) { return 32 - std::countl_zero(value); }

inline int signed_class(int value) {
    const int size = std::abs(value);
    const int own = (size >= 1) + (size >= 3) + (size >= 8) + (size >= 20);
    return value < 0 ? 4 - own : 4 + own;
}

inline int activity_class(int activity) {
    if (activity < 4) return activity;
    const int length = bit_length(activity);
    return std::min(kMostActivity, 2 * (length - 1) + (activity >> (length - 2) & 1));
}

// Returns the class 0 to 14 of a distance from the prediction.
MMP_INLINE uint32_t distance_class(int distance) {
    const int size = std::abs(distance);
    const int own = (size >= 1) + (size >= 2) + (size >= 3) + (size >= 5) + (size >= 8) +
                    (size >= 12) + (size >= 32);
    return uint32_t(distance < 0 ? 7 - own : 7 + own);
}

inline int floor_quotient(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

// The activity of a sample from the errors around it, with `e` its own place among those of its
// plane, and from the errors of `count` earlier planes in the same place.
MMP_INLINE int activity_at(const int32_t* e, int stride, const int (&others)[2], int count) {
    const int activity = 2 * (std::abs(e[-1]) + std::abs(e[-stride])) +
                         std::abs(e[-stride - 1]) + std::abs(e[-stride + 1]) + std::abs(e[-2]) +
                         std::abs(e[-2 * stride]);
    if (!count) return activity;
    return (3 * activity + 8 / count * (std::abs(others[0]) + std::abs(others[1]))) >> 2;
}

MMP_INLINE int median_of(int w, int n, int nw) {
    return std::max(std::min(w, n), std::min(std::max(w, n), w + n - nw));
}

// Corrects fitted predictions by the means of earlier errors in the same context.
class Corrector {
public:
    // Returns a prediction in 1/64, at most `limit`. `around` holds W, N, NW, NE, WW and NN.
    MMP_INLINE int mended(const int (&around)[6], int median, int activity, int fitted, int limit) {
        texture_ = 0;
        for (int i = 0; i < 6; ++i) texture_ |= ((around[i] << kFractionBits) > fitted) << i;
        const int spread = 8 + 2 * activity;
        const int skew = std::clamp(
            16 + floor_quotient((median << kFractionBits) - fitted + spread / 2, spread), 0, 31);
        const int active = activity_class(activity);
        used_[0] = &by_texture_[texture_][active], used_[1] = &by_skew_[skew][active];
        return std::clamp(fitted + ((used_[0]->mean + used_[1]->mean + 16) >> 5), 0, limit);
    }
    // Learns the error of the fitted prediction that was corrected last.
    MMP_INLINE void learn(int error) {
        for (Bias* bias : used_) bias->learn(error);
    }
    // Which of the samples around the last prediction were above it, one bit for each.
    int texture() const { return texture_; }

private:
    Bias by_texture_[64][kMostActivity + 1], by_skew_[32][kMostActivity + 1];
    Bias* used_[2] = {};
    int texture_ = 0;
};

}  // namespace mmp
