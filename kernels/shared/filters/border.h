// The border filter: smooths the steps between the tiles of a picture. Source: section "Border
// filter" of docs/format/format.md.
#pragma once

#include "shared/filters/base.h"

namespace mmp {

// Samples of a line on each side of a border.
constexpr int kBorderReach = 8;

// An area of a picture, the planes of a pixel together.
template <class Sample>
struct BorderPicture {
    Sample* samples;
    int64_t height, width;
    int planes, colours;   // the first `colours` planes, 1 or 3, are filtered
    const uint8_t* fixed;  // not 0 for each pixel that keeps its samples; null if there is none
};

constexpr int kBorderClasses = 6;
// Largest activity of the classes but the last, in 1/256 of a step.
MMP_TABLE int kBorderActivities[kBorderClasses - 1] = {5, 16, 40, 128, 384};
// Part of the step between the tiles that is added to a sample, in 1/64, by its distance from the
// border.
MMP_TABLE int kBorderWeights[kBorderClasses][kBorderReach] = {
    {29, 23, 18, 14, 11, 8, 6, 4}, {27, 18, 11, 6, 3, 1}, {26, 13, 5, 1}, {22, 6}, {18}, {10}};
constexpr int kBorderFractionBits = 9;

struct BorderStrength {
    int32_t activities[kBorderClasses - 1];
    int32_t most;  // largest step that is smoothed

    MMP_HD BorderStrength(int64_t step, int depth) : most(int32_t((3 * step << depth) >> 12)) {
        for (int i = 0; i < kBorderClasses - 1; ++i)
            activities[i] = int32_t((kBorderActivities[i] * step << depth) >> 18);
    }
};

// Samples across a border, times 4, from the border outwards: before it (0) and behind it (1).
using BorderLine = int32_t[2][kBorderReach];
// What is added to the samples before a border, and subtracted behind it, in 1/512.
using BorderCorrections = int32_t[kBorderReach];

// Returns the value of least magnitude if all have one sign, else 0.
MMP_HD constexpr int32_t nearest_to_zero(int32_t a, int32_t b, int32_t c) {
    return larger(smaller(smaller(a, b), c), 0) + smaller(larger(larger(a, b), c), 0);
}

MMP_HD void find_corrections(const BorderLine& line, const BorderStrength& strength,
                             BorderCorrections& out) {
    int32_t activity = 0;
    for (const auto& side : line)
        for (int k = 0; k < 3; ++k) activity += magnitude(side[k] - 2 * side[k + 1] + side[k + 2]);
    int own = 0;
    while (own < kBorderClasses - 1 && activity > strength.activities[own]) ++own;
    const int32_t *before = line[0], *behind = line[1];
    int32_t step = 2 * (behind[0] - before[0]);
    step -= nearest_to_zero(before[0] - before[2], behind[2] - behind[0], step);
    step = larger(-strength.most, smaller(step, strength.most));
    for (int k = 0; k < kBorderReach; ++k) out[k] = kBorderWeights[own][k] * step;
}

// Filters lines across a border, that before number `border` of `length` pixels along each line.
template <class Sample>
class LinesAcross {
public:
    MMP_HD LinesAcross(const BorderPicture<Sample>& picture, const BorderStrength& strength,
                       int64_t border, int64_t length, int64_t stride, int low, int high)
        : picture_(picture), strength_(strength), low_(low), high_(high) {
        for (int k = 0; k < kBorderReach; ++k) {
            inside_[0][k] = border - 1 - k >= 0;
            inside_[1][k] = border + k < length;
            places_[0][k] = (inside_[0][k] ? border - 1 - k : 0) * stride;
            places_[1][k] = (inside_[1][k] ? border + k : length - 1) * stride;
        }
    }

    // Filters the line that begins at pixel `first`.
    MMP_HD void line(int64_t first) const {
        if (picture_.fixed != nullptr)
            for (const auto& side : places_)
                for (const int64_t place : side)
                    if (picture_.fixed[first + place] != 0) return;
        BorderCorrections luma;
        BorderLine own;
        if (picture_.colours == 1) {
            read(first, [](const Sample* x) { return 4 * x[0]; }, own);
            find_corrections(own, strength_, luma);
            add(first, 0, [&](int k) { return luma[k]; });
            return;
        }
        BorderCorrections co, cg;
        read(first, [](const Sample* x) { return x[0] + 2 * x[1] + x[2]; }, own);
        find_corrections(own, strength_, luma);
        read(first, [](const Sample* x) { return 2 * x[0] - 2 * x[2]; }, own);
        find_corrections(own, strength_, co);
        read(first, [](const Sample* x) { return 2 * x[1] - x[0] - x[2]; }, own);
        find_corrections(own, strength_, cg);
        add(first, 0, [&](int k) { return luma[k] - cg[k] + co[k]; });
        add(first, 1, [&](int k) { return luma[k] + cg[k]; });
        add(first, 2, [&](int k) { return luma[k] - cg[k] - co[k]; });
    }

private:
    template <class Value>
    MMP_HD void read(int64_t first, const Value& value, BorderLine& own) const {
        for (int side = 0; side < 2; ++side)
            for (int k = 0; k < kBorderReach; ++k)
                own[side][k] =
                    value(picture_.samples + (first + places_[side][k]) * picture_.planes);
    }
    template <class Correction>
    MMP_HD void add(int64_t first, int plane, const Correction& correction) const {
        constexpr int kHalf = 1 << (kBorderFractionBits - 1);
        for (int k = 0; k < kBorderReach; ++k) {
            const int32_t more = correction(k);
            for (int side = 0; side < 2; ++side) {
                if (!inside_[side][k]) continue;
                Sample& x =
                    picture_.samples[(first + places_[side][k]) * picture_.planes + plane];
                const int32_t moved = x + (((side == 0 ? more : -more) + kHalf) >> kBorderFractionBits);
                x = Sample(larger(low_, smaller(moved, high_)));
            }
        }
    }

    const BorderPicture<Sample> picture_;
    const BorderStrength strength_;
    const int32_t low_, high_;
    int64_t places_[2][kBorderReach];  // in pixels from the first one of a line
    bool inside_[2][kBorderReach];
};

}  // namespace mmp
