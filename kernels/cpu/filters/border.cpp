#include "cpu/filters/border.h"

#include <stdlib.h>

#include <algorithm>

namespace mmp {

namespace {

constexpr int kClasses = 6;
// Largest activity of the classes but the last, in 1/256 of a step.
constexpr int kActivities[kClasses - 1] = {5, 16, 40, 128, 384};
// Part of the step between the tiles that is added to a sample, in 1/64, by its distance from the
// border.
constexpr int kWeights[kClasses][kBorderReach] = {
    {29, 23, 18, 14, 11, 8, 6, 4}, {27, 18, 11, 6, 3, 1}, {26, 13, 5, 1}, {22, 6}, {18}, {10}};
constexpr int kFractionBits = 9;

struct Strength {
    int32_t activities[kClasses - 1];
    int32_t most;  // largest step that is smoothed

    Strength(int64_t step, int depth) : most(int32_t((3 * step << depth) >> 12)) {
        for (int i = 0; i < kClasses - 1; ++i)
            activities[i] = int32_t((kActivities[i] * step << depth) >> 18);
    }
};

// Samples across a border, times 4, from the border outwards: before it (0) and behind it (1).
using Line = int32_t[2][kBorderReach];
// What is added to the samples before a border, and subtracted behind it, in 1/512.
using Corrections = int32_t[kBorderReach];

// Returns the value of least magnitude if all have one sign, else 0.
int32_t nearest_to_zero(int32_t a, int32_t b, int32_t c) {
    return std::max(std::min({a, b, c}), 0) + std::min(std::max({a, b, c}), 0);
}

void correct(const Line& line, const Strength& strength, Corrections& out) {
    int32_t activity = 0;
    for (const auto& side : line)
        for (int k = 0; k < 3; ++k) activity += abs(side[k] - 2 * side[k + 1] + side[k + 2]);
    int own = 0;
    while (own < kClasses - 1 && activity > strength.activities[own]) ++own;
    const auto& [before, behind] = line;
    int32_t step = 2 * (behind[0] - before[0]);
    step -= nearest_to_zero(before[0] - before[2], behind[2] - behind[0], step);
    step = std::clamp(step, -strength.most, strength.most);
    for (int k = 0; k < kBorderReach; ++k) out[k] = kWeights[own][k] * step;
}

// Filters lines across a border, that before number `border` of `length` pixels along each line.
template <class Sample>
class Across {
public:
    Across(const BorderPicture<Sample>& picture, const Strength& strength, int64_t border,
           int64_t length, int64_t stride, int low, int high)
        : picture_(picture), strength_(strength), low_(low), high_(high) {
        for (int k = 0; k < kBorderReach; ++k) {
            inside_[0][k] = border - 1 - k >= 0;
            inside_[1][k] = border + k < length;
            places_[0][k] = std::max<int64_t>(border - 1 - k, 0) * stride;
            places_[1][k] = std::min(border + k, length - 1) * stride;
        }
    }

    // Filters the line that begins at pixel `first`.
    void line(int64_t first) const {
        if (picture_.fixed != nullptr)
            for (const auto& side : places_)
                for (const int64_t place : side)
                    if (picture_.fixed[first + place] != 0) return;
        Corrections luma;
        Line own;
        if (picture_.colours == 1) {
            read(first, [](const Sample* x) { return 4 * x[0]; }, own);
            correct(own, strength_, luma);
            add(first, 0, [&](int k) { return luma[k]; });
            return;
        }
        Corrections co, cg;
        read(first, [](const Sample* x) { return x[0] + 2 * x[1] + x[2]; }, own);
        correct(own, strength_, luma);
        read(first, [](const Sample* x) { return 2 * x[0] - 2 * x[2]; }, own);
        correct(own, strength_, co);
        read(first, [](const Sample* x) { return 2 * x[1] - x[0] - x[2]; }, own);
        correct(own, strength_, cg);
        add(first, 0, [&](int k) { return luma[k] - cg[k] + co[k]; });
        add(first, 1, [&](int k) { return luma[k] + cg[k]; });
        add(first, 2, [&](int k) { return luma[k] - cg[k] - co[k]; });
    }

private:
    template <class Value>
    void read(int64_t first, const Value& value, Line& own) const {
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < kBorderReach; ++k)
                own[side][k] =
                    value(picture_.samples + (first + places_[side][k]) * picture_.planes);
    }
    template <class Correction>
    void add(int64_t first, int plane, const Correction& correction) const {
        constexpr int kHalf = 1 << (kFractionBits - 1);
        for (int k = 0; k < kBorderReach; ++k) {
            const int32_t more = correction(k);
            for (int side = 0; side < 2; ++side) {
                if (!inside_[side][k]) continue;
                Sample& x =
                    picture_.samples[(first + places_[side][k]) * picture_.planes + plane];
                const int32_t moved = x + (((side == 0 ? more : -more) + kHalf) >> kFractionBits);
                x = Sample(std::clamp(moved, low_, high_));
            }
        }
    }

    const BorderPicture<Sample> picture_;
    const Strength strength_;
    const int32_t low_, high_;
    int64_t places_[2][kBorderReach];  // in pixels from the first one of a line
    bool inside_[2][kBorderReach];
};

}  // namespace

template <class Sample>
void border_filter(const BorderPicture<Sample>& picture, const BorderGrid& grid, int step,
                   int depth, int first) {
    const Strength strength(step, depth);
    const int64_t height = picture.height, width = picture.width;
    const int last = first + (1 << depth) - 1;
    for (int64_t row = 0; row < height; ++row)
        for (int64_t column = grid.left; column < width; column += grid.size)
            Across<Sample>(picture, strength, column, width, 1, first, last).line(row * width);
    for (int64_t row = grid.top; row < height; row += grid.size) {
        const Across<Sample> across(picture, strength, row, height, width, first, last);
        for (int64_t column = 0; column < width; ++column) across.line(column);
    }
}

template void border_filter(const BorderPicture<uint8_t>&, const BorderGrid&, int, int, int);
template void border_filter(const BorderPicture<uint16_t>&, const BorderGrid&, int, int, int);

}  // namespace mmp
