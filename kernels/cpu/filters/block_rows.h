// How much samples vary around the blocks of a plane.
#pragma once

#include "cpu/filters/base.h"
#include "shared/filters/blocks.h"

namespace mmp {

// Visits the rows of blocks of a picture in order, and sums the variations around each block in the
// first directions.
template <class Value, class Sample, int kDirections>
class BlockRows {
public:
    // Blocks whose variations are summed at once.
    static constexpr int kAtOnce = 4;

    BlockRows(const FilterPicture<Sample>& picture, int64_t first)
        : lines_(picture, first / kFilterBlock * kFilterBlock - kFilterBlock - 1),
          width_(picture.width),
          blocks_((picture.width + kFilterBlock - 1) / kFilterBlock),
          held_((blocks_ + kAtOnce - 1) / kAtOnce * kAtOnce),
          row_(first / kFilterBlock * kFilterBlock - kFilterBlock),
          finer_(std::max(picture.depth.bits() - kVariationBits, 0)),
          shift_(std::min(picture.depth.bits(), kVariationBits) - 4),
          above_(kDirections * lines_.stride()),
          pending_(kDirections * lines_.stride()),
          weighted_(kDirections * lines_.stride()),
          around_(kDirections * held_) {}

    // Called before the first row of blocks.
    MMP_INLINE void start() {
        lines_.hold_up_to(row_ + 2 * kFilterBlock);
        add_rows(row_);
        add_rows(row_ + kFilterBlock);
    }
    MMP_INLINE void next() {
        row_ += kFilterBlock;
        lines_.hold_up_to(row_ + 2 * kFilterBlock);
        add_rows(row_ + kFilterBlock);
        for (int i = 0; i < kDirections; ++i) sum_across(i);
    }

    // The first row of the blocks.
    MMP_INLINE int64_t row() const { return row_; }
    MMP_INLINE int64_t blocks() const { return blocks_; }
    MMP_INLINE const StackedRows<Value, Sample>& lines() const { return lines_; }
    // The sums of a direction by block, in units of 8-bit samples and 1/16.
    MMP_INLINE const int32_t* around(int direction) const { return &around_[direction * held_]; }

private:
    static constexpr int kLanes = 16;
    // Sums of a column are below 2^16. They are held less this, as signed numbers.
    static constexpr int kMiddle = 1 << 15;

    // Adds four rows to the weighted sums of each column: with the weights 3, 2, 1, 0 to those of the
    // blocks above them, which are then complete, with 4, 4, 4, 4 to their own, and with 0, 1, 2, 3
    // to those of the blocks below. Beyond the border, variations repeat those inside.
    MMP_INLINE void add_rows(int64_t first) {
        const bool inside = first >= 0 && lines_.inside(first + kFilterBlock) == first + kFilterBlock;
        if (!inside)
            add_rows<false, true>(first);
        else if (finer_ > 0)
            add_rows<true, true>(first);
        else
            add_rows<true, false>(first);
    }
    template <bool kInside, bool kFiner>
    MMP_INLINE void add_rows(int64_t first) {
        const ptrdiff_t stride = lines_.stride();
        const Value* x[kFilterBlock];
        for (int k = 0; k < kFilterBlock; ++k)
            x[k] = kInside ? lines_[first] + k * stride : lines_[lines_.inside(first + k)];
        for (int64_t c = 0; c < width_; c += kLanes) {
            // All before the sums are stored, so that the directions share the samples.
            Words16 all[kDirections], to_upper[kDirections];
            for (int i = 0; i < kDirections; ++i) {
                const ptrdiff_t offset =
                    kVariationOffsets[i].row * stride + kVariationOffsets[i].column;
                Words16 v[kFilterBlock];
                for (int k = 0; k < kFilterBlock; ++k) v[k] = variations<kFiner>(x[k] + c, offset);
                const Words16 two = v[0] + v[1], three = two + v[2];
                all[i] = three + v[3], to_upper[i] = v[0] + two + three;
            }
            for (int i = 0; i < kDirections; ++i) {
                const ptrdiff_t place = i * stride + StackedRows<Value, Sample>::kMargin + c;
                uint16_t *above = &above_[place], *pending = &pending_[place];
                store(&weighted_[place], loaded<Words16>(pending) + to_upper[i] - kMiddle);
                store(pending, loaded<Words16>(above) + 4 * all[i]);
                store(above, 3 * all[i] - to_upper[i]);
            }
        }
        for (int i = 0; i < kDirections; ++i)
            lines_.repeat_ends(&weighted_[i * stride + StackedRows<Value, Sample>::kMargin]);
    }

    template <bool kFiner>
    MMP_INLINE Words16 variations(const Value* x, ptrdiff_t offset) const {
        using Values = typename Vector<Value, kLanes>::Type;
        const auto middle = loaded<Values>(x);
        const Values z = middle + middle - loaded<Values>(x + offset) - loaded<Values>(x - offset);
        const Values negative = -z;
        const Values v = z > negative ? z : negative;
        return __builtin_convertvector(kFiner ? v >> finer_ : v, Words16);
    }

    MMP_INLINE void sum_across(int direction) {
        constexpr int kColumnWeights = 28;  // their sum
        constexpr Shorts8 kBefore = {0, 1, 2, 3, 0, 1, 2, 3}, kInside = {4, 4, 4, 4, 4, 4, 4, 4},
                          kAfter = {3, 2, 1, 0, 3, 2, 1, 0};
        const int16_t* y =
            &weighted_[direction * lines_.stride() + StackedRows<Value, Sample>::kMargin];
        int32_t* out = &around_[direction * held_];
        for (int64_t block = 0; block < held_; block += kAtOnce, out += kAtOnce) {
            Ints4 pairs[2];
            for (Ints4& own : pairs) {
                own = products_of_pairs(loaded<Shorts8>(y - 4), kBefore) +
                      products_of_pairs(loaded<Shorts8>(y), kInside) +
                      products_of_pairs(loaded<Shorts8>(y + 4), kAfter);
                y += 8;
            }
            const Ints4 sums = sums_of_neighbours(pairs[0], pairs[1]) + kColumnWeights * kMiddle;
            store(out, sums >> shift_);
        }
    }

    StackedRows<Value, Sample> lines_;
    const int64_t width_, blocks_, held_;  // held_: blocks_, in whole groups
    int64_t row_;
    const int finer_, shift_;
    std::vector<uint16_t> above_, pending_;
    std::vector<int16_t> weighted_;
    std::vector<int32_t> around_;
};

// Functions of their own, because compiling them once for each user takes long.
template <class Rows>
MMP_SIMD_LEVELS void start(Rows& rows) {
    rows.start();
}
template <class Rows>
MMP_SIMD_LEVELS void advance(Rows& rows) {
    rows.next();
}

}  // namespace mmp
