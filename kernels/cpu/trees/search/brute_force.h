// Exhaustive search: compares every segment with every element. Benchmarks and tests compare the
// pruned search with it.
#pragma once

#include <stdint.h>

#include <array>
#include <vector>

#include "cpu/trees/search/costs.h"
#include "cpu/trees/picture.h"

namespace mmp {

class BruteForce {
public:
    BruteForce(const Picture& picture, const Costs& costs) : picture_(picture), costs_(costs) {}

    // Finds the tree of least cost for 16x16 samples; nodes in coding order.
    void find_tree(const uint8_t* source, const Fragment& fragment, std::vector<Node>& nodes);

private:
    struct Segment {
        int64_t cost;
        int flag;
        uint32_t index;
    };

    Segment search(const uint8_t* source, const Fragment& fragment, int scale, int k, int l);
    void collect(int scale, int k, int l, std::vector<Node>& nodes) const;

    const Picture& picture_;
    const Costs& costs_;
    std::array<Segment, kSegments> segments_;
};

}  // namespace mmp
