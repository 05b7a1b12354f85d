#include "cpu/blocks/levels.h"

#include <algorithm>
#include <array>
#include <numeric>

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
        scan.margin.push_back(uint16_t(i * (scan.columns + 2) + j));
        scan.frequency_class.push_back(uint8_t(frequency_class(i, j)));
    }
    return scan;
}

}  // namespace

const std::array<Scan, kShapes> scans = [] {
    std::array<Scan, kShapes> made;
    for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
        for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b)
            made[shape_number(a, b)] = make_scan(a, b);
    return made;
}();

}  // namespace mmp
