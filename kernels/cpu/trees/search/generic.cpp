// Kernel without SIMD instructions, for any processor.
#include <cstring>

#include "cpu/trees/search/kernel.h"

namespace {

struct Generic {
    struct Cost {
        int32_t lanes[kLanes];
        uint32_t at_most(int32_t bound) const {
            uint32_t result = 0;
            for (int lane = 0; lane < kLanes; ++lane)
                result |= static_cast<uint32_t>(lanes[lane] <= bound) << lane;
            return result;
        }
        void store(int32_t* out) const { std::memcpy(out, lanes, sizeof lanes); }
    };

    using Dot = Cost;

    struct Costs {
        const ClassCosts& costs;

        explicit Costs(const ClassCosts& class_costs) : costs(class_costs) {}

        Cost total(const int32_t* own, const uint8_t* classes, const Dot& dot) const {
            Cost result;
            for (int lane = 0; lane < kLanes; ++lane) {
                const int c = costs.uniform ? 0 : classes[lane];
                result.lanes[lane] = own[lane] + costs.class_cost[c] -
                                     dot.lanes[lane] * (1 << SearchIndex::kDotShift);
            }
            return result;
        }
    };

    template <int Chunks>
    static Dot dot(const uint8_t* samples, const uint8_t* query) {
        Dot result{};
        for (int i = 0; i < Chunks; ++i) {
            int16_t q[2], elements[2 * kLanes];
            std::memcpy(q, query + 4 * i, sizeof q);
            std::memcpy(elements, samples + 64 * i, sizeof elements);
            for (int lane = 0; lane < kLanes; ++lane)
                result.lanes[lane] += elements[2 * lane] * q[0] + elements[2 * lane + 1] * q[1];
        }
        return result;
    }
};

}  // namespace

namespace mmp {

extern const SearchKernel search_generic;
const SearchKernel search_generic{"generic", SampleLayout::kPairs, [] { return true; },
                                  search_any<Generic>};

}  // namespace mmp
