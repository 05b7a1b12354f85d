#include "cpu/filters/post.h"

namespace mmp {

namespace {

constexpr int kReach = std::max(kFilterReach, kActivityReach);
constexpr int kHeld = 8;  // rows that are held at once; a power of two
static_assert(kHeld >= 2 * kReach + 3, "rows around one, and those that their activities read");

// Visits the rows of a picture in order and holds the activities that the filter reads around each.
template <class Value, class Sample>
class FilterRows {
public:
    // The type of sums of activities.
    using Sum = Wide<Sample>;

    FilterRows(const FilterPicture<Sample>& picture, int64_t first)
        : lines_(picture, first - kReach - 1),
          width_(picture.width),
          extra_(picture.depth.extra()),
          row_(first - 1),
          next_sums_(std::max<int64_t>(first - kActivityReach, 0)),
          activities_(lines_.stride()),
          differences_(kFilterTaps * width_),
          sums_(kHeld * width_),
          around_(width_) {}

    MMP_INLINE void next() {
        ++row_;
        lines_.hold_up_to(row_ + kReach + 1);
        for (; next_sums_ <= lines_.inside(row_ + kActivityReach); ++next_sums_)
            hold_sums(next_sums_);
        const Sum* rows[2 * kActivityReach + 1];
        for (int i = 0; i <= 2 * kActivityReach; ++i)
            rows[i] = sums(lines_.inside(row_ + i - kActivityReach));
        for (int64_t c = 0; c < width_; ++c)
            around_[c] = int16_t(
                (rows[0][c] + rows[1][c] + rows[2][c] + rows[3][c] + rows[4][c]) >> extra_);
        for (int i = 0; i < kFilterTaps; ++i) hold_differences(i);
    }

    MMP_INLINE const Value* samples() const { return lines_[row_]; }
    // The sum of the 25 activities around each sample, in units of 8-bit samples.
    MMP_INLINE const int16_t* around() const { return around_.data(); }
    MMP_INLINE const Value* differences(int tap) const { return &differences_[tap * width_]; }

private:
    MMP_INLINE Sum* sums(int64_t row) { return &sums_[row % kHeld * width_]; }

    MMP_INLINE void hold_sums(int64_t row) {
        const Value *up = lines_[row - 1], *x = lines_[row], *down = lines_[row + 1];
        Value* a = &activities_[kReach];
        Sum* out = sums(row);
        for (int64_t c = 0; c < width_; ++c)
            a[c] = activity(x[c], x[c - 1], x[c + 1], up[c], down[c]);
        lines_.repeat_ends(a);
        for (int64_t c = 0; c < width_; ++c)
            out[c] = a[c - 2] + a[c - 1] + a[c] + a[c + 1] + a[c + 2];
    }

    MMP_INLINE void hold_differences(int tap) {
        const TapOffset o = kTapOffsets[tap];
        Value* out = &differences_[tap * width_];
        const Value *x = lines_[row_], *one = lines_[row_ + o.row] + o.column,
                    *opposite = lines_[row_ - o.row] - o.column;
        for (int64_t c = 0; c < width_; ++c) out[c] = tap_difference(x[c], one[c], opposite[c]);
    }

    HeldRows<Value, Sample, kHeld, kReach> lines_;
    const int64_t width_;
    const int extra_;
    int64_t row_, next_sums_;
    std::vector<Value> activities_, differences_;
    std::vector<Sum> sums_;
    std::vector<int16_t> around_;
};

static_assert(kActivityReach == 2, "the sums above are of five");

// A function of its own, because compiling it once for each user takes long.
template <class Rows>
MMP_SIMD_LEVELS void advance(Rows& rows) {
    rows.next();
}

// Products of a row are summed this many samples at a time. Up to a depth of 10, 32-bit sums
// suffice: 512 * 2046 * 2046 < 2^31.
constexpr int kSummedAtOnce = 512, kShortProducts = 10;
template <class Sample>
using SquareSum = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;

// Tap differences and errors of samples of one class.
template <class Value, class Sample>
struct ClassBlock {
    static constexpr int kSize = kSummedAtOnce;
    int count = 0;
    Value values[kGramSize][kSize];

    MMP_INLINE void add_to(int64_t (&gram)[kGramSize][kGramSize], Depth<Sample> depth) {
        if (depth.bits() <= kShortProducts)
            add_by<int32_t>(gram);
        else
            add_by<int64_t>(gram);
    }

private:
    template <class Sum>
    MMP_INLINE void add_by(int64_t (&gram)[kGramSize][kGramSize]) {
        for (int i = 0; i < kGramSize; ++i)
            for (int j = 0; j <= i; ++j) {
                Sum sum = 0;
                for (int k = 0; k < count; ++k) sum += Sum{values[i][k]} * Sum{values[j][k]};
                gram[i][j] += sum;
                if (i != j) gram[j][i] += sum;
            }
        count = 0;
    }
};

template <class Value, class Sample>
MMP_SIMD_LEVELS void filter(const FilterPicture<Sample>& picture, const FilterTable& table,
                            RowRange range, Sample* out) {
    const int64_t width = picture.width;
    const int most = picture.depth.most();
    FilterRows<Value, Sample> rows(picture, range.first);
    // A plain pointer, because byte writes to `out` could alias the vector's own pointer.
    std::vector<int32_t> sums(width);
    int32_t* weighted = sums.data();
    out += range.first * width;
    for (int64_t row = range.first; row < range.last; ++row, out += width) {
        advance(rows);
        const auto* around = rows.around();
        const auto* x = rows.samples();
        std::fill_n(weighted, width, 0);
        for (int i = 0; i < kFilterTaps; ++i) {
            const int16_t w[] = {table[0][i], table[1][i], table[2][i], table[3][i]};
            const auto* difference = rows.differences(i);
            for (int64_t c = 0; c < width; ++c)
                weighted[c] += int32_t{difference[c]} *
                               int32_t{by_activity(around[c], w[0], w[1], w[2], w[3])};
        }
        for (int64_t c = 0; c < width; ++c) out[c] = Sample(filtered_sample(x[c], weighted[c], most));
    }
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_gram(const Sample* source, const FilterPicture<Sample>& picture,
                              RowRange range, FilterGram& gram) {
    FilterRows<Value, Sample> rows(picture, range.first);
    std::vector<ClassBlock<Value, Sample>> blocks(kFilterClasses);
    for (int64_t row = range.first; row < range.last; ++row) {
        advance(rows);
        const auto* around = rows.around();
        const auto* x = rows.samples();
        const Sample* wanted = source + row * picture.width;
        for (int64_t c = 0; c < picture.width; ++c) {
            const int k = filter_class(around[c]);
            auto& block = blocks[k];
            for (int i = 0; i < kFilterTaps; ++i)
                block.values[i][block.count] = rows.differences(i)[c];
            block.values[kFilterTaps][block.count] = wanted[c] - x[c];
            if (++block.count == block.kSize) block.add_to(gram[k], picture.depth);
        }
    }
    for (int k = 0; k < kFilterClasses; ++k) blocks[k].add_to(gram[k], picture.depth);
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_errors(const Sample* source, const FilterPicture<Sample>& picture,
                                const Sample* shown, RowRange range, FilterErrors& errors) {
    using Sum = SquareSum<Sample>;
    FilterRows<Value, Sample> rows(picture, range.first);
    for (int64_t row = range.first; row < range.last; ++row) {
        advance(rows);
        const auto* around = rows.around();
        const Sample *wanted = source + row * picture.width, *found = shown + row * picture.width;
        for (int64_t first = 0; first < picture.width; first += kSummedAtOnce) {
            const int64_t last = std::min(first + kSummedAtOnce, picture.width);
            Sum sums[kFilterClasses]{};
            for (int64_t c = first; c < last; ++c) {
                const Sum difference = Sum{wanted[c]} - Sum{found[c]};
                const Sum square = difference * difference;
                const int its_class = filter_class(around[c]);
                for (int k = 0; k < kFilterClasses; ++k) sums[k] += its_class == k ? square : 0;
            }
            for (int k = 0; k < kFilterClasses; ++k) errors[k] += sums[k];
        }
    }
}

}  // namespace

template <class Sample>
void post_filter(const FilterPicture<Sample>& picture, const FilterTable& table, RowRange range,
                 Sample* out) {
    with_lanes(picture.depth,
               [&](auto value) { filter<decltype(value)>(picture, table, range, out); });
}

template <class Sample>
void add_filter_gram(const Sample* source, const FilterPicture<Sample>& picture, RowRange range,
                     FilterGram& gram) {
    with_lanes(picture.depth,
               [&](auto value) { add_gram<decltype(value)>(source, picture, range, gram); });
}

template <class Sample>
void add_filter_errors(const Sample* source, const FilterPicture<Sample>& picture,
                       const Sample* shown, RowRange range, FilterErrors& errors) {
    with_lanes(picture.depth, [&](auto value) {
        add_errors<decltype(value)>(source, picture, shown, range, errors);
    });
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template void post_filter(const FilterPicture<Sample>&, const FilterTable&, RowRange,          \
                              Sample*);                                                            \
    template void add_filter_gram(const Sample*, const FilterPicture<Sample>&, RowRange,           \
                                  FilterGram&);                                                    \
    template void add_filter_errors(const Sample*, const FilterPicture<Sample>&, const Sample*,    \
                                    RowRange, FilterErrors&);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
