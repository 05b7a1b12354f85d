// A plane whose samples are predicted one by one. Its margins give every sample all its neighbours.
// Source: section "Lossless samples" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

// Places of the regressors in the own plane and in each earlier plane: rows and columns.
constexpr int kPlaces[22][2] = {{0, -1},  {-1, 0},  {-1, -1}, {-1, 1},  {0, -2},  {-2, 0},
                                {-1, -2}, {-1, 2},  {-2, -1}, {-2, 1},  {-2, -2}, {-2, 2},
                                {0, -3},  {-3, 0},  {-1, -3}, {-1, 3},  {-3, -1}, {-3, 1},
                                {-2, 3},  {-2, -3}, {-3, 2},  {-3, -2}};
constexpr int kOtherPlaces[20][2] = {{0, 0},  {0, -1}, {-1, 0},  {0, 1},  {1, 0},
                                     {-1, -1}, {-2, 0}, {0, -2},  {0, 2},  {-1, 1},
                                     {1, -1}, {1, 1},  {-1, -2}, {-1, 2}, {1, -2},
                                     {1, 2},  {-2, -1}, {-2, 1},  {-2, -2}, {-2, 2}};

// How many regressors a predictor has in its own plane and in each earlier plane.
struct RegressorCounts {
    int own, of_earlier[2];
    constexpr int all() const { return own + of_earlier[0] + of_earlier[1]; }
};
// By the number of earlier planes.
constexpr RegressorCounts kNarrow[3] = {{18, {0, 0}}, {6, {9, 0}}, {6, {9, 6}}};
constexpr RegressorCounts kWide[3] = {{18, {0, 0}}, {10, {20, 0}}, {10, {20, 9}}};
constexpr RegressorCounts kNear[3] = {{6, {0, 0}}, {4, {3, 0}}, {4, {2, 2}}};

// The mean of four neighbours.
MMP_INLINE int level_at(const int32_t* here, int stride) {
    return (here[-1] + here[-stride] + here[-stride - 1] + here[-stride + 1] + 2) >> 2;
}

class LosslessPlane {
public:
    static constexpr int kAbove = 3, kBeside = 3, kBelow = 1;
    static constexpr int kBeyond = 8;  // samples that vectors load after the last one

    LosslessPlane(int height, int width, int most)
        : most(most),
          height_(height),
          width_(width),
          stride_(width + 2 * kBeside),
          samples_(zeroed<int32_t>(size_t(height + kAbove + kBelow) * stride_ + kBeyond)),
          errors_(zeroed<int32_t>(size_t(height + kAbove + kBelow) * stride_)) {
        std::fill_n(samples_.get(), kAbove * stride_ + kBeside, (most + 1) >> 1);
    }

    void begin_row(int row) {
        if (row) std::fill(sample(row, -kBeside), sample(row, 0), *sample(row - 1, 0));
    }
    void end_row(int row) {
        int32_t* end = sample(row, width_);
        std::fill(end, end + kBeside, end[-1]);
        if (row == height_ - 1)
            std::copy(sample(row, -kBeside), end + kBeside, sample(row + 1, -kBeside));
    }

    int32_t* sample(int row, int column) { return &samples_[place(row, column)]; }
    const int32_t* sample(int row, int column) const { return &samples_[place(row, column)]; }
    // The difference between a sample and its fitted prediction, rounded to a sample's unit.
    int32_t* error(int row, int column) { return &errors_[place(row, column)]; }
    const int32_t* error(int row, int column) const { return &errors_[place(row, column)]; }

    int height() const { return height_; }
    int width() const { return width_; }
    int stride() const { return stride_; }

    const int most;  // largest sample
    bool noisy = false;  // whether few samples are repeated

private:
    size_t place(int row, int column) const {
        return size_t(row + kAbove) * stride_ + column + kBeside;
    }

    int height_, width_, stride_;
    Zeroed<int32_t> samples_, errors_;
};

}  // namespace mmp
