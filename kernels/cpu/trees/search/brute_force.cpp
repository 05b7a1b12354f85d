#include "cpu/trees/search/brute_force.h"

namespace mmp {

BruteForce::Segment BruteForce::search(const uint8_t* source, const Fragment& fragment,
                                       int scale, int k, int l) {
    const Dictionary& dictionary = *picture_.dictionaries[scale];
    const int height = scale_height(scale), width = scale_width(scale);
    const uint8_t* segment = source + k * height * kFragmentSize + l * width;
    Segment best{INT64_MAX, kLeaf, 0};
    for (uint32_t index = 0; index < dictionary.size(); ++index) {
        const uint8_t* element = dictionary.element(index);
        int32_t distortion = 0;
        for (int row = 0; row < height; ++row)
            for (int column = 0; column < width; ++column) {
                const int difference =
                    segment[row * kFragmentSize + column] - element[row * width + column];
                distortion += difference * difference;
            }
        const int64_t cost = (int64_t{distortion} << kCostFractionBits) + costs_.index(scale, index);
        if (cost < best.cost) best = {cost, kLeaf, index};
    }
    best.cost += costs_.flag(fragment, scale, k, l, kLeaf);
    return best;
}

void BruteForce::find_tree(const uint8_t* source, const Fragment& fragment,
                           std::vector<Node>& nodes) {
    for (auto reached = costs_.scales().rbegin(); reached != costs_.scales().rend(); ++reached) {
        const int scale = *reached;
        for (int k = 0; k < 1 << scale_n(scale); ++k)
            for (int l = 0; l < 1 << scale_m(scale); ++l) {
                Segment best = search(source, fragment, scale, k, l);
                for (const int flag : {kColumns, kRows}) {
                    if (!flag_allowed(scale, flag, picture_.tools.partition)) continue;
                    int64_t cost = costs_.flag(fragment, scale, k, l, flag);
                    for (int half = 0; half < 2; ++half) {
                        const auto [row, column] = child_place(k, l, flag, half);
                        cost += segments_[segment_address(child_scale(scale, flag), row, column)].cost;
                    }
                    if (cost < best.cost) best = {cost, flag, kNoIndex};
                }
                segments_[segment_address(scale, k, l)] = best;
            }
    }
    nodes.clear();
    collect(0, 0, 0, nodes);
}

void BruteForce::collect(int scale, int k, int l, std::vector<Node>& nodes) const {
    const Segment& segment = segments_[segment_address(scale, k, l)];
    nodes.push_back({scale, k, l, segment.flag, segment.index});
    if (segment.flag == kLeaf) return;
    for (int half = 0; half < 2; ++half) {
        const auto [row, column] = child_place(k, l, segment.flag, half);
        collect(child_scale(scale, segment.flag), row, column, nodes);
    }
}

}  // namespace mmp
