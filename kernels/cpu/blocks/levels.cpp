#include "cpu/blocks/levels.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "cpu/blocks/transform.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

Scan make_scan(int a, int b) {
    Scan scan;
    scan.rows = smaller(1 << a, kCodedSide);
    scan.columns = smaller(1 << b, kCodedSide);
    scan.count = scan.rows * scan.columns;
    scan.place.resize(scan.count);
    std::iota(scan.place.begin(), scan.place.end(), 0);
    const auto frequency = [&](int place) {
        return ((place / scan.columns) << b) + ((place % scan.columns) << a);
    };
    std::stable_sort(scan.place.begin(), scan.place.end(),
                     [&](int p, int q) { return frequency(p) < frequency(q); });
    scan.number.resize(scan.count);
    for (int k = 0; k < scan.count; ++k) scan.number[scan.place[k]] = uint16_t(k + 1);
    for (const int place : scan.place) {
        const int i = place / scan.columns, j = place % scan.columns;
        scan.margin.push_back(uint16_t(i * MagnitudeSums::kStride + j));
        scan.frequency_class.push_back(uint8_t(frequency_class(i, j)));
        for (int family = 0; family < kFamilies; ++family) {
            const int direction = direction_of(family, i, j), frequency = fine_frequency(i, j);
            scan.fine_place[family].push_back(uint8_t(direction * kFrequencies + frequency));
            scan.fine_steps[family].push_back(
                {uint16_t(place), scan.margin.back(),
                 uint16_t(zero_model(area_class(a, b), coarse_frequency(frequency), 0)),
                 uint16_t(fine_zero_model(0, direction, frequency, 0)),
                 uint16_t(fine_one_model(0, frequency, 0)),
                 uint16_t(fine_remainder_models(frequency, 0))});
        }
        const int k = int(scan.neighbours.size());
        Scan::Neighbours& around = scan.neighbours.emplace_back();
        for (const auto& [down, right] : {std::pair{0, 1}, {0, 2}, {1, 0}, {2, 0}, {1, 1}}) {
            if (i + down >= scan.rows || j + right >= scan.columns) continue;
            const int number = scan.number[place + down * scan.columns + right] - 1;
            scan.span = std::max(scan.span, number - k);
            if (number / Scan::kGroup == k / Scan::kGroup)
                around.recent[around.recents++] = uint8_t(2 * (number - k - 1));
            else
                around.older[around.olders++] = uint16_t(number);
        }
    }
    return scan;
}

void dequantise_dependent(const int16_t* levels, const Scan& scan, int32_t step,
                          int16_t* coefficients) {
    memset(coefficients, 0, scan.count * sizeof *coefficients);
    const int end = end_above(levels, scan.number.data(), scan.count, 0);
    for (int k = end - 1, state = 0; k >= 0; --k) {
        const int place = scan.place[k], level = levels[place], size = level < 0 ? -level : level;
        const int32_t value = dependent_value(size, quantiser_of(state), step);
        coefficients[place] = int16_t(level < 0 ? -value : value);
        state = next_state(state, size);
    }
}

}  // namespace

const std::array<Scan, kShapes> scans = [] {
    std::array<Scan, kShapes> made;
    for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
        for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b)
            made[shape_number(a, b)] = make_scan(a, b);
    return made;
}();

MMP_SIMD_LEVELS int end_above(const int16_t* values, const uint16_t* numbers, int count,
                              int32_t least) {
    const Shorts16 upper = Shorts16{} + int16_t(smaller(least, INT16_MAX));
    Shorts16 ends{};
    for (int i = 0; i < count; i += 16) {
        Shorts16 value, number;
        memcpy(&value, values + i, sizeof value);
        memcpy(&number, numbers + i, sizeof number);
        number = ((value > upper) | (value < -upper)) ? number : Shorts16{};
        ends = number > ends ? number : ends;
    }
    int16_t end = 0;
    for (int lane = 0; lane < 16; ++lane) end = ends[lane] > end ? ends[lane] : end;
    return end;
}

void dequantise(const int16_t* levels, int a, int b, const BlockTools& tools,
                int16_t* coefficients) {
    const Scan& scan = scan_of(a, b);
    if (tools.dependent)
        dequantise_dependent(levels, scan, tools.step, coefficients);
    else
        dequantise(levels, scan.count, tools.step, coefficients);
}

}  // namespace mmp
