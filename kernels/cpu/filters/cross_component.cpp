#include "cpu/filters/cross_component.h"

#include <numeric>

#include "cpu/filters/taps/taps.h"

namespace mmp {

namespace {

template <class Value, class Sample>
using PlaneRows = StackedRows<Value, Sample>;

template <class Value, class Sample>
std::vector<PlaneRows<Value, Sample>> rows_of(const FilterPicture<Sample>& picture,
                                              const FilterPlanes<Sample>& planes, int64_t first) {
    std::vector<PlaneRows<Value, Sample>> rows;
    for (int i = 0; i < planes.count; ++i)
        rows.emplace_back(
            FilterPicture<Sample>{planes.samples[i], picture.height, picture.width, picture.depth},
            first - kPlaneReach);
    return rows;
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void hold(std::vector<PlaneRows<Value, Sample>>& rows, int64_t last) {
    for (auto& each : rows) each.hold_up_to(last);
}

template <class Value, class Sample>
void filter(const FilterPicture<Sample>& picture, const FilterPlanes<Sample>& planes,
            const int16_t* weights, RowRange range, Sample* out) {
    const int64_t width = picture.width;
    PlaneTapWeights<Value> form;
    for (int i = 0; i < planes.count; ++i) {
        const int16_t* own = weights + i * kPlaneTaps;
        std::copy_n(own, kPlaneTaps, form.weights + i * kPlaneTaps);
        form.weights[kMostPlanesRead * kPlaneTaps + i] =
            Value(-std::accumulate(own, own + kPlaneTaps, 0));
    }
    const int64_t start = first_block_row(range);
    auto rows = rows_of<Value>(picture, planes, start);
    const auto& kernel = tap_kernel<Value, Sample>();
    for (int64_t row = start; row < range.last; row += kFilterBlock) {
        hold(rows, row + kFilterBlock - 1 + kPlaneReach);
        PlaneTapRow<Value> taps{{}, planes.count, rows[0].stride(), form};
        for (int i = 0; i < planes.count; ++i)
            taps.planes[i] = rows[i][row];
        kernel.plane(taps, picture.row(row), picture.stride,
                     {out, width, row, range, picture.depth.most()});
    }
}

// Samples of a row whose products are summed at a time. Sums of pairs of products of 13-bit
// differences fit 32 bits: 128 / 8 * 2 * (2^13 - 1)^2 < 2^31.
constexpr int kSummedAtOnce = 128;
static_assert(kShortDepth == 13);

MMP_INLINE int64_t sum_of_products(const int16_t* a, const int16_t* b) {
    Ints4 total{};
    for (int k = 0; k < kSummedAtOnce; k += 8)
        total += sums_of_pairs(loaded<Shorts8>(a + k), loaded<Shorts8>(b + k));
    return int64_t{total[0]} + total[1] + total[2] + total[3];
}
MMP_INLINE int64_t sum_of_products(const int32_t* a, const int32_t* b) {
    int64_t total = 0;
    for (int k = 0; k < kSummedAtOnce; ++k) total += int64_t{a[k]} * b[k];
    return total;
}

template <class Value, class Sample>
MMP_SIMD_LEVELS void add_gram(const Sample* source, const FilterPicture<Sample>& picture,
                              const FilterPlanes<Sample>& planes, RowRange range,
                              int64_t* gram) {
    const int64_t width = picture.width;
    const int terms = planes.count * kPlaneTaps + 1;
    auto rows = rows_of<Value>(picture, planes, range.first);
    Value values[kMostPlaneTerms][kSummedAtOnce] = {};
    for (int64_t row = range.first; row < range.last; ++row) {
        for (auto& each : rows) each.hold_up_to(row + kPlaneReach);
        const Sample *wanted = source + row * width, *x = picture.row(row);
        for (int64_t first = 0; first < width; first += kSummedAtOnce) {
            const int count = int(std::min<int64_t>(kSummedAtOnce, width - first));
            for (int i = 0; i < planes.count; ++i) {
                const Value* middle = rows[i][row] + first;
                for (int tap = 0; tap < kPlaneTaps; ++tap) {
                    const auto [down, right] = kPlaneOffsets[tap];
                    const Value* other = rows[i][row + down] + right + first;
                    Value* out = values[i * kPlaneTaps + tap];
                    for (int k = 0; k < count; ++k) out[k] = Value(other[k] - middle[k]);
                    std::fill(out + count, out + kSummedAtOnce, Value{});
                }
            }
            Value* error = values[terms - 1];
            for (int k = 0; k < count; ++k) error[k] = Value(wanted[first + k] - x[first + k]);
            std::fill(error + count, error + kSummedAtOnce, Value{});
            for (int i = 0; i < terms; ++i)
                for (int j = i; j < terms; ++j)
                    gram[i * terms + j] += sum_of_products(values[i], values[j]);
        }
    }
    for (int i = 0; i < terms; ++i)
        for (int j = 0; j < i; ++j) gram[i * terms + j] = gram[j * terms + i];
}

}  // namespace

template <class Sample>
void cross_component_filter(const FilterPicture<Sample>& picture, const FilterPlanes<Sample>& planes,
                   const int16_t* weights, RowRange range, Sample* out) {
    with_lanes(picture.depth, [&](auto value) {
        filter<decltype(value)>(picture, planes, weights, range, out);
    });
}

template <class Sample>
void add_planes_gram(const Sample* source, const FilterPicture<Sample>& picture,
                     const FilterPlanes<Sample>& planes, RowRange range, int64_t* gram) {
    with_lanes(picture.depth, [&](auto value) {
        add_gram<decltype(value)>(source, picture, planes, range, gram);
    });
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template void cross_component_filter(const FilterPicture<Sample>&, const FilterPlanes<Sample>&,        \
                                const int16_t*, RowRange, Sample*);                                \
    template void add_planes_gram(const Sample*, const FilterPicture<Sample>&,                     \
                                  const FilterPlanes<Sample>&, RowRange, int64_t*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
