// Block sizes (scales), partition types and flag contexts. Source: sections "Scales and partition"
// and "Flags" of docs/format/format.md.
#pragma once

#include "shared/host_device.h"

namespace mmp {

constexpr int kFragmentLog2 = 4;
constexpr int kFragmentSize = 1 << kFragmentLog2;
constexpr int kFragmentArea = kFragmentSize * kFragmentSize;
constexpr int kLevels = kFragmentLog2 + 1;
constexpr int kScales = kLevels * kLevels;
constexpr int kPixelScale = kScales - 1;
constexpr int kMapSize = (1 << kLevels) - 1;
constexpr int kSegments = kMapSize * kMapSize;
constexpr int kMidLevel = 128;
constexpr int kGreyLevels = 256;

enum Flag { kLeaf = 0, kColumns = 1, kRows = 2 };
constexpr int kFlags = 3;

constexpr int kFlagContexts = 8;
constexpr int kOutside = -1;

enum Partition { kFlexible = 0, kDyadic = 1 };

MMP_HD constexpr int scale_n(int scale) { return scale / kLevels; }
MMP_HD constexpr int scale_m(int scale) { return scale % kLevels; }
MMP_HD constexpr int scale_number(int n, int m) { return m + kLevels * n; }
MMP_HD constexpr int scale_height(int scale) { return kFragmentSize >> scale_n(scale); }
MMP_HD constexpr int scale_width(int scale) { return kFragmentSize >> scale_m(scale); }
MMP_HD constexpr int area_log2(int scale) {
    return 2 * kFragmentLog2 - scale_n(scale) - scale_m(scale);
}
MMP_HD constexpr int scale_area(int scale) { return 1 << area_log2(scale); }

MMP_HD constexpr int child_scale(int scale, int flag) {
    return flag == kColumns ? scale + 1 : scale + kLevels;
}

MMP_HD constexpr int scale_distance(int a, int b) {
    const int dn = scale_n(a) - scale_n(b), dm = scale_m(a) - scale_m(b);
    return (dn < 0 ? -dn : dn) + (dm < 0 ? -dm : dm);
}

// Whether a segment of this scale may carry this flag.
MMP_HD constexpr bool flag_allowed(int scale, int flag, int partition) {
    const int n = scale_n(scale), m = scale_m(scale);
    const bool dyadic = partition == kDyadic;
    if (flag == kLeaf) return true;
    if (flag == kColumns) return m < kLevels - 1 && (!dyadic || n == m);
    return n < kLevels - 1 && (!dyadic || n < m);
}

// Whether the partition contains segments of this scale.
MMP_HD constexpr bool scale_reachable(int scale, int partition) {
    const int n = scale_n(scale), m = scale_m(scale);
    return partition == kFlexible || m == n || m == n + 1;
}

// Index of segment (k, l) of a scale in the host's array of all segments.
MMP_HD constexpr int segment_address(int scale, int k, int l) {
    return (k + (1 << scale_n(scale)) - 1) * kMapSize + l + (1 << scale_m(scale)) - 1;
}

// Context of a flag, from the scales of two leaves outside the fragment: above it at the node's
// middle column, and left of it at the node's middle row.
MMP_HD constexpr int flag_context(int scale, int above, int left) {
    const int n = scale_n(scale), m = scale_m(scale);
    int finer = 0;
    if (above != kOutside) finer += (scale_n(above) > n) + (scale_m(above) > m);
    if (left != kOutside) finer += (scale_n(left) > n) + (scale_m(left) > m);
    int context = finer < 3 ? finer : 3;
    if (above != kOutside && left != kOutside && scale_m(above) > m && !(scale_n(left) > n))
        context += 4;
    return context;
}

}  // namespace mmp
