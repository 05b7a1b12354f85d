#include "cpu/blocks/least_squares.h"

#include <algorithm>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

// Training samples of the fit and their neighbours, as differences from the middle level.
class Fit {
public:
    // Takes the most significant eight bits of `count` samples.
    template <class Sample>
    MMP_SIMD_LEVELS void take(const Sample* from, int count, const ptrdiff_t* neighbours,
                              int extra) {
        for (int p = 0; p < kTerms; ++p)
            for (int i = 0; i < count; ++i)
                values_[p][count_ + i] = int16_t((from[neighbours[p] + i] >> extra) - kMidLevel);
        count_ += count;
    }
    // Writes the normal equations: row p holds the sums of products of neighbour p with neighbours
    // p, p + 1, ... and with the sample. Only the upper triangle is computed.
    MMP_SIMD_LEVELS void sums(int32_t (*out)[kTerms]) const {
        for (int p = 0; p < kTaps; ++p)
            for (int q = p; q < kTerms; ++q) {
                int32_t sum = 0;
                for (int i = 0; i < count_; ++i) sum += values_[p][i] * values_[q][i];
                out[p][q] = sum;
            }
    }

private:
    static constexpr int kMost = 6 * (kMaxSide + 12) + 6 * kMaxSide;
    int16_t values_[kTerms][kMost];
    int count_ = 0;
};

}  // namespace

template <class Sample>
void predict_least_squares(const BlockPicture<Sample>& picture, const BlockPlace& block,
                           Sample* out) {
    const int y = block.row, x = block.column, h = block.height(), w = block.width();
    const int middle = picture.depth.middle();
    const ptrdiff_t across = picture.stride();
    const ptrdiff_t neighbours[kTerms] = {-1, -across, -across - 1, -across + 1, -2,
                                           -2 * across, 0};
    Fit fit;
    const auto learn = [&](int row, int first, int last) {
        if (last > first) 
            fit.take(picture.at(row, first), last - first, neighbours, picture.depth.extra());
    };
    // All samples above and left of the block are decoded; to its right, only some units are.
    const auto known_to = [&](int row) {
        int column = x + w;
        while (column < x + w + kFitReach + 1 && picture.known(row, column)) column += kUnit;
        return column;
    };
    const int first = std::max(2, x - kFitReach);
    for (int row = std::max(2, y - kFitReach); row < y; ++row)
        learn(row, first,
              std::min({picture.width - 1, x + w + kFitReach, known_to(row), known_to(row - 1) - 1}));
    for (int row = y; row < y + h; ++row) learn(row, first, row == y ? x : x - 1);
    int32_t sums[kTaps][kTerms];
    fit.sums(sums);
    int64_t m[kTaps][kTaps + 1];
    for (int p = 0; p < kTaps; ++p)
        for (int q = 0; q <= kTaps; ++q)
            m[p][q] = (int64_t{q < p ? sums[q][p] : sums[p][q]} + (p == q ? kDiagonal : 0)) * kFitScale;
    int64_t weight[kTaps];
    solve_fit(m, kTaps, weight);
    // Differences in 1/16 of a sample's unit, for the block, two rows above it, two columns left of
    // it and one column right of it.
    int32_t values[(kMaxSide + 2) * (kMaxSide + 3)];
    const int row_length = w + 3;
    int32_t* v = values + 2 * row_length + 2;
    const auto decoded = [&](int row, int column) {
        return (*picture.at(row, column) - middle) * 16;
    };
    for (int i = -2; i < 0; ++i) {
        for (int j = -2; j < w; ++j) v[i * row_length + j] = decoded(y + i, x + j);
        v[i * row_length + w] = picture.known(y + i, x + w) ? decoded(y + i, x + w) : v[i * row_length + w - 1];
    }
    for (int i = 0; i < h; ++i)
        for (int j = -2; j < 0; ++j) v[i * row_length + j] = decoded(y + i, x + j);
    using Sum = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;
    const Sum c[kTaps] = {Sum(weight[0]), Sum(weight[1]), Sum(weight[2]),
                          Sum(weight[3]), Sum(weight[4]), Sum(weight[5])};
    for (int i = 0; i < h; ++i) {
        for (int j = 0; j < w; ++j) {
            const int32_t* n = v + i * row_length + j;
            const Sum sum = c[0] * n[-1] + c[1] * n[-row_length] + c[2] * n[-row_length - 1] +
                            c[3] * n[-row_length + 1] + c[4] * n[-2] + c[5] * n[-2 * row_length];
            const int32_t value = fitted_value(sum, middle);
            v[i * row_length + j] = value;
            out[i * w + j] = Sample(fitted_sample(value, middle));
        }
        v[i * row_length + w] = v[i * row_length + w - 1];
    }
}

template void predict_least_squares(const BlockPicture<uint8_t>&, const BlockPlace&, uint8_t*);
template void predict_least_squares(const BlockPicture<uint16_t>&, const BlockPlace&, uint16_t*);

}  // namespace mmp
