#include <algorithm>
#include <deque>

#include "cpu/runtime/interrupts.h"
#include "cpu/solvers/subset_sum/subset_sum.h"

namespace mmp {

namespace {

constexpr int64_t kLook = 1 << 18;  // sums between checks of the deadline, about a millisecond

// A set, stored as a change of an earlier set: one item of the front is removed, or one later item
// is added.
struct Change {
    uint32_t from, item;
};

}  // namespace

Subset balanced_subset(const std::vector<int64_t>& weights, int64_t capacity, bool items,
                       int64_t most, Deadline deadline) {
    const int64_t heaviest = *std::max_element(weights.begin(), weights.end());
    const int64_t least = capacity - heaviest + 1;
    int64_t sum = 0;
    uint32_t front = 0;
    while (sum + weights[front] <= capacity) sum += weights[front++];

    // Indexed by sum - least; the reference defines `whole`. A set is represented by the index of
    // its last change.
    std::vector<int32_t> whole(2 * heaviest, 0), before;
    std::vector<uint32_t> sets(items ? 2 * heaviest : 0), sets_before;
    std::deque<Change> changes{{0, 0}};
    const size_t room = static_cast<size_t>(std::clamp<int64_t>(most, 0, UINT32_MAX)) + 1;
    const int64_t middle = capacity - least;
    std::fill_n(whole.begin(), middle + 1, -1);
    whole[sum - least] = front;
    const auto change = [&](int64_t to, int32_t kept, uint32_t from, uint32_t item) {
        whole[to] = kept;
        if (!items || changes.size() > room) return;
        sets[to] = changes.size();
        changes.push_back({from, item});
    };
    for (uint32_t item = front; item < weights.size() && whole[middle] < 0; ++item) {
        const int64_t weight = weights[item];
        before = whole;
        sets_before = sets;
        for (int64_t first = 0; first <= middle; first += kLook) {
            stop_if_over(deadline);
            const int64_t last = std::min(first + kLook - 1, middle);
            for (int64_t one = first; one <= last; ++one)
                if (before[one] > whole[one + weight])
                    change(one + weight, before[one], items ? sets_before[one] : 0, item);
        }
        for (int64_t last = middle + weight; last > middle; last -= kLook) {
            stop_if_over(deadline);
            for (int64_t one = last; one > std::max(last - kLook, middle); --one)
                for (int32_t gone = whole[one] - 1; gone >= before[one]; --gone) {
                    const int64_t rest = one - weights[gone];
                    if (gone > whole[rest]) change(rest, gone, items ? sets[one] : 0, gone);
                }
        }
        if (changes.size() > room) return {-1, {}};
    }
    int64_t best = middle;
    while (whole[best] < 0) --best;
    Subset found{best + least, {}};
    if (!items) return found;
    std::vector<bool> taken(weights.size());
    std::fill_n(taken.begin(), front, true);
    for (uint32_t set = sets[best]; set; set = changes[set].from)
        taken[changes[set].item] = changes[set].item >= front;
    for (size_t i = 0; i < weights.size(); ++i)
        if (taken[i]) found.items.push_back(i);
    return found;
}

}  // namespace mmp
