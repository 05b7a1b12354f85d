#include "cpu/blocks/prediction.h"

#include <string.h>

#include <algorithm>

#include "cpu/blocks/angles.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

template <int Count, class Sample>
MMP_INLINE void write_row(const Wide<Sample>* places, int slope, int i, int width,
                          Depth<Sample> depth, const AngleTables& tables, Sample* out) {
    using Samples = typename Row<Sample, Count>::Samples;
    for (int first = 0; first < width; first += Count) {
        const Samples row = __builtin_convertvector(
            predicted_row<Count>(places + first, slope, i, depth, tables), Samples);
        memcpy(out + first, &row, sizeof row);
    }
}

template <class Sample>
MMP_SIMD_LEVELS void predict_angle(int angle, const Wide<Sample>* main, const Wide<Sample>* side,
                                   int corner, int height, int width, Depth<Sample> depth,
                                   const AngleTables& tables, Sample* out) {
    AngleLine<Sample> line;
    line.set_main(main, corner, height + width);
    line.set_side(angle, side, height, height + width, tables);
    const int slope = angle_slope(angle);
    for (int i = 0; i < height; ++i) {
        Sample* row = out + i * width;
        if (width == 4)
            write_row<4>(line.places(), slope, i, width, depth, tables, row);
        else if (width == 8)
            write_row<8>(line.places(), slope, i, width, depth, tables, row);
        else
            write_row<16>(line.places(), slope, i, width, depth, tables, row);
    }
}

// Computes planar_sample() for Count columns at a time. From row to row, the share of the
// references above changes by a constant vector.
template <int Count, class Sample>
MMP_INLINE void predict_plane_by(const References<Sample>& r, int a, int b, Sample* out) {
    using Lanes = typename Vector<int32_t, Count>::Type;
    using References = typename Vector<Wide<Sample>, Count>::Type;
    using Samples = typename Row<Sample, Count>::Samples;
    const int height = 1 << a, width = 1 << b;
    const int corner_above = r.above[width], corner_left = r.left[height];
    Lanes columns;
    for (int k = 0; k < Count; ++k) columns[k] = k;
    for (int first = 0; first < width; first += Count, columns += Count) {
        const auto above = __builtin_convertvector(loaded<References>(r.above + first), Lanes);
        const Lanes step = (corner_left - above) << b, weight = (width - 1 - columns) << a;
        Lanes sum = (((height - 1) * above + corner_left) << b) +
                    (((columns + 1) * corner_above) << a) + (1 << (a + b));
        for (int i = 0; i < height; ++i, sum += step) {
            const Lanes value = (sum + weight * int32_t{r.left[i]}) >> (a + b + 1);
            store(out + i * width + first, __builtin_convertvector(value, Samples));
        }
    }
}

template <class Sample>
MMP_SIMD_LEVELS void predict_plane(const References<Sample>& r, int a, int b, Sample* out) {
    if (b == 2)
        predict_plane_by<4>(r, a, b, out);
    else
        predict_plane_by<8>(r, a, b, out);
}

}  // namespace

AngleTables::AngleTables() {
    for (int f = 0; f < 32; ++f)
        for (int k = 0; k < 4; ++k) taps[f][k] = int8_t(taps_of(f).weight[k]);
    for (int angle = 0; angle < kAngles; ++angle) {
        const int steep = -angle_slope(angle);
        for (int k = 1; steep > 0 && k <= ((kMaxSide * steep) >> 5) + 2; ++k)
            beside[angle][k] = uint8_t(smaller(side_place(k, steep) - 1, UINT8_MAX));
    }
}

const AngleTables& angle_tables() {
    static const AngleTables made;
    return made;
}

template <class Sample>
MMP_SIMD_LEVELS void transpose(const Sample* in, int height, int width, Sample* out) {
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) out[j * height + i] = in[i * width + j];
}

template <class Value>
MMP_SIMD_LEVELS void smooth_side(const Value* side, int corner, int length, Value* out) {
    out[0] = Value(smoothed(corner, side[0], side[1]));
    for (int i = 1; i < length - 1; ++i)
        out[i] = Value(smoothed(side[i - 1], side[i], side[i + 1]));
    out[length - 1] = Value(smoothed(side[length - 2], side[length - 1], side[length - 1]));
}

template <class Sample>
void References<Sample>::smooth(int length, References& out) const {
    smooth_side(above, corner, length, out.above);
    smooth_side(left, corner, length, out.left);
    out.corner = Wide<Sample>(smoothed(above[0], corner, left[0]));
}

template <class Sample>
void predict_block(int mode, const References<Sample>& references,
                   const References<Sample>& smooth, int a, int b, Depth<Sample> depth,
                   Sample* out) {
    const int height = 1 << a, width = 1 << b;
    if (mode == kConstant) {
        std::fill_n(out, height * width, Sample(depth.middle()));
    } else if (mode == kAverage) {
        int sum = 0;
        for (int j = 0; j < width; ++j) sum += references.above[j];
        for (int i = 0; i < height; ++i) sum += references.left[i];
        sum += (height + width) / 2;
        std::fill_n(out, height * width, Sample(sum / (height + width)));
    } else if (mode == kPlanar) {
        predict_plane(references, a, b, out);
    } else {
        const int angle = angle_of(mode);
        const bool straight = angle == kHorizontal || angle == kVertical;
        const auto& r = straight || height + width < kSmoothedFrom ? references : smooth;
        if (angle >= kFirstVertical) {
            predict_angle(angle, r.above, r.left, r.corner, height, width, depth,
                          angle_tables(), out);
        } else {
            Sample turned[kMaxBlockArea];
            predict_angle(angle, r.left, r.above, r.corner, width, height, depth,
                          angle_tables(), turned);
            transpose(turned, width, height, out);
        }
    }
}

namespace {

// Weights of the references by log2 of the block's area and by the distance from the references.
template <class Sample>
struct BlendWeights {
    Wide<Sample> of_area[2 * kMaxSideLog2 + 1][kMaxSide];

    constexpr BlendWeights() : of_area() {
        for (int log2 = 2 * kMinSideLog2; log2 <= 2 * kMaxSideLog2; ++log2)
            for (int k = 0; k < blend_reach(log2, 0); ++k)
                of_area[log2][k] = Wide<Sample>(blend_weight(k, log2, 0));
    }
};
template <class Sample>
constexpr BlendWeights<Sample> kBlendWeights;

// Most bits per sample for which weighted means fit unsigned 16-bit lanes.
constexpr int kShortMeans = 10;

// PDPC for the modes average and planar, in vectors of Count samples. Means are computed in lanes
// of type Mean.
template <int Count, class Mean, class Sample>
MMP_INLINE void blend_smooth(const References<Sample>& r, int a, int b,
                             const Wide<Sample>* weights, int rows, int columns, Sample* out) {
    using Lanes = typename Vector<Mean, Count>::Type;
    using References = typename Vector<Wide<Sample>, Count>::Type;
    using Samples = typename Row<Sample, Count>::Samples;
    const int height = 1 << a, width = 1 << b;
    for (int first = 0; first < width; first += Count) {
        const auto weight = __builtin_convertvector(loaded<References>(weights + first), Lanes);
        const auto above = __builtin_convertvector(loaded<References>(r.above + first), Lanes);
        const int end = first < columns ? height : rows;
        for (int i = 0; i < end; ++i) {
            Sample* row = out + i * width + first;
            const Lanes value = __builtin_convertvector(loaded<Samples>(row), Lanes);
            const Lanes own = Lanes{} + Mean(64 - weights[i]) - weight;
            const Lanes mean = (weight * Mean(r.left[i]) + Mean(weights[i]) * above + own * value +
                                Mean{32}) >> 6;
            store(row, __builtin_convertvector(mean, Samples));
        }
    }
}

// PDPC for the horizontal and the vertical angle, in vectors of Count samples.
template <int Count, class Sample>
MMP_INLINE void blend_straight(bool vertical, const References<Sample>& r, int a, int b,
                               Depth<Sample> depth, const Wide<Sample>* weights, int rows,
                               int columns, Sample* out) {
    using Lanes = typename Row<Sample, Count>::Lanes;
    using Samples = typename Row<Sample, Count>::Samples;
    const int height = vertical ? 1 << a : rows, width = 1 << b;
    for (int first = 0; first < (vertical ? columns : width); first += Count) {
        const auto weight = loaded<Lanes>(weights + first);
        const auto above = loaded<Lanes>(r.above + first);
        for (int i = 0; i < height; ++i) {
            Sample* row = out + i * width + first;
            Lanes value = __builtin_convertvector(loaded<Samples>(row), Lanes);
            if (vertical)
                value += (weight * Wide<Sample>(r.left[i] - r.corner) + 32) >> 6;
            else
                value += (weights[i] * (above - r.corner) + 32) >> 6;
            value = value < 0 ? Lanes{} : value;
            const Lanes most = Lanes{} + Wide<Sample>(depth.most());
            store(row, __builtin_convertvector(value < most ? value : most, Samples));
        }
    }
}

// PDPC for other angles: blends each sample with the reference that the line of the angle meets
// when it is extended in the opposite direction.
template <class Sample>
void blend_along(int angle, const References<Sample>& r, int a, int b,
                 const Wide<Sample>* weights, int rows, int columns, Sample* out) {
    const int height = 1 << a, width = 1 << b, length = height + width;
    const int inverse = inverse_slope(angle_slope(angle));
    const bool from_above = angle >= kFirstVertical;
    const auto* side = from_above ? r.left : r.above;
    const int step = from_above ? width : 1;
    for (int along = 0; along < (from_above ? columns : rows); ++along) {
        const int moved = (inverse * (along + 1) + 256) >> 9;
        const int end = smaller(from_above ? height : width, length - moved);
        Sample* line = out + along * (from_above ? 1 : width);
        for (int across = 0; across < end; ++across)
            line[across * step] =
                Sample(blend(weights[along], side[across + moved], line[across * step]));
    }
}

}  // namespace

template <class Sample>
MMP_SIMD_LEVELS void blend_block(int mode, const References<Sample>& references,
                                 const References<Sample>& smooth, int a, int b,
                                 Depth<Sample> depth, Sample* out) {
    const int angle = angle_of(mode);
    const bool straight = angle == kVertical || angle == kHorizontal;
    if (mode != kAverage && mode != kPlanar && !straight && (angle < 0 || angle_slope(angle) <= 0))
        return;
    const auto& r = (1 << a) + (1 << b) < kSmoothedFrom ? references : smooth;
    // All weights are 0 beyond blend_reach().
    const int rows = smaller(blend_reach(a, b), 1 << a);
    const int columns = smaller(blend_reach(a, b), 1 << b);
    const Wide<Sample>* weights = kBlendWeights<Sample>.of_area[a + b];
    const auto blend_by = [&]<int Count>() MMP_INLINED {
        if (straight)
            blend_straight<Count>(angle == kVertical, references, a, b, depth, weights, rows,
                                  columns, out);
        else if (depth.bits() <= kShortMeans)
            blend_smooth<Count, uint16_t>(r, a, b, weights, rows, columns, out);
        else
            blend_smooth<Count, int32_t>(r, a, b, weights, rows, columns, out);
    };
    if (angle >= 0 && !straight)
        blend_along(angle, r, a, b, weights, rows, columns, out);
    else if (b == 2)
        blend_by.template operator()<4>();
    else if (b == 3 || depth.bits() > kShortMeans)  // 16 lanes of 32 bits take two registers
        blend_by.template operator()<8>();
    else
        blend_by.template operator()<16>();
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template struct References<Sample>;                                                            \
    template void transpose(const Sample*, int, int, Sample*);                                     \
    template void predict_block(int, const References<Sample>&, const References<Sample>&, int,    \
                                int, Depth<Sample>, Sample*);                                      \
    template void blend_block(int, const References<Sample>&, const References<Sample>&, int, int, \
                              Depth<Sample>, Sample*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
