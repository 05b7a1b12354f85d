#include "cpu/filters/post.h"

#include "cpu/filters/block_rows.h"
#include "cpu/filters/taps/taps.h"

namespace mmp {

namespace {

constexpr int kDirections = 2;  // across and down

template <class Value, class Sample>
class FilterRows : public BlockRows<Value, Sample, kDirections> {
public:
    FilterRows(const FilterPicture<Sample>& picture, int64_t first)
        : BlockRows<Value, Sample, kDirections>(picture, first) {
        start(*this);
    }
    MMP_INLINE int class_of(int64_t block) const {
        return filter_class(this->around(0)[block] + this->around(1)[block]);
    }
};

// Products of a row are summed this many samples at a time. Up to a depth of 10, 32-bit sums
// suffice: 512 * 2046 * 2046 < 2^31.
constexpr int kSummedAtOnce = 512, kShortProducts = 10;

// Tap differences and errors of samples of one class.
template <class Value, class Sample>
struct ClassBlock {
    static constexpr int kSize = kSummedAtOnce;
    int count = 0;
    Value values[kGramSize][kSize];

    // Adds the samples of a block's row; `own` holds their values, of each kind in a row.
    MMP_INLINE void add(const Value* own, int64_t stride, int samples,
                        int64_t (&gram)[kGramSize][kGramSize], Depth<Sample> depth) {
        if (count + samples > kSize) add_to(gram, depth);
        for (int i = 0; i < kGramSize; ++i)
            for (int k = 0; k < samples; ++k) values[i][count + k] = own[i * stride + k];
        count += samples;
    }
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
void filter(const FilterPicture<Sample>& picture, const FilterTable& table, RowRange range,
            Sample* out) {
    using Form = TapWeights<Value, kFilterTaps>;
    Form forms[kFilterClasses];
    const Form* used[kFilterClasses];  // nullptr for a class that is not filtered
    for (int k = 0; k < kFilterClasses; ++k) {
        std::copy_n(table[k], kFilterTaps, forms[k].weights);
        const bool idle = std::all_of(table[k], table[k] + kFilterTaps, [](int w) { return !w; });
        used[k] = idle ? nullptr : &forms[k];
    }
    FilterRows<Value, Sample> rows(picture, range.first);
    std::vector<int32_t> classes(held_blocks(rows.blocks()));
    const auto& kernel = tap_kernel<Value, Sample>();
    for (int64_t row = first_block_row(range); row < range.last; row += kFilterBlock) {
        advance(rows);
        for (int64_t k = 0; k < rows.blocks(); ++k) classes[k] = rows.class_of(k);
        kernel.post({rows.lines()[row], rows.lines().stride(), used,
                     classes.data(), rows.blocks()},
                    {out, picture.width, row, range, picture.depth.most()});
    }
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_gram(const Sample* source, const FilterPicture<Sample>& picture,
                              RowRange range, FilterGram& gram) {
    FilterRows<Value, Sample> rows(picture, range.first);
    const auto& lines = rows.lines();
    const int64_t width = picture.width;
    std::vector<ClassBlock<Value, Sample>> classes(kFilterClasses);
    std::vector<Value> values(kGramSize * width);
    for (int64_t row = range.first; row < range.last; ++row) {
        if (row == range.first || row % kFilterBlock == 0) advance(rows);
        const Value* x = lines[row];
        for (int i = 0; i < kFilterTaps; ++i) {
            const TapOffset o = kTapOffsets[i];
            const Value *one = lines[row + o.row] + o.column,
                        *opposite = lines[row - o.row] - o.column;
            Value* own = &values[i * width];
            for (int64_t c = 0; c < width; ++c) own[c] = tap_difference(x[c], one[c], opposite[c]);
        }
        const Sample* wanted = source + row * width;
        Value* errors = &values[kFilterTaps * width];
        for (int64_t c = 0; c < width; ++c) errors[c] = wanted[c] - x[c];
        for (int64_t first = 0; first < width; first += kFilterBlock) {
            const int k = rows.class_of(first / kFilterBlock);
            classes[k].add(&values[first], width, int(std::min<int64_t>(kFilterBlock, width - first)),
                           gram[k], picture.depth);
        }
    }
    for (int k = 0; k < kFilterClasses; ++k) classes[k].add_to(gram[k], picture.depth);
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_errors(const Sample* source, const FilterPicture<Sample>& picture,
                                const Sample* shown, RowRange range, FilterErrors& errors) {
    FilterRows<Value, Sample> rows(picture, range.first);
    const int64_t width = picture.width;
    std::vector<uint32_t> squares(width);
    for (int64_t row = range.first; row < range.last; ++row) {
        if (row == range.first || row % kFilterBlock == 0) advance(rows);
        const Sample *wanted = source + row * width, *found = shown + row * width;
        for (int64_t c = 0; c < width; ++c) {
            const uint32_t difference = uint32_t(wanted[c]) - uint32_t(found[c]);
            squares[c] = difference * difference;
        }
        for (int64_t first = 0; first < width; first += kFilterBlock) {
            int64_t& own = errors[rows.class_of(first / kFilterBlock)];
            const int64_t last = std::min(first + kFilterBlock, width);
            for (int64_t c = first; c < last; ++c) own += squares[c];
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
