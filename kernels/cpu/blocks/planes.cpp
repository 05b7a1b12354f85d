#include "cpu/blocks/planes.h"

#include "cpu/blocks/least_squares.h"
#include "cpu/blocks/picture.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

static const int kLabDepth = lab("LAB_DEPTH", 4), kLabRight = lab("LAB_RIGHT", 0),
                 kLabRidge = lab("LAB_RIDGE", 60), kLabTaps = lab("LAB_TAPS", 5), kLabTaps0 = lab("LAB_TAPS0", 1),
                 kLabStep = lab("LAB_STEP", 1), kLabMulti = lab("LAB_MULTI", 0), kLabOther = lab("LAB_OTHER", 1), kLabOther0 = lab("LAB_OTHER0", 1);

constexpr int kMostRegressors = 12;
constexpr int kMostFitted = 8 * (2 * kMaxSide + 8) + 16 * kMaxSide;

// The samples of the fit and their regressors, as differences from the middle level.
template <class Sample>
class PlanesFit {
public:
    using Sum = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;
    int count = 0;

    MMP_SIMD_LEVELS void take(int term, const Sample* from, int length, int step, int middle) {
        for (int i = 0; i < length; i += step)
            values_[term][count + i / step] = int16_t(from[i] - middle);
    }
    MMP_SIMD_LEVELS int64_t sum(int p) const {
        Sum sum = 0;
        for (int i = 0; i < count; ++i) sum += values_[p][i];
        return sum;
    }
    MMP_SIMD_LEVELS int64_t product(int p, int q) const {
        Sum sum = 0;
        for (int i = 0; i < count; ++i) sum += Sum(values_[p][i]) * values_[q][i];
        return sum;
    }
    int16_t values_[kMostRegressors + 1][kMostFitted];
};

}  // namespace

template <class Sample>
void predict_from_planes(const BlockPicture<Sample>& picture, const BlockPlace& block, int mode,
                         int count, Sample* out) {
    const EarlierPlanes<Sample>& planes = *picture.earlier;
    const int y = block.row, x = block.column, h = block.height(), w = block.width();
    const int middle = picture.depth.middle(), extra = picture.depth.extra();
    const ptrdiff_t across = planes.stride();
    const bool wide = mode == kWidePlanes;
    const int taps = wide ? kLabTaps : kLabTaps0, other = wide ? kLabOther : kLabOther0;
    const ptrdiff_t five[] = {0, -across, across, -1, 1, -across - 1, -across + 1, across - 1, across + 1};
    const int terms = taps + (count - 1) * other;
    PlanesFit<Sample> fit;
    const auto learn = [&](int row, int first, int last, int step) {
        if (last <= first) return;
        int t = 0;
        for (int k = 0; k < taps; ++k)
            fit.take(t++, planes.at(0, row, first) + five[k], last - first, step, middle);
        for (int p = 1; p < count; ++p)
            for (int k = 0; k < other; ++k) fit.take(t++, planes.at(p, row, first) + five[k], last - first, step, middle);
        fit.take(t, picture.at(row, first), last - first, step, middle);
        fit.count += (last - first + step - 1) / step;
    };
    int right = x + w, bottom = y + h;
    if (kLabRight) {
        if (y) while (right < x + w + std::max(h, 8) && picture.known(y - 1, right)) right += kUnit;
        if (x) while (bottom < y + h + w && picture.known(bottom, x - 1)) bottom += kUnit;
    }
    const int first = std::max(0, x - kLabDepth);
    const int column_step = w >= 32 ? kLabStep : 1, row_step = h >= 32 ? kLabStep : 1;
    for (int row = std::max(0, y - kLabDepth); row < y; ++row) learn(row, first, right, column_step);
    for (int row = y; row < bottom; row += row_step) learn(row, first, x, 1);
    int64_t sums[kMostRegressors + 1];
    for (int p = 0; p <= terms; ++p) sums[p] = fit.sum(p);
    const int64_t n = fit.count;
    int64_t m[kMostRegressors][kMostRegressors + 1];
    for (int p = 0; p < terms; ++p)
        for (int q = p; q <= terms; ++q) {
            const int64_t value =
                kFitScale * (n * fit.product(p, q) - sums[p] * sums[q]) / (n << 2 * extra);
            m[p][q] = value + (p == q ? kLabRidge * kFitScale : 0);
            if (q < terms) m[q][p] = m[p][q];
        }
    for (int i = 0; i < terms; ++i) {
        for (int k = i; k <= terms; ++k) m[i][k] = limited(m[i][k], kMostValue);
        const int64_t pivot = std::max<int64_t>(m[i][i], kFitScale);
        m[i][i] = pivot;
        for (int r = i + 1; r < terms; ++r) {
            const int64_t f = limited(limited(m[r][i], kMostValue) * 65536 / pivot, kMostFactor);
            for (int k = i; k <= terms; ++k) m[r][k] -= (f * m[i][k]) >> 16;
        }
    }
    int64_t weight[kMostRegressors], offset = sums[terms] * 4096;
    for (int i = terms - 1; i >= 0; --i) {
        int64_t t = m[i][terms] * 4096;
        for (int k = i + 1; k < terms; ++k) t -= m[i][k] * weight[k];
        weight[i] = limited(t / m[i][i], kMostWeight);
        offset -= weight[i] * sums[i];
    }
    using Sum = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;
    Sum start = Sum(offset / n) + 2048;
    Sum row_sums[kMaxSide];
    for (int p = 0; p < terms; ++p) start -= Sum(weight[p]) * middle;
    for (int i = 0; i < h; ++i) {
        std::fill_n(row_sums, w, start);
        int t = 0;
        const auto add = [&](const Sample* from, Sum c) {
            for (int j = 0; j < w; ++j) row_sums[j] += c * from[j];
        };
        for (int k = 0; k < taps; ++k) add(planes.at(0, y + i, x) + five[k], Sum(weight[t++]));
        for (int p = 1; p < count; ++p)
            for (int k = 0; k < other; ++k) add(planes.at(p, y + i, x) + five[k], Sum(weight[t++]));
        for (int j = 0; j < w; ++j)
            out[i * w + j] = Sample(std::clamp<Sum>((row_sums[j] >> 12) + middle, 0,
                                                    picture.depth.most()));
    }
}

template void predict_from_planes(const BlockPicture<uint8_t>&, const BlockPlace&, int, int,
                                  uint8_t*);
template void predict_from_planes(const BlockPicture<uint16_t>&, const BlockPlace&, int, int,
                                  uint16_t*);

}  // namespace mmp
