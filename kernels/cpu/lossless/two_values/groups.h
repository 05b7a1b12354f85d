// Groups of eight pixels of one value, which one decision codes. Source: section "Two values",
// "Groups", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/lossless/two_values/bit_rows.h"
#include "cpu/lossless/two_values/mixing.h"

namespace mmp {

// The models that say whether a group is broken.
class Groups {
public:
    static constexpr int kSide = 8;

    Groups()
        : breaks_(2 * 8 * 8 * 4),
          places_(6 * 7 * 5 * 3),
          bands_(1 << 12),
          counts_(16 * 32 * 8 * 2) {
        std::fill_n(&weights_[0][0], kRows * kModels, 78643);
    }

    void begin_row() {
        breaks_above_ = breaks_here_;
        breaks_here_ = 0;
        whole_ = 31;
    }

    // Returns the value of a group, or -1 if its pixels are coded one by one.
    static MMP_INLINE int value(const uint8_t* row, int64_t stride, int column) {
        if (is_clear(row, stride, column)) return 0;
        if (bits(row, column - 16, 16) != 0xFFFF) return -1;
        uint64_t all = 0xFFFFFFFF;
        for (int up = 1; up <= 4; ++up) all &= bits(row - up * stride, column - 16, 32);
        return all == 0xFFFFFFFF ? 1 : -1;
    }

    // Returns the probability that a group is broken. `list` is that of the pixel before the group,
    // `far` how many pixels whole groups have given since the last mixed pixel.
    template <class List>
    MMP_INLINE int predict(int value, const BitRows& rows, const uint8_t* row, int column,
                           const List& list, int far, int near_class) {
        models_ = 1;
        if (value == 1) {
            used_[0] = &black_;
            return used_[0]->one();
        }
        const int64_t stride = rows.stride();
        uint64_t around = bits(row, column - 16, 16);
        for (int up = 1; up <= 4; ++up) around |= bits(row - up * stride, column - 12, 31);
        const int near = around != 0, placed = list.count && far < 100;
        const int here = std::min(breaks_here_, 7), above = std::min(breaks_above_, 7);
        const int run = (whole_ >= 3) + (whole_ >= 8) + (whole_ >= 30);
        used_[0] = &breaks_[((near * 8 + here) * 8 + above) * 4 + run];
        if (!near && !breaks_here_ && !breaks_above_ && !placed) return used_[0]->one();

        models_ = kModels;
        const int c = std::min(near_class, 6);
        const int d = (far >= 8) + (far >= 16) + (far >= 32) + (far >= 64);
        used_[1] = &none_placed_;
        if (placed) {
            const int edge = edge_at(rows, list.places[0].row, list.places[0].column + 1);
            int second = 0;
            if constexpr (List::kMost > 1)
                if (list.count > 1) second = 1 + any_at(rows, list.places[1]);
            used_[1] = &places_[((edge * 7 + c) * 5 + d) * 3 + second];
        }
        int bands = 0;
        for (const int up : {5, 9, 16, 28})
            for (const int right : {-8, 0, 8})
                bands = 2 * bands + (bits(row - up * stride, column + right, 8) != 0);
        used_[2] = &bands_[bands];
        used_[3] = &counts_[((std::min(breaks_here_, 15) * 32 + std::min(whole_, 31)) * 8 + above) *
                                2 + near];
        row_ = placed ? 1 + 5 * c + d : 0;
        int sum = 0;
        for (int i = 0; i < kModels; ++i) {
            inputs_[i] = used_[i]->odds();
            sum += (weights_[row_][i] >> 4) * inputs_[i];
        }
        mixed_ = std::clamp(sum >> 14, -kMostMixed, kMostMixed);
        return kMix.squash[mixed_ + kMostMixed];
    }

    MMP_INLINE void learn(int value, int broken) {
        for (int i = 0; i < models_; ++i) used_[i]->learn(broken);
        if (models_ > 1) {
            const int gain = weight_gain(bits_seen_[row_], broken, mixed_);
            for (int i = 0; i < kModels; ++i)
                weights_[row_][i] = moved_weight(weights_[row_][i], inputs_[i], gain);
        }
        if (value) return;
        breaks_here_ += broken;
        whole_ = broken ? 0 : whole_ + 1;
    }

private:
    static constexpr int kModels = 4, kRows = 36;

    // A model of groups starts from the probability 64.
    struct GroupModel : SlowModel {
        GroupModel() : SlowModel(SlowModel::of(64)) {}
    };

    static MMP_INLINE bool is_clear(const uint8_t* row, int64_t stride, int64_t column) {
        return !(bits(row, column - 3, 3) | bits(row - stride, column - 3, 14) |
                 bits(row - 2 * stride, column - 3, 14) | bits(row - 3 * stride, column - 1, 10));
    }
    // Returns 5 if a pixel is not clear, else where the first ink is among the eight pixels there.
    static MMP_INLINE int edge_at(const BitRows& rows, int row, int column) {
        const uint8_t* at = rows.row(row);
        if (!is_clear(at, rows.stride(), column)) return 5;
        const uint64_t eight = bits(at, column, 8);
        return eight ? 1 + (std::countr_zero(eight) >> 1) : 0;
    }
    static MMP_INLINE int any_at(const BitRows& rows, const Place& place) {
        return bits(rows.row(place.row), place.column + 1, 8) != 0;
    }

    std::vector<GroupModel> breaks_, places_, bands_, counts_;
    GroupModel none_placed_, black_;
    int32_t weights_[kRows][kModels];
    uint16_t bits_seen_[kRows] = {};
    int breaks_here_ = 0, breaks_above_ = 0, whole_ = 31;

    // What predict() leaves for learn().
    SlowModel* used_[kModels];
    int models_ = 0, row_ = 0, mixed_ = 0, inputs_[kModels];
};

}  // namespace mmp
