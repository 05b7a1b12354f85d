#include "cpu/blocks/prediction.h"

#include <string.h>

#include <algorithm>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

struct AngleTables {
    int8_t taps[32][4];
    // By angle and k: the index of the sample of the other side that is place -k of the line.
    uint8_t beside[kAngles][kMaxSide + 3];

    AngleTables() {
        for (int f = 0; f < 32; ++f)
            for (int k = 0; k < 4; ++k) taps[f][k] = int8_t(taps_of(f).weight[k]);
        for (int angle = 0; angle < kAngles; ++angle) {
            const int steep = -angle_slope(angle);
            for (int k = 1; steep > 0 && k <= ((kMaxSide * steep) >> 5) + 2; ++k)
                beside[angle][k] = uint8_t(smaller(side_place(k, steep) - 1, UINT8_MAX));
        }
    }
};

const AngleTables& tables() {
    static const AngleTables made;
    return made;
}

// Predicts a row by an angle of the vertical family; blocks of the horizontal family are
// transposed. For byte samples, sums of the weighted samples fit 16 bits.
template <class Lanes, class Samples, class Sample>
MMP_INLINE void interpolate(const Wide<Sample>* from, const int8_t* taps, int width,
                            Depth<Sample> depth, Sample* out) {
    constexpr int kLanes = int(sizeof(Samples) / sizeof(Sample));
    const Wide<Sample> most = Wide<Sample>(depth.most());
    for (int first = 0; first < width; first += kLanes) {
        Lanes sum = Lanes{} + Wide<Sample>{32};
        for (int tap = 0; tap < 4; ++tap) {
            Lanes samples;
            memcpy(&samples, from + first + tap, sizeof samples);
            sum += samples * Wide<Sample>{taps[tap]};
        }
        sum >>= 6;
        sum = sum < 0 ? Lanes{} : sum;
        sum = sum > most ? Lanes{} + most : sum;
        const Samples row = __builtin_convertvector(sum, Samples);
        memcpy(out + first, &row, sizeof row);
    }
}

template <int Count, class Sample>
MMP_INLINE void interpolate_by(const Wide<Sample>* from, const int8_t* taps, int width,
                               Depth<Sample> depth, Sample* out) {
    using R = Row<Sample, Count>;
    interpolate<typename R::Lanes, typename R::Samples>(from, taps, width, depth, out);
}

template <class Sample>
MMP_SIMD_LEVELS void predict_angle(int angle, const Wide<Sample>* main, const Wide<Sample>* side,
                                   int corner, int height, int width, Depth<Sample> depth,
                                   const AngleTables& tables, Sample* out) {
    constexpr int kBefore = 2 * kMaxSide;
    Wide<Sample> line[kBefore + 2 * kMaxSide + 8];
    Wide<Sample>* r = line + kBefore;
    const int length = height + width;
    r[0] = Wide<Sample>(corner);
    for (int i = 0; i < length; ++i) r[i + 1] = main[i];
    for (int i = length + 1; i < length + 4; ++i) r[i] = main[length - 1];
    const int slope = angle_slope(angle);
    if (slope < 0) {
        const uint8_t* beside = tables.beside[angle];
        for (int k = 1; k <= ((height * -slope) >> 5) + 2; ++k)
            r[-k] = side[smaller(beside[k], length - 1)];
    }
    for (int i = 0; i < height; ++i) {
        const int position = (i + 1) * slope;
        const int8_t* taps = tables.taps[position & 31];
        const Wide<Sample>* from = r + (position >> 5);
        Sample* row = out + i * width;
        if (width == 4)
            interpolate_by<4>(from, taps, width, depth, row);
        else if (width == 8)
            interpolate_by<8>(from, taps, width, depth, row);
        else
            interpolate_by<16>(from, taps, width, depth, row);
    }
}

template <class Sample>
MMP_SIMD_LEVELS void transpose(const Sample* in, int height, int width, Sample* out) {
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j) out[j * height + i] = in[i * width + j];
}

template <class Sample>
MMP_SIMD_LEVELS void predict_plane(const References<Sample>& r, int a, int b, Sample* out) {
    const int height = 1 << a, width = 1 << b;
    for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j)
            out[i * width + j] = Sample(planar_sample(i, j, a, b, r.above[j], r.left[i],
                                                      r.above[width], r.left[height]));
}

}  // namespace

template <class Sample>
References<Sample> References<Sample>::smoothed(int length) const {
    using Value = Wide<Sample>;
    References out;
    for (int i = 0; i < length; ++i) {
        const int after = i + 1 < length ? i + 1 : i;
        out.above[i] = Value(mmp::smoothed(i ? above[i - 1] : corner, above[i], above[after]));
        out.left[i] = Value(mmp::smoothed(i ? left[i - 1] : corner, left[i], left[after]));
    }
    out.corner = Value(mmp::smoothed(above[0], corner, left[0]));
    return out;
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
            predict_angle(angle, r.above, r.left, r.corner, height, width, depth, tables(), out);
        } else {
            Sample turned[kMaxBlockArea];
            predict_angle(angle, r.left, r.above, r.corner, width, height, depth, tables(),
                          turned);
            transpose(turned, width, height, out);
        }
    }
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template struct References<Sample>;                                                            \
    template void predict_block(int, const References<Sample>&, const References<Sample>&, int,    \
                                int, Depth<Sample>, Sample*);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

}  // namespace mmp
