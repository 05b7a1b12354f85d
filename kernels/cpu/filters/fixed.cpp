#include "cpu/filters/fixed.h"

#include "cpu/filters/block_rows.h"
#include "cpu/filters/taps/taps.h"
#include "shared/tables.h"

namespace mmp {

namespace {

constexpr int kTableBytes = kBankClasses * 2 * kBankTaps;
static_assert(sizeof kFixedFilters == kBankTables * kTableBytes);
constexpr int kForms = kBankTurns * kBankClasses;

// A tap is one of two opposite samples, so turns exchange taps.
constexpr int tap_at(TapOffset o) {
    for (int tap = 0; tap < kBankTaps; ++tap) {
        const TapOffset own = kBankOffsets[tap];
        if ((own.row == o.row && own.column == o.column) ||
            (own.row == -o.row && own.column == -o.column))
            return tap;
    }
    return -1;
}

// What a step decides: the filters of the turned classes, with their scales, and the largest
// variation of each activity.
template <class Value>
struct OfStep {
    OfStep(int step, const BankScaling& scales, int extra, int most)
        : OfStep(kFixedFilters + bank_table(step) * kTableBytes, step, scales, extra, most) {}

    static MMP_INLINE int activity_of(int form) { return form % kBankClasses / kBankDirections; }
    // Adds the filters by number: nullptr where the scale is 0.
    void add_to(std::vector<const LimitedTaps<Value>*>& list) const {
        for (int i = 0; i < kForms; ++i) list.push_back(used[i] ? &forms[i] : nullptr);
    }

    int most_of_activity[kBankActivities - 1];

private:
    OfStep(const uint8_t* filters, int step, const BankScaling& scales, int extra, int most) {
        for (int turn = 0; turn < kBankTurns; ++turn)
            for (int tap = 0; tap < kBankTaps; ++tap) {
                const int place = tap_at(turned(kBankOffsets[tap], turn));
                const uint8_t* filter = filters;
                for (int i = 0; i < kBankClasses; ++i, filter += 2 * kBankTaps) {
                    LimitedTaps<Value>& form = forms[turn * kBankClasses + i];
                    form.weights[place] =
                        Value(scales[i / kBankDirections] * (filter[tap] - kBankZero));
                    form.limits[place] =
                        Value(bank_clip(filter[kBankTaps + tap], step, extra, most));
                }
            }
        for (int i = 0; i < kForms; ++i) used[i] = scales[activity_of(i)] != 0;
        for (int k = 0; k < kBankActivities - 1; ++k)
            most_of_activity[k] = mmp::most_of_activity(k, step);
    }

    LimitedTaps<Value> forms[kForms];
    bool used[kForms];
};

// Visits the rows of blocks of a picture in order, and chooses the filters of each.
template <class Value, class Sample>
class BankRows {
    using Form = LimitedTaps<Value>;

public:
    // Blocks of activities whose scale is 0 have no filter.
    BankRows(const FilterPicture<Sample>& picture, const PlaneSteps& steps,
             const BankScaling& scales, int64_t first)
        : blocks_(picture, first),
          steps_(steps),
          held_(held_blocks(blocks_.blocks())),
          numbers_(held_) {
        of_steps_.reserve(steps.distinct.size());
        for (const int step : steps.distinct)
            of_steps_.emplace_back(step, scales, picture.depth.extra(), picture.depth.most());
        for (const auto& of_step : of_steps_) of_step.add_to(forms_);
        start(blocks_);
    }

    // Chooses the filters of the next row of blocks.
    MMP_INLINE void next() {
        blocks_.next();
        const uint8_t* numbers = steps_.numbers + blocks_.row() / steps_.size * steps_.across;
        const bool alike = of_steps_.size() == 1;
        const int64_t of_fragment = alike ? blocks_.blocks() : steps_.size / kFilterBlock;
        for (int64_t first = 0; first < blocks_.blocks(); first += of_fragment)
            choose(first, std::min(first + of_fragment, blocks_.blocks()), *numbers++);
    }

    MMP_INLINE TapRow<Value, Form> taps() const {
        const auto& lines = blocks_.lines();
        return {lines[blocks_.row()], lines.stride(), forms_.data(),
                numbers_.data(), blocks_.blocks()};
    }
    MMP_INLINE const Value* samples(int64_t row) const { return blocks_.lines()[row]; }
    MMP_INLINE int64_t held() const { return held_; }
    MMP_INLINE int activity(int64_t block) const {
        return OfStep<Value>::activity_of(numbers_[block] % kForms);
    }

private:
    // Chooses the filters of the blocks of fragments of one step.
    MMP_INLINE void choose(int64_t first, int64_t last, int step) {
        const int32_t *across = blocks_.around(0), *down = blocks_.around(1),
                      *falling = blocks_.around(2), *rising = blocks_.around(3);
        int32_t* numbers = numbers_.data();
        int most[kBankActivities - 1];
        std::copy_n(of_steps_[step].most_of_activity, kBankActivities - 1, most);
        const int start = step * kForms;
        for (int64_t k = first; k < last; ++k) {
            int activity = 0;
            for (const int own : most) activity += across[k] + down[k] > own;
            const int turn = bank_turn(across[k], down[k], falling[k], rising[k]);
            const int direction = bank_direction(across[k], down[k], falling[k], rising[k]);
            numbers[k] = start + turn * kBankClasses + activity * kBankDirections + direction;
        }
    }

    BlockRows<Value, Sample, kVariationDirections> blocks_;
    const PlaneSteps& steps_;
    const int64_t held_;
    std::vector<OfStep<Value>> of_steps_;
    std::vector<const Form*> forms_;  // of all steps, by turned class
    std::vector<int32_t> numbers_;    // of the form of each block
};

template <class Value, class Sample>
void filter(const FilterPicture<Sample>& picture, const PlaneSteps& steps,
            const BankScaling& scales, RowRange range, Sample* out) {
    BankRows<Value, Sample> rows(picture, steps, scales, range.first);
    const auto& kernel = tap_kernel<Value, Sample>();
    for (int64_t row = first_block_row(range); row < range.last; row += kFilterBlock) {
        advance(rows);
        kernel.fixed(rows.taps(), {out, picture.width, row, range, picture.depth.most()});
    }
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_errors(const Sample* source, const FilterPicture<Sample>& picture,
                                const PlaneSteps& steps, RowRange range, BankErrors* errors) {
    BankScaling scales;
    scales.fill(1);
    BankRows<Value, Sample> rows(picture, steps, scales, range.first);
    const int64_t width = picture.width, stride = kFilterBlock * rows.held();
    const int most = picture.depth.most();
    std::vector<int32_t> sums(kFilterBlock * stride);
    std::vector<uint32_t> squares(kBankScales * width);
    for (int64_t row = range.first; row < range.last; ++row) {
        if (row == range.first || row % kFilterBlock == 0) {
            advance(rows);
            tap_kernel<Value, Sample>().fixed_sums(rows.taps(), sums.data(), stride);
        }
        const Sample* wanted = source + row * width;
        const Value* x = rows.samples(row);
        const int32_t* weighted = &sums[row % kFilterBlock * stride];
        for (int scale = 0; scale < kBankScales; ++scale) {
            uint32_t* out = &squares[scale * width];
            for (int64_t c = 0; c < width; ++c) {
                const uint32_t difference =
                    uint32_t(wanted[c]) - uint32_t(bank_sample(x[c], scale * weighted[c], most));
                out[c] = difference * difference;
            }
        }
        const uint8_t* numbers = steps.numbers + row / steps.size * steps.across;
        for (int64_t first = 0; first < width; first += kFilterBlock) {
            auto& own = errors[numbers[first / steps.size]][rows.activity(first / kFilterBlock)];
            const int64_t last = std::min(first + kFilterBlock, width);
            for (int scale = 0; scale < kBankScales; ++scale)
                for (int64_t c = first; c < last; ++c) own[scale] += squares[scale * width + c];
        }
    }
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
