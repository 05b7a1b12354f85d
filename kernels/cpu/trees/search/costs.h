// Lagrangian costs of flags and indices while one fragment is searched, in 1/16 squared error.
#pragma once

#include <stdint.h>

#include <array>
#include <utility>
#include <vector>

#include "cpu/trees/picture.h"
#include "cpu/trees/search/index.h"

namespace mmp {

struct RateOptions {
    int64_t lambda_fixed = 0;  // in 2^-16 squared error per bit
    bool log2_rates = false;   // rate of an index is log2(size of dictionary)
};

class Costs {
public:
    Costs(const Picture& picture, const RateOptions& options);

    // Sets lambda; returns whether it changed. Elements that were added before keep their old costs
    // until they are updated.
    bool weigh(int64_t lambda_fixed) {
        return std::exchange(options_.lambda_fixed, lambda_fixed) != lambda_fixed;
    }

    // Computes the costs of all symbols from the models. Call before each fragment.
    void refresh();

    const std::vector<int>& scales() const { return scales_; }  // scales in the partition

    // Part of an index's cost that depends on the element's count; its class costs extra.
    int32_t own(int scale, uint32_t element) const;
    // Part of a copy's cost that depends on the number of places in its area.
    int32_t place(uint32_t places) const { return cost_of(rates_[places]); }
    const ClassCosts& by_class(int scale) const { return class_costs_[scale]; }
    // Cost of the class and the area of a copy of this scale, if copies are possible.
    const ClassCosts& of_copies(int scale) const { return copy_costs_[scale]; }
    int32_t index(int scale, uint32_t element) const {
        const ClassCosts& costs = class_costs_[scale];
        const int c = costs.uniform ? 0 : picture_.dictionaries[scale]->element_class(element);
        return costs.class_cost[c] + own(scale, element);
    }

    int64_t flag(const Fragment& fragment, int scale, int k, int l, int flag) const {
        return flag_cost_[picture_.context(fragment, scale, k, l)][scale][flag];
    }

    // Lower bound of the cost of any tree of a segment of this scale.
    int64_t least_tree(int scale) const { return least_tree_[scale]; }

private:
    int32_t cost_of(int64_t rate) const {
        return static_cast<int32_t>(lagrangian(rate, options_.lambda_fixed));
    }
    void refresh_classes(int scale);
    void refresh_flags(int scale);

    const Picture& picture_;
    RateOptions options_;
    const RateTable& rates_ = RateTable::get();
    std::vector<int> scales_;
    std::array<ClassCosts, kScales> class_costs_, copy_costs_;
    std::array<std::array<std::array<int64_t, kFlags>, kScales>, kFlagContexts> flag_cost_;
    std::array<int64_t, kScales> least_tree_;
};

}  // namespace mmp
