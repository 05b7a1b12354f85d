#include "cpu/filters/fixed.h"

#include "shared/tables.h"

namespace mmp {

namespace {

// Places around a sample, in three groups of lanes: columns -3 to 4 of the rows one above and one
// below; the same of the rows two above and below; and its own row. In the last, the taps three
// rows above and below take the lanes of the sample itself and of column 4.
constexpr int kColumns = 8;
constexpr int kOwnRow = 4 * kColumns, kAbove = kOwnRow + kBankReach, kBelow = kOwnRow + kColumns - 1;
constexpr int kPlaces = 5 * kColumns;
constexpr int kHeld = 16;    // rows that are held at once; a power of two
constexpr int kForms = kBankClasses * kBankTurns;
static_assert(kHeld >= 2 * (kBankWindow + 1) + 1 && kBankWindow + 1 >= kBankReach);
constexpr int kTableBytes = kBankClasses * 2 * kBankTaps;
static_assert(sizeof kFixedFilters == kBankTables * kTableBytes);

// A turn of a filter: the weight of each place around a sample, and the largest difference there.
// Samples and their differences are held as a Value.
template <class Value>
struct Form {
    Value weights[kPlaces], clips[kPlaces];
};

// What a step decides: the forms of the filters, and the largest variation of each activity.
template <class Value>
struct OfStep {
    std::vector<Form<Value>> forms;
    int most_of_activity[kBankActivities - 1];
};

// Columns whose samples have one step.
struct Run {
    int64_t first, last;
    int step;  // its number
};

constexpr int place_of(int row, int column) {
    if (row == -3 || row == 3) return row < 0 ? kAbove : kBelow;
    if (row == 0) return kOwnRow + kBankReach + column;
    const int first = row == 1 || row == -1 ? 0 : 2;
    return (first + (row > 0)) * kColumns + kBankReach + column;
}

template <class Value, class Sample>
std::vector<Form<Value>> forms_of(int step, Depth<Sample> depth) {
    std::vector<Form<Value>> forms(kForms);
    const uint8_t* table = kFixedFilters + bank_table(step) * kTableBytes;
    for (int i = 0; i < kForms; ++i) {
        const uint8_t* filter = table + i / kBankTurns * 2 * kBankTaps;
        for (int tap = 0; tap < kBankTaps; ++tap) {
            const TapOffset o = turned(kBankOffsets[tap], i % kBankTurns);
            const int weight = filter[tap] - kBankZero;
            const int clip =
                bank_clip(filter[kBankTaps + tap], step, depth.extra(), depth.most());
            for (const int side : {-1, 1}) {
                const int place = place_of(side * o.row, side * o.column);
                forms[i].weights[place] = Value(weight);
                forms[i].clips[place] = Value(clip);
            }
        }
    }
    return forms;
}

template <class Value, class Sample>
std::vector<OfStep<Value>> of_steps(const PlaneSteps& steps, Depth<Sample> depth) {
    std::vector<OfStep<Value>> found(steps.distinct.size());
    for (size_t i = 0; i < found.size(); ++i) {
        const int step = steps.distinct[i];
        found[i].forms = forms_of<Value>(step, depth);
        for (int k = 0; k < kBankActivities - 1; ++k)
            found[i].most_of_activity[k] = most_of_activity(k, step);
    }
    return found;
}

// Visits the rows of a picture in order, and filters each.
template <class Value, class Sample>
class BankRows {
public:
    // The type of sums of variations.
    using Sum = Wide<Sample>;

    BankRows(const FilterPicture<Sample>& picture, const PlaneSteps& steps, int64_t first)
        : lines_(picture, first - kBankWindow - 1),
          width_(picture.width),
          extra_(picture.depth.extra()),
          steps_(steps),
          row_(first - 1),
          next_sums_(std::max<int64_t>(first - kBankWindow, 0)),
          variations_(lines_.stride()),
          sums_(kDirections * kHeld * width_),
          around_(kDirections * width_),
          of_steps_(of_steps<Value>(steps, picture.depth)),
          weighted_(width_),
          places_(width_) {
        runs_.reserve(steps.across);  // advance() must not throw
        find_runs((row_ + 1) / steps.size);
    }

    MMP_INLINE void next() {
        ++row_;
        if (row_ % steps_.size == 0) find_runs(row_ / steps_.size);
        lines_.hold_up_to(row_ + kBankWindow + 1);
        for (; next_sums_ <= lines_.inside(row_ + kBankWindow); ++next_sums_) hold_sums(next_sums_);
        sum_around();
        for (const Run& run : runs_) {
            find_places(run);
            filter(run);
        }
    }

    MMP_INLINE const Value* samples() const { return lines_[row_]; }
    // The sums of the weighted differences.
    MMP_INLINE const int32_t* weighted() const { return weighted_.data(); }
    // The number of each sample's form: kBankTurns times its class, plus its turn.
    MMP_INLINE const uint8_t* places() const { return places_.data(); }
    // The runs of columns of one step.
    MMP_INLINE const std::vector<Run>& runs() const { return runs_; }

private:
    using Lanes = std::conditional_t<sizeof(Value) == 2, Shorts8, Ints8>;
    static constexpr int kDirections = 4;
    static constexpr int kRows[] = {2, 4, 1, 5};  // the rows of the first places, of seven

    MMP_INLINE Sum* sums(int direction, int64_t row) {
        return &sums_[(direction * kHeld + row % kHeld) * width_];
    }
    // Sums the variations of seven samples of a row.
    MMP_INLINE void hold_sums(int64_t row) {
        static constexpr TapOffset kOffsets[kDirections] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
        const Value *up = lines_[row - 1], *x = lines_[row], *down = lines_[row + 1];
        Value* v = &variations_[kColumns];
        for (int i = 0; i < kDirections; ++i) {
            const TapOffset o = kOffsets[i];
            const Value *one = (o.row ? down : x) + o.column,
                        *opposite = (o.row ? up : x) - o.column;
            for (int64_t c = 0; c < width_; ++c)
                v[c] = Value(magnitude(2 * x[c] - one[c] - opposite[c]));
            lines_.repeat_ends(v);
            Sum* out = sums(i, row);
            for (int64_t c = 0; c < width_; ++c)
                out[c] = Sum(v[c - 3] + v[c - 2] + v[c - 1] + v[c] + v[c + 1] + v[c + 2] + v[c + 3]);
        }
    }

    MMP_INLINE void find_runs(int64_t row) {
        const uint8_t* numbers = steps_.numbers + row * steps_.across;
        runs_.clear();
        for (int64_t i = 0; i < steps_.across; ++i) {
            const int64_t last = std::min((i + 1) * steps_.size, width_);
            if (i > 0 && numbers[i] == numbers[i - 1])
                runs_.back().last = last;
            else
                runs_.push_back({i * steps_.size, last, numbers[i]});
        }
    }

    MMP_INLINE void sum_around() {
        int16_t* around = around_.data();
        for (int i = 0; i < kDirections; ++i) {
            const Sum* rows[2 * kBankWindow + 1];
            for (int k = 0; k <= 2 * kBankWindow; ++k)
                rows[k] = sums(i, lines_.inside(row_ + k - kBankWindow));
            for (int64_t c = 0; c < width_; ++c)
                around[i * width_ + c] =
                    int16_t((rows[0][c] + rows[1][c] + rows[2][c] + rows[3][c] + rows[4][c] +
                             rows[5][c] + rows[6][c]) >>
                            extra_);
        }
    }

    MMP_INLINE void find_places(const Run& run) {
        const int* most = of_steps_[run.step].most_of_activity;
        const int m0 = most[0], m1 = most[1], m2 = most[2], m3 = most[3], m4 = most[4], m5 = most[5];
        const int16_t *across = around_.data(), *down = across + width_, *falling = down + width_,
                    *rising = falling + width_;
        uint8_t* places = places_.data();
        for (int64_t c = run.first; c < run.last; ++c) {
            const int sum = across[c] + down[c];
            const int active =
                (sum > m0) + (sum > m1) + (sum > m2) + (sum > m3) + (sum > m4) + (sum > m5);
            const int direction = bank_direction(across[c], down[c], falling[c], rising[c]);
            const int turn = bank_turn(across[c], down[c], falling[c], rising[c]);
            places[c] = uint8_t((active * kBankDirections + direction) * kBankTurns + turn);
        }
    }

    // The sums of products of eight places with their weights.
    static MMP_INLINE Ints4 products(Lanes samples, Value x, const Form<Value>& form, int place) {
        const auto clip = loaded<Lanes>(form.clips + place);
        const Lanes difference = samples - x;
        const Lanes low = difference < -clip ? -clip : difference;
        return sums_of_pairs(low > clip ? clip : low, loaded<Lanes>(form.weights + place));
    }

    MMP_INLINE void filter(const Run& run) {
        const Form<Value>* forms = of_steps_[run.step].forms.data();
        const Value* rows[2 * kBankReach + 1];
        for (int i = 0; i <= 2 * kBankReach; ++i) rows[i] = lines_[row_ + i - kBankReach] - kBankReach;
        for (int64_t c = run.first; c < run.last; ++c) {
            const Form<Value>& form = forms[places_[c]];
            const Value x = rows[3][c + kBankReach];
            auto own = loaded<Lanes>(rows[3] + c);
            own[kAbove - kOwnRow] = rows[0][c + kBankReach];
            own[kBelow - kOwnRow] = rows[6][c + kBankReach];
            Ints4 total = products(own, x, form, kOwnRow);
            for (int i = 0; i < 4; ++i)
                total += products(loaded<Lanes>(rows[kRows[i]] + c), x, form, i * kColumns);
            weighted_[c] = total[0] + total[1] + total[2] + total[3];
        }
    }

    HeldRows<Value, Sample, kHeld, kColumns> lines_;
    const int64_t width_;
    const int extra_;
    const PlaneSteps& steps_;
    int64_t row_, next_sums_;
    std::vector<Value> variations_;
    std::vector<Sum> sums_;
    std::vector<int16_t> around_;  // in units of 8-bit samples
    const std::vector<OfStep<Value>> of_steps_;
    std::vector<int32_t> weighted_;
    std::vector<uint8_t> places_;
    std::vector<Run> runs_;
};

static_assert(kBankWindow == 3, "the sums above are of seven");

// A function of its own, because compiling it once for each user takes long.
template <class Rows>
MMP_SIMD_LEVELS void advance(Rows& rows) {
    rows.next();
}

constexpr int kFormsOfActivity = kBankDirections * kBankTurns;

template <class Value, class Sample>
MMP_SIMD_LEVELS void filter(const FilterPicture<Sample>& picture, const PlaneSteps& steps,
                            const BankScaling& scales, RowRange range, Sample* out) {
    BankRows<Value, Sample> rows(picture, steps, range.first);
    int scale_of[kForms];
    for (int i = 0; i < kForms; ++i) scale_of[i] = scales[i / kFormsOfActivity];
    out += range.first * picture.width;
    for (int64_t row = range.first; row < range.last; ++row, out += picture.width) {
        advance(rows);
        for (int64_t c = 0; c < picture.width; ++c)
            out[c] = Sample(bank_sample(rows.samples()[c], rows.weighted()[c],
                                        scale_of[rows.places()[c]], picture.depth.most()));
    }
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_errors(const Sample* source, const FilterPicture<Sample>& picture,
                                const PlaneSteps& steps, RowRange range, BankErrors* errors) {
    BankRows<Value, Sample> rows(picture, steps, range.first);
    const int64_t width = picture.width;
    const int most = picture.depth.most();
    std::vector<uint32_t> squares(kBankScales * width);
    for (int64_t row = range.first; row < range.last; ++row) {
        advance(rows);
        const Sample* wanted = source + row * width;
        const auto* x = rows.samples();
        const int32_t* weighted = rows.weighted();
        for (int scale = 0; scale < kBankScales; ++scale) {
            uint32_t* out = &squares[scale * width];
            for (int64_t c = 0; c < width; ++c) {
                const uint32_t difference =
                    uint32_t(wanted[c]) - uint32_t(bank_sample(x[c], weighted[c], scale, most));
                out[c] = difference * difference;
            }
        }
        for (const Run& run : rows.runs()) {
            for (int64_t c = run.first; c < run.last; ++c) {
                int64_t(&own)[kBankScales] = errors[run.step][rows.places()[c] / kFormsOfActivity];
                for (int scale = 0; scale < kBankScales; ++scale)
                    own[scale] += squares[scale * width + c];
            }
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
