// Subset sum by a bit set of sums. Items are added in groups whose weights fit the cache. Within a
// group, the items form a pipeline: each moves down the bit set behind the previous item, at a
// distance of its weight, so that it reads finished words. Groups form a pipeline in the same way,
// one per thread.
#include <string.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <type_traits>

#include "cpu/runtime/interrupts.h"
#include "cpu/solvers/subset_sum/subset_sum.h"
#include "cpu/solvers/subset_sum/row.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

namespace {

constexpr int64_t kTileWords = 2048;          // 16 KiB: words of one item before the next item
constexpr int64_t kGroupWords = 1 << 16;      // 512 KiB: most words that the items of a group span
constexpr int64_t kGroupsOfThread = 4;        // least groups per thread, for load balancing
constexpr int kSpins = 2000;
constexpr int64_t kNever = INT64_MAX;

constexpr int64_t rounded_up(int64_t words) { return (words + kRowWords - 1) / kRowWords * kRowWords; }

struct Group {
    int64_t first, last;  // items first to last - 1
    int64_t depth;        // lag of its last item behind the start of a tile, in words
    std::atomic<int64_t> finished{kNever};  // words from this one up are finished

    Group(int64_t first, int64_t last, int64_t depth) : first(first), last(last), depth(depth) {}
    Group(Group&& other) : Group(other.first, other.last, other.depth) {}
};

// Bit set of the sums up to `limit`, with the maker of each sum (the item that first set its bit);
// Item is void without makers.
template <class Item>
class Table {
public:
    Table(const std::vector<int64_t>& weights, int64_t target, int64_t limit, int64_t floor,
          Deadline deadline)
        : weights_(weights),
          target_(target),
          limit_(limit),
          deadline_(deadline),
          words_(rounded_up(limit / 64 + 1)),
          memory_(zeroed<uint64_t>(words_ + 2 * kRowWords)),
          bits_(memory_.get() + kRowWords) {
        if constexpr (!std::is_void_v<Item>) makers_ = zeroed<Item>(words_ * 64);
        bits_[0] = 1;
        int64_t before = 0, after = 0;
        for (int64_t weight : weights) after += weight;
        for (int64_t weight : weights) {
            before += weight;
            after -= weight;
            // Sums that all later items together cannot raise to the floor are skipped.
            lows_.push_back(std::max<int64_t>(floor - after, 0) / 64 / kRowWords * kRowWords);
            highs_.push_back(rounded_up(std::min(before, limit) / 64 + 1));
        }
    }

    void fill(ThreadTeam& team, int threads) {
        const int64_t count = weights_.size();
        const int64_t most = std::max<int64_t>(1, count / (kGroupsOfThread * threads));
        // A group spans at most the whole bit set, so a short bit set takes few tiles.
        const int64_t deepest = std::clamp(words_, kTileWords, kGroupWords);
        for (int64_t first = 0; first < count;) {
            int64_t last = first, depth = 0;
            while (last < count && last - first < most &&
                   (last == first || depth + lag(last) <= deepest))
                depth += lag(last++);
            groups_.emplace_back(first, last, depth);
            first = last;
        }
        std::atomic<size_t> next{0};
        team.run(threads, [&](uint32_t) {
            for (size_t group = next++; group < groups_.size(); group = next++) sweep(group);
        });
        if (stopped_) throw Interrupted();
        if (out_of_time_) throw OutOfTime();
    }

    int64_t wanted() const {
        for (int64_t sum = target_; sum <= limit_; ++sum)
            if (has(sum)) return sum;
        int64_t sum = target_ - 1;
        while (!has(sum)) --sum;
        return sum;
    }

    std::vector<int64_t> items_of(int64_t sum) const {
        std::vector<int64_t> items;
        while (sum) {
            items.push_back(makers_[sum]);
            sum -= weights_[items.back()];
        }
        std::reverse(items.begin(), items.end());
        return items;
    }

    void copy(uint64_t* words) const {
        memcpy(words, bits_, (limit_ / 64 + 1) * sizeof *words);
        words[limit_ / 64] &= ~uint64_t{0} >> (63 - limit_ % 64);
    }

private:
    bool has(int64_t sum) const { return bits_[sum / 64] >> sum % 64 & 1; }

    // Returns the lag of an item behind the previous item, in words.
    int64_t lag(int64_t item) const {
        return rounded_up(std::min(weights_[item] / 64, words_) + 1);
    }

    void sweep(size_t number) {
        Group& group = groups_[number];
        for (int64_t tile = words_ - kTileWords;; tile -= kTileWords) {
            if (number && !wait(groups_[number - 1], tile)) return;
            if (interrupted()) stopped_ = true;
            if (is_over(deadline_)) out_of_time_ = true;
            // Then no item is needed, so no thread waits for another.
            if (stopped_ || out_of_time_) last_item_ = -1;
            int64_t at = tile;
            for (int64_t item = group.first; item < group.last && item <= last_item_; ++item) {
                at += lag(item);
                add(item, std::max(at, lows_[item]), std::min(at + kTileWords, highs_[item]));
            }
            if (group.first > last_item_) return;
            if (tile + group.depth <= lows_[group.first]) break;
            group.finished.store(std::max<int64_t>(tile + group.depth, 0),
                                 std::memory_order_release);
        }
        group.finished.store(0, std::memory_order_release);
    }

    // Spin-waits until the previous group has finished the words from `word` up. Returns false if
    // the items after that group are not needed.
    bool wait(const Group& before, int64_t word) const {
        for (int spin = 0; before.finished.load(std::memory_order_acquire) > std::max<int64_t>(word, 0);
             ++spin) {
            if (before.last > last_item_) return false;
            if (spin > kSpins) std::this_thread::yield();
        }
        return true;
    }

    void add(int64_t item, int64_t first, int64_t last) {
        if (first >= last) return;
        if constexpr (std::is_void_v<Item>)
            add_item(bits_, first, last, weights_[item]);
        else
            add_item(bits_, first, last, weights_[item], makers_.get(), static_cast<Item>(item));
        if (target_ <= limit_ && target_ / 64 >= first && target_ / 64 < last && has(target_)) {
            int64_t seen = last_item_;
            while (item < seen && !last_item_.compare_exchange_weak(seen, item)) {}
        }
    }

    const std::vector<int64_t>& weights_;
    const int64_t target_, limit_;
    const Deadline deadline_;
    const int64_t words_;
    Zeroed<uint64_t> memory_;
    uint64_t* bits_;
    Zeroed<std::conditional_t<std::is_void_v<Item>, char, Item>> makers_;
    std::vector<int64_t> lows_, highs_;  // each item changes words lows_ to highs_ - 1
    std::vector<Group> groups_;
    std::atomic<bool> stopped_{false}, out_of_time_{false};
    std::atomic<int64_t> last_item_{kNever};  // reaches the target; later items are not needed
};

template <class Item>
Subset solve(const std::vector<int64_t>& weights, int64_t target, int64_t limit, int64_t floor,
             Deadline deadline, ThreadTeam& team, int threads) {
    Table<Item> table(weights, target, limit, floor, deadline);
    table.fill(team, threads);
    Subset found{table.wanted(), {}};
    if constexpr (!std::is_void_v<Item>) found.items = table.items_of(found.sum);
    return found;
}

}  // namespace

Subset dense_subset(const std::vector<int64_t>& weights, int64_t target, int64_t limit,
                    int64_t floor, bool items, Deadline deadline, ThreadTeam& team,
                    int threads) {
    if (!items) return solve<void>(weights, target, limit, floor, deadline, team, threads);
    if (weights.size() <= UINT16_MAX)
        return solve<uint16_t>(weights, target, limit, floor, deadline, team, threads);
    return solve<uint32_t>(weights, target, limit, floor, deadline, team, threads);
}

void subset_sums(const std::vector<int64_t>& weights, int64_t limit, uint64_t* words,
                 Deadline deadline, ThreadTeam& team, int threads) {
    Table<void> table(weights, limit + 1, limit, 0, deadline);
    table.fill(team, threads);
    table.copy(words);
}

}  // namespace mmp
