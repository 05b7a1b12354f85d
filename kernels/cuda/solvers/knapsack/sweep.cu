// Dense dynamic programming for knapsacks: rows of values, stage after stage.
//
// A team of blocks processes one table at a time, with a team barrier after each pass over a row. A
// pass computes one stage, or two stages if each is a single item: four values of the row before
// both stages give the value and both decisions. A warp packs the decisions of 32 states by ballot
// and writes each word once.
#include "cuda/device/barrier.cuh"
#include "cuda/solvers/knapsack/table.cuh"

namespace mmp {

constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kEach = 4;          // words of 32 states that a warp computes at a time
constexpr int kCounterStep = 32;  // pads the counters of teams to different cache lines
constexpr int kSleep = 20;        // nanoseconds between two reads of a counter

// The part of a row that a block computes: groups first to last - 1 of kEach words each.
struct Part {
    int64_t first, last;
};

// Team barrier; afterwards each block sees what the others have written.
__device__ inline void wait_for_team(uint32_t* arrived, uint32_t blocks, uint32_t& expected) {
    __syncthreads();
    if (blocks == 1) return;
    expected += blocks;
    if (threadIdx.x == 0) arrive_and_wait<kSleep>(arrived, expected);
    __syncthreads();
}

// Writes a block's part of the row before the first stage.
__device__ inline void fill_start(const Table& table, bool exact_fill, const Part& part, Value* row) {
    const int64_t last = min(part.last * kEach * 32, table.states);
    for (int64_t state = part.first * kEach * 32 + threadIdx.x; state < last; state += kThreads)
        row[state] = exact_fill && state ? kNothing : 0;
}

// Computes two stages at once; each has one item to leave or to take.
__device__ inline void sweep_two(const Table& table, const Option* options, const Part& part,
                                 const Value* before, Value* after, uint32_t* first,
                                 uint32_t* second) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const Option take[2] = {options[1], options[3]};
    const Value leave[2] = {options[0].profit, options[2].profit};
    Index both[kBudgets];
#pragma unroll
    for (int i = 0; i < kBudgets; ++i) both[i] = take[0].weights[i] + take[1].weights[i];
    for (int64_t group = part.first + warp; group < part.last; group += kWarps) {
        // Values in the row before both stages: at the predecessors for no item, one item, the
        // other item, and both.
        Value none[kEach], one[kEach], two[kEach], all[kEach];
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int64_t place = (group * kEach + i) * 32 + lane;
            none[i] = one[i] = two[i] = all[i] = kNothing;
            if (place >= table.states) continue;
            const Index state = static_cast<Index>(place);
            Index capacities[kBudgets];
            locate(table, state, capacities);
            none[i] = before[state];
            if (holds(capacities, take[0].weights)) one[i] = before[state - take[0].shift];
            if (holds(capacities, take[1].weights)) two[i] = before[state - take[1].shift];
            if (holds(capacities, both))
                all[i] = before[state - take[0].shift - take[1].shift];
        }
        uint32_t first_word = 0, second_word = 0;
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int64_t place = (group * kEach + i) * 32 + lane;
            const Value left = none[i] + leave[0], taken = one[i] + take[0].profit;
            const Value left_below = two[i] + leave[0], taken_below = all[i] + take[0].profit;
            const bool takes_first = left < taken;
            const Value without = (takes_first ? taken : left) + leave[1];
            const Value with = (left_below < taken_below ? taken_below : left_below) + take[1].profit;
            const bool takes_second = without < with;
            if (place < table.states) after[place] = takes_second ? with : without;
            const uint32_t first_ballot = __ballot_sync(kAllLanes, takes_first);
            const uint32_t second_ballot = __ballot_sync(kAllLanes, takes_second);
            if (lane == i) first_word = first_ballot, second_word = second_ballot;
        }
        const int64_t word = group * kEach + lane;
        if (first && lane < kEach && word < table.words) {
            first[word] = first_word;
            second[word] = second_word;
        }
    }
}

// Computes one stage with any number of options.
__device__ inline void sweep_one(const Table& table, const Option* options, int count,
                                 const Part& part, const Value* before, Value* after,
                                 uint32_t* decisions) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int bits = 32 - __clz(count - 1);
    const int64_t last = min(part.last * kEach, table.words);
    for (int64_t word = part.first * kEach + warp; word < last; word += kWarps) {
        const int64_t place = word * 32 + lane;
        const bool there = place < table.states;
        const Index state = static_cast<Index>(there ? place : 0);
        Index capacities[kBudgets];
        locate(table, state, capacities);
        Value best = kNothing;
        int choice = 0;
#pragma unroll 4
        for (int i = 0; i < count; ++i) {
            Value candidate = kNothing;
            if (holds(capacities, options[i].weights)) candidate = before[state - options[i].shift];
            candidate += options[i].profit;
            if (best < candidate) {
                best = candidate;
                choice = i;
            }
        }
        if (there) after[place] = best;
        if (!decisions) continue;
        for (int bit = 0; bit < bits; ++bit) {
            const uint32_t ballot = __ballot_sync(kAllLanes, choice >> bit & 1);
            if (lane == 0) decisions[bit * table.words + word] = ballot;
        }
    }
}

}  // namespace mmp

using namespace mmp;

// Computes all passes of all tables; pass i has stages passes[i] to passes[i + 1] - 1. If `before`
// is null, each table begins with its start row. Team t writes alternately to rows even + t *
// stride and odd + t * stride (double buffering), `even` first; with a null `before`, the first row
// written is the start row. `values` receives the value of the last state of each table.
// `decisions` and `values` may be null.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    sweep_tables(const Table* tables, int32_t count, int32_t team_blocks, int32_t exact_fill,
                 const int32_t* passes, const Stage* stages, const Option* options,
                 const Value* before, Value* even, Value* odd, int64_t stride,
                 uint32_t* decisions, Value* values, uint32_t* counters) {
    const int number = blockIdx.x / team_blocks, teams = gridDim.x / team_blocks;
    const int member = blockIdx.x % team_blocks;
    uint32_t* const arrived = counters + number * kCounterStep;
    uint32_t expected = 0;
    Value* out = even + number * stride;
    Value* next = odd + number * stride;
    const auto swap_rows = [&] {
        Value* const written = out;
        out = next;
        next = written;
    };
    for (int problem = number; problem < count; problem += teams) {
        const Table table = tables[problem];
        const int64_t groups = (table.words + kEach - 1) / kEach;
        const Part part{groups * member / team_blocks, groups * (member + 1) / team_blocks};
        const Value* in = before;
        if (!in) {
            fill_start(table, exact_fill, part, out);
            wait_for_team(arrived, team_blocks, expected);
            in = out;
            swap_rows();
        }
        for (int pass = table.first_pass; pass < table.last_pass; ++pass) {
            const int first = passes[pass], behind = passes[pass + 1];
            const Stage stage = stages[first];
            uint32_t* planes = nullptr;
            if (decisions) planes = decisions + table.decisions + stage.plane * table.words;
            if (behind - first == 2)
                sweep_two(table, options + stage.option, part, in, out, planes,
                          planes ? planes + table.words : nullptr);
            else
                sweep_one(table, options + stage.option, stage.options, part, in, out, planes);
            wait_for_team(arrived, team_blocks, expected);
            in = out;
            swap_rows();
        }
        if (values && member == 0 && threadIdx.x == 0) values[problem] = in[table.states - 1];
    }
}
