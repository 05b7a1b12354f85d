#include "cpu/filters/fixed.h"

#include <stddef.h>

#include "shared/tables.h"

namespace mmp {

namespace {

constexpr int kSide = kBankBlock;  // rows and columns of a block
constexpr int kMargin = 32;  // columns that are held on each side of a row
constexpr int kAtOnce = 4;   // blocks of a row whose variations are summed at once
constexpr int kHeld = 16;    // rows that are held at once; a power of two
static_assert(kHeld >= kSide + 2 * (kBankReach + 1) && kBankTaps % 2 == 0);
constexpr int kTableBytes = kBankClasses * 2 * kBankTaps;
static_assert(sizeof kFixedFilters == kBankTables * kTableBytes);

// A filter: the weight of each tap, and its largest difference. Samples and their differences are
// held as a Value.
template <class Value>
struct Form {
    Value weights[kBankTaps], clips[kBankTaps];
};

// What a step decides: the filters of the classes, and the largest variation of each activity.
template <class Value>
struct OfStep {
    Form<Value> forms[kBankClasses];
    int most_of_activity[kBankActivities - 1];
};

template <class Value, class Sample>
std::vector<OfStep<Value>> of_steps(const PlaneSteps& steps, Depth<Sample> depth) {
    std::vector<OfStep<Value>> found(steps.distinct.size());
    for (size_t i = 0; i < found.size(); ++i) {
        const int step = steps.distinct[i];
        const uint8_t* filter = kFixedFilters + bank_table(step) * kTableBytes;
        for (Form<Value>& form : found[i].forms) {
            for (int tap = 0; tap < kBankTaps; ++tap) {
                form.weights[tap] = Value(filter[tap] - kBankZero);
                form.clips[tap] = Value(
                    bank_clip(filter[kBankTaps + tap], step, depth.extra(), depth.most()));
            }
            filter += 2 * kBankTaps;
        }
        for (int k = 0; k < kBankActivities - 1; ++k)
            found[i].most_of_activity[k] = most_of_activity(k, step);
    }
    return found;
}

// Four columns of two rows.
MMP_INLINE Shorts8 two_rows(const int16_t* samples, ptrdiff_t stride) {
    return joined<Shorts8>(loaded<Shorts4>(samples), loaded<Shorts4>(samples + stride));
}

// Writes the sums of weighted, clipped differences of a block that begins at `samples`. Taps lie at
// offsets and at the opposite ones.
MMP_INLINE void weigh(const int16_t* samples, ptrdiff_t stride, const ptrdiff_t* offsets,
                      const Form<int16_t>& form, int32_t* out, int64_t width) {
    const int16_t* const halves[2] = {samples, samples + 2 * stride};
    const Shorts8 x[2] = {two_rows(halves[0], stride), two_rows(halves[1], stride)};
    Ints4 sums[2][2] = {};
    const auto difference = [&](int tap, int half) MMP_INLINED {
        const Shorts8 clip = Shorts8{} + form.clips[tap];
        Shorts8 total{};
        for (const ptrdiff_t offset : {offsets[tap], -offsets[tap]}) {
            const Shorts8 z = two_rows(halves[half] + offset, stride) - x[half];
            const Shorts8 low = z < -clip ? -clip : z;
            total += low > clip ? clip : low;
        }
        return total;
    };
    for (int tap = 0; tap < kBankTaps; tap += 2) {
        int32_t pair;
        memcpy(&pair, form.weights + tap, sizeof pair);
        const auto weights = reinterpret_cast<Shorts8>(Ints4{} + pair);
        for (int half = 0; half < 2; ++half) {
            const Shorts8 one = difference(tap, half), other = difference(tap + 1, half);
            sums[half][0] += products_of_pairs(interleaved_low(one, other), weights);
            sums[half][1] += products_of_pairs(interleaved_high(one, other), weights);
        }
    }
    for (int row = 0; row < kSide; ++row) store(out + row * width, sums[row / 2][row % 2]);
}

MMP_INLINE void weigh(const int32_t* samples, ptrdiff_t stride, const ptrdiff_t* offsets,
                      const Form<int32_t>& form, int32_t* out, int64_t width) {
    for (int row = 0; row < kSide; ++row, samples += stride, out += width) {
        Ints4 sums{};
        const auto x = loaded<Ints4>(samples);
        for (int tap = 0; tap < kBankTaps; ++tap) {
            const Ints4 clip = Ints4{} + form.clips[tap];
            for (const ptrdiff_t offset : {offsets[tap], -offsets[tap]}) {
                const auto z = loaded<Ints4>(samples + offset) - x;
                const Ints4 low = z < -clip ? -clip : z;
                sums += form.weights[tap] * (low > clip ? clip : low);
            }
        }
        store(out, sums);
    }
}

// Writes the weighted sums of the variations of a row around kAtOnce blocks; `v` begins with the
// first of them.
MMP_INLINE void sum_weighted(const int16_t* v, int32_t* out) {
    Ints4 sums[kAtOnce];
    for (int k = 0; k < kAtOnce; ++k, v += kSide)
        sums[k] = products_of_pairs(loaded<Shorts8>(v - 3), Shorts8{1, 2, 3, 4, 4, 4, 4, 3}) +
                  products_of_pairs(loaded<Shorts8>(v + 5), Shorts8{2, 1});
    store(out, sums_of_each(sums[0], sums[1], sums[2], sums[3]));
}
MMP_INLINE void sum_weighted(const int32_t* v, int32_t* out) {
    for (int k = 0; k < kAtOnce; ++k, v += kSide) {
        out[k] = 0;
        for (int i = 0; i < kBankWindow; ++i) out[k] += kBankWeights[i] * v[i - 3];
    }
}

// Rows of a picture, of which kHeld lie one after the other from each held row on, with kMargin more
// columns on each side. Beyond the border, samples repeat the nearest ones inside.
template <class Value, class Sample>
class StackedRows {
public:
    StackedRows(const FilterPicture<Sample>& picture, int64_t first)
        : picture_(picture),
          stride_(picture.width + 2 * kMargin),
          next_(first),
          lines_(2 * kHeld * stride_) {}

    MMP_INLINE void hold_up_to(int64_t row) {
        for (; next_ <= row; ++next_) {
            Value* line = &lines_[place_of(next_)];
            const Sample* from = picture_.samples + inside(next_) * picture_.width;
            std::copy_n(from, picture_.width, line);
            repeat_ends(line);
            std::copy_n(line - kMargin, stride_, line - kMargin + kHeld * stride_);
        }
    }
    // The samples of a row from column 0.
    MMP_INLINE const Value* operator[](int64_t row) const { return &lines_[place_of(row)]; }
    MMP_INLINE int64_t inside(int64_t row) const {
        return std::clamp<int64_t>(row, 0, picture_.height - 1);
    }
    // Fills the margins of a line of values, from column 0, with those of its ends.
    MMP_INLINE void repeat_ends(Value* line) const {
        std::fill_n(line - kMargin, kMargin, line[0]);
        std::fill_n(line + picture_.width, kMargin, line[picture_.width - 1]);
    }
    MMP_INLINE ptrdiff_t stride() const { return stride_; }

private:
    MMP_INLINE ptrdiff_t place_of(int64_t row) const {
        return (row & (kHeld - 1)) * stride_ + kMargin;
    }

    const FilterPicture<Sample> picture_;
    const ptrdiff_t stride_;
    int64_t next_;
    std::vector<Value> lines_;
};

// Visits the rows of blocks of a picture in order, and filters each.
template <class Value, class Sample>
class BankRows {
public:
    // Sums are 0 at activities whose scale is 0.
    BankRows(const FilterPicture<Sample>& picture, const PlaneSteps& steps,
             const BankScaling& scales, int64_t first)
        : lines_(picture, first / kSide * kSide - kBankReach - 1),
          blocks_((picture.width + kSide - 1) / kSide),
          held_((blocks_ + kAtOnce - 1) / kAtOnce * kAtOnce),
          width_(blocks_ * kSide),
          shown_(picture.width),
          extra_(picture.depth.extra()),
          steps_(steps),
          scales_(scales),
          row_(first / kSide * kSide - kSide),
          next_sums_(std::max<int64_t>(first / kSide * kSide - kBankReach, 0)),
          variations_(lines_.stride()),
          sums_(kDirections * kHeld * held_),
          around_(kDirections * held_),
          of_steps_(of_steps<Value>(steps, picture.depth)),
          weighted_(kSide * width_),
          activities_(width_) {
        for (int turn = 0; turn < kBankTurns; ++turn)
            for (int tap = 0; tap < kBankTaps; ++tap) {
                const TapOffset o = turned(kBankOffsets[tap], turn);
                offsets_[turn][tap] = o.row * lines_.stride() + o.column;
            }
    }

    // Filters the next row of blocks.
    MMP_INLINE void next() {
        row_ += kSide;
        lines_.hold_up_to(row_ + kSide + kBankReach);
        for (; next_sums_ <= lines_.inside(row_ + kSide - 1 + kBankReach); ++next_sums_)
            hold_sums(next_sums_);
        sum_around();
        const uint8_t* numbers = steps_.numbers + row_ / steps_.size * steps_.across;
        const int64_t of_fragment = steps_.size / kSide;
        for (int64_t block = 0; block < blocks_; ++numbers) {
            const int64_t end = std::min(block + of_fragment, blocks_);
            for (; block < end; ++block) filter(block, of_steps_[*numbers]);
        }
    }

    MMP_INLINE const Value* samples(int64_t row) const { return lines_[row]; }
    // The sums of the weighted differences of a row.
    MMP_INLINE const int32_t* weighted(int64_t row) const {
        return &weighted_[(row - row_) * width_];
    }
    // The activity of each column.
    MMP_INLINE const int32_t* activities() const { return activities_.data(); }

private:
    static constexpr int kDirections = 4;

    MMP_INLINE int32_t* sums(int direction, int64_t row) {
        return &sums_[(direction * kHeld + row % kHeld) * held_];
    }
    // Sums the variations of a row around each block.
    MMP_INLINE void hold_sums(int64_t row) {
        static constexpr TapOffset kOffsets[kDirections] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
        const Value* x = lines_[row - 1] + lines_.stride();
        Value* v = &variations_[kMargin];
        for (int i = 0; i < kDirections; ++i) {
            const ptrdiff_t offset = kOffsets[i].row * lines_.stride() + kOffsets[i].column;
            const Value *one = x + offset, *opposite = x - offset;
            for (int64_t c = 0; c < shown_; ++c)
                v[c] = Value(magnitude(2 * x[c] - one[c] - opposite[c]));
            lines_.repeat_ends(v);
            int32_t* out = sums(i, row);
            for (int64_t block = 0; block < blocks_; block += kAtOnce)
                sum_weighted(v + block * kSide, out + block);
        }
    }

    MMP_INLINE void sum_around() {
        for (int i = 0; i < kDirections; ++i) {
            const int32_t* rows[kBankWindow];
            for (int k = 0; k < kBankWindow; ++k)
                rows[k] = sums(i, lines_.inside(row_ + k - kBankReach));
            for (int64_t block = 0; block < held_; block += kAtOnce) {
                Ints4 sum{};
                for (int k = 0; k < kBankWindow; ++k)
                    sum += kBankWeights[k] * loaded<Ints4>(rows[k] + block);
                store(&around_[i * held_ + block], sum >> (extra_ + kBankWeightBits));
            }
        }
    }

    MMP_INLINE void filter(int64_t block, const OfStep<Value>& of_step) {
        const int across = around_[block], down = around_[held_ + block],
                  falling = around_[2 * held_ + block], rising = around_[3 * held_ + block];
        int activity = 0;
        for (const int most : of_step.most_of_activity) activity += across + down > most;
        const int64_t column = block * kSide;
        for (int k = 0; k < kSide; ++k) activities_[column + k] = activity;
        int32_t* out = &weighted_[column];
        if (scales_[activity] == 0) {
            for (int row = 0; row < kSide; ++row) store(out + row * width_, Ints4{});
            return;
        }
        const int direction = bank_direction(across, down, falling, rising);
        weigh(lines_[row_ - kBankReach] + kBankReach * lines_.stride() + column, lines_.stride(),
              offsets_[bank_turn(across, down, falling, rising)],
              of_step.forms[activity * kBankDirections + direction], out, width_);
    }

    StackedRows<Value, Sample> lines_;
    const int64_t blocks_, held_, width_, shown_;  // held_: blocks_, in whole groups
    const int extra_;
    const PlaneSteps& steps_;
    const BankScaling scales_;
    int64_t row_, next_sums_;
    ptrdiff_t offsets_[kBankTurns][kBankTaps];
    std::vector<Value> variations_;
    std::vector<int32_t> sums_;
    std::vector<int32_t> around_;  // in units of 8-bit samples
    const std::vector<OfStep<Value>> of_steps_;
    std::vector<int32_t> weighted_;
    std::vector<int32_t> activities_;
};

// A function of its own, because compiling it once for each user takes long.
template <class Rows>
MMP_SIMD_LEVELS void advance(Rows& rows) {
    rows.next();
}

// Calls work(row) for the rows of a range, each after `rows` has filtered its blocks.
template <class Rows, class Work>
MMP_INLINE void for_each_row(Rows& rows, RowRange range, const Work& work) {
    for (int64_t row = range.first; row < range.last; ++row) {
        if (row == range.first || row % kSide == 0) advance(rows);
        work(row);
    }
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void filter(const FilterPicture<Sample>& picture, const PlaneSteps& steps,
                            const BankScaling& scales, RowRange range, Sample* out) {
    BankRows<Value, Sample> rows(picture, steps, scales, range.first);
    std::vector<int32_t> scale_of(picture.width);
    const int most = picture.depth.most();
    for_each_row(rows, range, [&](int64_t row) MMP_INLINED {
        if (row == range.first || row % kSide == 0)
            for (int64_t c = 0; c < picture.width; ++c) scale_of[c] = scales[rows.activities()[c]];
        const Value* x = rows.samples(row);
        const int32_t* weighted = rows.weighted(row);
        Sample* line = out + row * picture.width;
        for (int64_t c = 0; c < picture.width; ++c)
            line[c] = Sample(bank_sample(x[c], weighted[c], scale_of[c], most));
    });
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_errors(const Sample* source, const FilterPicture<Sample>& picture,
                                const PlaneSteps& steps, RowRange range, BankErrors* errors) {
    BankScaling scales;
    scales.fill(1);
    BankRows<Value, Sample> rows(picture, steps, scales, range.first);
    const int64_t width = picture.width;
    const int most = picture.depth.most();
    std::vector<uint32_t> squares(kBankScales * width);
    for_each_row(rows, range, [&](int64_t row) MMP_INLINED {
        const Sample* wanted = source + row * width;
        const Value* x = rows.samples(row);
        const int32_t* weighted = rows.weighted(row);
        for (int scale = 0; scale < kBankScales; ++scale) {
            uint32_t* out = &squares[scale * width];
            for (int64_t c = 0; c < width; ++c) {
                const uint32_t difference =
                    uint32_t(wanted[c]) - uint32_t(bank_sample(x[c], weighted[c], scale, most));
                out[c] = difference * difference;
            }
        }
        const uint8_t* numbers = steps.numbers + row / steps.size * steps.across;
        for (int64_t c = 0; c < width; ++c) {
            int64_t(&own)[kBankScales] = errors[numbers[c / steps.size]][rows.activities()[c]];
            for (int scale = 0; scale < kBankScales; ++scale)
                own[scale] += squares[scale * width + c];
        }
    });
}

}  // namespace

template <class Sample>
void fixed_filters(const FilterPicture<Sample>& picture, const PlaneSteps& steps,
                 const BankScaling& scales, RowRange range, Sample* out) {
    with_lanes(picture.depth, [&](auto value) {
        filter<decltype(value)>(picture, steps, scales, range, out);
    });
}

template <class Sample>
void add_bank_errors(const Sample* source, const FilterPicture<Sample>& picture,
                     const PlaneSteps& steps, RowRange range, BankErrors* errors) {
    with_lanes(picture.depth, [&](auto value) {
        add_errors<decltype(value)>(source, picture, steps, range, errors);
    });
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template void fixed_filters(const FilterPicture<Sample>&, const PlaneSteps&, const BankScaling&, \
                              RowRange, Sample*);                                                  \
    template void add_bank_errors(const Sample*, const FilterPicture<Sample>&, const PlaneSteps&,  \
                                  RowRange, BankErrors*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
