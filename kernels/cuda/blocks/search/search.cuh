// Mode decision of the blocks of a fragment, in the order of the host's search. All threads of a
// worker call each function; what decides is equal in all of them.
#pragma once

#include "cuda/blocks/search/trial.cuh"

namespace mmp {

// Blocks below kExactArea samples have less exact estimates, so `reserve` counts less for them, by
// kInexactPercent.
constexpr int kExactArea = 128, kInexactPercent = 10;
// Limit of the percentage that `patience` adds to `reserve` and `again`.
constexpr int kMostImpatience = 12;

__device__ inline int64_t percent(int64_t cost, int share) { return cost / 100 * share; }

class Search {
public:
    __device__ Search()
        : memory_(search_memory()), found_(*memory_.found), arena_(found_.arena) {}

    // Searches the fragment of the canvas. Returns the place of the best plan; 0 if the memory of
    // the worker does not hold it.
    __device__ uint32_t run() {
        clear();
        const int side = memory_.picture.tools.fragment_log2;
        depth_ = -1;
        descend({0, 0, side, side}, kNever);
        while (depth_ >= 0) {
            Frame& frame = frames_[depth_];
            if (frame.way < 0)
                enter(frame);
            else if (frame.part >= 0)
                go_on(frame);
            else
                try_way(frame);
        }
        return result_;
    }

    __device__ const Arena& arena() const { return arena_; }

    // Shows the leaves of a plan on the canvas.
    __device__ void show(const BlockPlace& block, uint32_t place) {
        for_leaves(block, place, [&](const BlockPlace& leaf, const Outcome& outcome) {
            write_samples(leaf, arena_.at<Sample>(outcome.samples));
            mark(memory_.canvas, leaf, leaf_unit(leaf, outcome.node));
            number_units(leaf, outcome.number);
        });
        __syncthreads();
    }

    // Calls work(block, outcome) for each leaf of a plan, in coding order, and split(outcome) for
    // each split block.
    template <class Leaf, class Split>
    __device__ void for_plan(const BlockPlace& block, uint32_t place, const Leaf& work,
                             const Split& split) {
        struct {
            BlockPlace block;
            uint32_t place;
        } waiting[2 * kMostSplits + 1];
        int count = 0;
        waiting[count++] = {block, place};
        while (count) {
            const auto [own, at] = waiting[--count];
            const Outcome& outcome = *arena_.at<Outcome>(at);
            const int flag = flag_of(outcome.node);
            if (flag == kLeaf) {
                work(own, outcome);
                continue;
            }
            split(outcome);
            for (int part = parts_of(flag) - 1; part >= 0; --part)
                if (outcome.parts[part])
                    waiting[count++] = {part_of(own, flag, part), outcome.parts[part]};
        }
    }
    template <class Leaf>
    __device__ void for_leaves(const BlockPlace& block, uint32_t place, const Leaf& work) {
        for_plan(block, place, work, [](const Outcome&) {});
    }

private:
    // A flag of a block with its latest cost or, if it was not tried, its estimate.
    struct Way {
        int flag;
        int64_t cost;
        bool was_tried;
    };
    // A search over a block that has not ended.
    struct Frame {
        BlockPlace block;
        int64_t bound, least;
        uint32_t best;    // plan of least cost so far
        uint32_t around;  // place of the numbers around the block
        int way, ways;    // way: the one that is tried next, or now; -1 before the first one
        Way of[kBlockFlags];
        // The split that is tried: next part, cost so far, plans of its parts; part is -1 without.
        int part, shown;
        int64_t cost;
        uint32_t parts[kMostParts];
    };

    __device__ void clear() {
        arena_.clear();
        leaves_ = 0, tried_ = 0;
        for (int i = threadIdx.x; i < kBlocks; i += kBlockThreads) {
            found_.counts[i] = 0;
            found_.latest[i] = {};
        }
        for (int i = threadIdx.x; i < kFragmentUnits; i += kBlockThreads)
            (&memory_.shown[0][0])[i] = 0;
        __syncthreads();
    }

    __device__ Canvas& canvas() { return memory_.canvas; }
    __device__ const BlockEffort& effort() const { return memory_.picture.effort; }
    __device__ const Latest& latest(const BlockPlace& block) const {
        return found_.latest[block_number(block)];
    }

    __device__ void descend(const BlockPlace& block, int64_t bound) {
        Frame& frame = frames_[++depth_];
        frame.block = block;
        frame.bound = frame.least = bound;
        frame.best = 0;
        frame.way = frame.part = -1;
    }
    __device__ void end(uint32_t result) {
        result_ = result;
        --depth_;
    }

    // Ends the search if it is known what it finds, else lists the ways.
    __device__ void enter(Frame& frame) {
        const int number = block_number(frame.block), count = see_surroundings(frame.block);
        const int all = min(int(found_.counts[number]), kMostFindings);
        for (int i = 0; i < all; ++i) {
            const Finding& finding = found_.findings[number][i];
            if (differs(finding.around, count)) continue;
            if (finding.outcome) {
                const bool good = arena_.at<Outcome>(finding.outcome)->cost < frame.bound;
                return end(good ? finding.outcome : 0);
            }
            if (frame.bound <= finding.bound) return end(0);
            break;
        }
        if (percent(latest(frame.block).least, again()) >= frame.bound) return end(0);
        keep_surroundings(frame, number, count);
        list_ways(frame);
        frame.way = 0;
    }

    // Goes on with the next way that is worth it, or ends the search.
    __device__ void try_way(Frame& frame) {
        while (frame.way < frame.ways) {
            const Way& way = frame.of[frame.way];
            if (way.was_tried && percent(way.cost, again()) >= frame.least) {
                ++frame.way;
                continue;
            }
            if (arena_.is_full() && frame.best) break;
            if (way.flag == kLeaf) return take(frame, whole(frame.block, frame.least));
            frame.cost = flag_cost(memory_, frame.block, way.flag);
            frame.shown = 0;
            for (uint32_t& part : frame.parts) part = 0;
            if (frame.cost >= frame.least) return take(frame, 0);
            frame.part = 0;
            return go_down(frame);
        }
        const int number = block_number(frame.block);
        __syncthreads();
        if (threadIdx.x == 0) {
            Latest& latest = found_.latest[number];
            latest.least = frame.best ? frame.least : max(latest.least, frame.bound);
            uint32_t& count = found_.counts[number];
            Finding& finding = found_.findings[number][count % kMostFindings];
            finding.bound = frame.bound, finding.around = frame.around;
            finding.outcome = frame.best;
            if (frame.around) ++count;
        }
        __syncthreads();
        end(frame.best);
    }

    // Searches the next part of a split, or ends the split.
    __device__ void go_down(Frame& frame) {
        const BlockPlace& block = frame.block;
        const int flag = frame.of[frame.way].flag, parts = parts_of(flag);
        const BlockPlace place = part_of(block, flag, frame.part < parts ? frame.part : 0);
        if (frame.part == parts || canvas().is_outside(place)) return end_split(frame, true);
        int64_t later = 0;  // expected cost of the parts that follow
        for (int next = frame.part + 1; next < parts; ++next)
            if (const BlockPlace other = part_of(block, flag, next); !canvas().is_outside(other))
                later += expected(other);
        descend(place, frame.least - frame.cost - later);
    }

    // Takes the plan of a part that was searched.
    __device__ void go_on(Frame& frame) {
        if (!result_) return end_split(frame, false);
        const int flag = frame.of[frame.way].flag;
        frame.parts[frame.part] = result_;
        frame.cost += arena_.at<Outcome>(result_)->cost;
        if (frame.part + 1 < parts_of(flag)) {
            show(part_of(frame.block, flag, frame.part), result_);
            ++frame.shown;
        }
        ++frame.part;
        go_down(frame);
    }

    __device__ void end_split(Frame& frame, bool found) {
        const int flag = frame.of[frame.way].flag;
        while (frame.shown) {
            const BlockPlace part = part_of(frame.block, flag, --frame.shown);
            mark(canvas(), part, Unit{});
            number_units(part, 0);
        }
        frame.part = -1;
        uint32_t place = 0;
        if (found && (place = arena_.take(sizeof(Outcome))) && threadIdx.x == 0) {
            Outcome& outcome = *arena_.at<Outcome>(place);
            outcome.cost = frame.cost, outcome.node = pack_block(flag, 0, 0, 0);
            for (int part = 0; part < kMostParts; ++part) outcome.parts[part] = frame.parts[part];
        }
        __syncthreads();
        take(frame, place);
    }

    // Takes the plan that a way has found, which costs less than the least cost so far; 0: none.
    __device__ void take(Frame& frame, uint32_t place) {
        const int64_t cost = place ? arena_.at<Outcome>(place)->cost : 0;
        __syncthreads();
        if (threadIdx.x == 0) {
            int64_t& of_flag = found_.latest[block_number(frame.block)]
                                   .with_flag[frame.of[frame.way].flag];
            of_flag = place ? cost : max(of_flag, frame.least);
        }
        __syncthreads();
        if (place) frame.best = place, frame.least = cost;
        ++frame.way;
    }

    // Tries the block as a leaf.
    __device__ uint32_t whole(const BlockPlace& block, int64_t bound) {
        ++tried_;
        if (try_leaf(memory_, block, bound) >= bound) return 0;
        const bool transformed = kind_of(memory_.trial.node) == kTransformed;
        const TrialShape shape(memory_.picture.tools, block);
        const uint32_t place = arena_.take(sizeof(Outcome));
        const uint32_t samples = arena_.take(uint32_t(block.area() * sizeof(Sample)));
        const uint32_t levels = transformed ? arena_.take(2u << shape.coded_log2()) : 0;
        ++leaves_;
        if (!samples || (transformed && !levels)) return 0;
        if (threadIdx.x == 0) {
            Outcome& outcome = *arena_.at<Outcome>(place);
            outcome.cost = memory_.trial.cost, outcome.node = memory_.trial.node;
            outcome.samples = samples, outcome.levels = levels, outcome.number = leaves_;
            for (uint32_t& part : outcome.parts) part = 0;
        }
        write_leaf(memory_, block, shape, arena_.at<Sample>(samples),
                   transformed ? arena_.at<int16_t>(levels) : nullptr);
        return place;
    }

    // Percentage that `patience` adds to `reserve` and `again`.
    __device__ int impatience() const {
        return effort().patience ? min(tried_ / effort().patience, kMostImpatience) : 0;
    }
    // A block or flag is tried again only if this percentage of its latest cost is below the bound.
    __device__ int again() const {
        return effort().again ? min(effort().again + impatience(), 100) : 0;
    }

    // Lower estimate of the cost of a block, which is taken off the bound of the parts before it.
    __device__ int64_t expected(const BlockPlace& block) const {
        if (!effort().reserve) return 0;
        if (const int64_t before = latest(block).least; effort().again && before)
            return percent(before, again());
        const int64_t estimate = found_.rough.least[block_number(block)];
        if (estimate >= kNever) return 0;
        const int less = block.area() < kExactArea ? kInexactPercent : 0;
        return percent(estimate, effort().reserve + impatience() - less);
    }

    // Lists the flags that are worth a trial, the cheapest first if the effort says so.
    __device__ void list_ways(Frame& frame) const {
        const BlockPlace& block = frame.block;
        const Latest& latest = this->latest(block);
        const int worth = memory_.worth[block_number(block)];
        frame.ways = 0;
        for (int flag = kLeaf; flag < kBlockFlags; ++flag) {
            if (!(worth >> flag & 1)) continue;
            const int64_t before = latest.with_flag[flag];
            const Way way{flag, before ? before : estimated(block, flag), before > 0};
            int at = frame.ways++;
            for (; effort().reserve && at > 0 && way.cost < frame.of[at - 1].cost; --at)
                frame.of[at] = frame.of[at - 1];
            frame.of[at] = way;
        }
    }
    __device__ int64_t estimated(const BlockPlace& block, int flag) const {
        if (flag == kLeaf) return found_.rough.whole[block_number(block)];
        return estimated_split(memory_, block, flag);
    }

    // Writes the leaf numbers of the units that a search over a block depends on, and returns their
    // number. Units outside the fragment do not matter: they do not change while the fragment is
    // searched.
    __device__ int see_surroundings(const BlockPlace& block) {
        constexpr int kReachUnits = kReach >> kUnitLog2;
        const int side = 1 << (memory_.picture.tools.fragment_log2 - kUnitLog2);
        const int row = block.row >> kUnitLog2, column = block.column >> kUnitLog2;
        const int height = block.height() >> kUnitLog2, width = block.width() >> kUnitLog2;
        int count = 0;
        __syncthreads();
        const auto take = [&](int from_row, int to_row, int from, int to) {
            from_row = max(from_row, 0), to_row = min(to_row, side);
            from = max(from, 0), to = min(to, side);
            const int across = max(to - from, 0), all = max(to_row - from_row, 0) * across;
            for (int i = threadIdx.x; i < all; i += kBlockThreads)
                memory_.around[count + i] = memory_.shown[from_row + i / across][from + i % across];
            count += all;
        };
        // Template matching depends on all decoded samples.
        if (memory_.worth[block_number(block)] >> kMatched & 1) {
            take(0, side, 0, side);
        } else {
            const int after = max(height, kReachUnits);
            take(row - kReachUnits, row, column - kReachUnits, column + width + after);
            take(row, row + height + width, column - kReachUnits, column);
        }
        __syncthreads();
        return count;
    }
    __device__ bool differs(uint32_t place, int count) const {
        const uint32_t* then = arena_.at<uint32_t>(place);
        bool differ = false;
        for (int i = threadIdx.x; i < count; i += kBlockThreads)
            differ |= then[i] != memory_.around[i];
        return __syncthreads_or(differ);
    }
    __device__ void keep_surroundings(Frame& frame, int number, int count) {
        const uint32_t before = found_.counts[number];
        // The numbers around a block are as many in each of its searches.
        frame.around = before < kMostFindings
                           ? arena_.is_full() ? 0 : arena_.take(max(count, 1) * sizeof(uint32_t))
                           : found_.findings[number][before % kMostFindings].around;
        if (!frame.around) return;
        uint32_t* to = arena_.at<uint32_t>(frame.around);
        for (int i = threadIdx.x; i < count; i += kBlockThreads) to[i] = memory_.around[i];
        __syncthreads();
    }

    __device__ void number_units(const BlockPlace& block, uint32_t number) {
        const int across = block.width() >> kUnitLog2;
        for (int i = threadIdx.x; i < (block.height() >> kUnitLog2) * across; i += kBlockThreads)
            memory_.shown[(block.row >> kUnitLog2) + i / across]
                         [(block.column >> kUnitLog2) + i % across] = number;
    }
    __device__ void write_samples(const BlockPlace& block, const Sample* samples) {
        const int width = block.width();
        for (int i = threadIdx.x; i < block.area() / 4; i += kBlockThreads) {
            const int row = block.row + i * 4 / width, column = block.column + i * 4 % width;
            const auto four = reinterpret_cast<const FourSamples*>(samples)[i];
            *reinterpret_cast<FourSamples*>(canvas().sample(row, column)) = four;
            if (memory_.window)
                write_window(memory_,
                             (row + kWindowAbove) * kWindowColumns + column + kWindowLeft, four);
        }
    }

    BlockSearchMemory& memory_;
    FoundMemory& found_;
    Arena arena_;
    Frame frames_[kMostSplits + 1];
    int depth_ = -1;
    uint32_t result_ = 0;  // of the latest search that ended
    uint32_t leaves_ = 0;  // number of leaves found in this fragment
    int tried_ = 0;        // number of blocks of this fragment tried as leaves
};

}  // namespace mmp
