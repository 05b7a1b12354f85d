#include "cpu/solvers/knapsack/sweep.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu/runtime/interrupts.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int64_t kBlock = 8192;  // states per block; values and choices fit the cache
constexpr int64_t kMaxTasks = 4096;
constexpr int64_t kLookCells = 1 << 22;  // cells between checks of the deadline, some milliseconds
constexpr uint32_t kLookTasks = 64;      // every 64th task checks the deadline at its start

using Choice = uint16_t;

#define MMP_KNAPSACK_LOOPS(Value)                                                             \
    MMP_SIMD_LEVELS void add(Value* out, const Value* in, Value profit, int64_t count) {      \
        for (int64_t i = 0; i < count; ++i) out[i] = in[i] + profit;                          \
    }                                                                                         \
    MMP_SIMD_LEVELS void improve(Value* out, Choice* choices, const Value* in, Value profit,  \
                                 Choice option, int64_t count) {                              \
        for (int64_t i = 0; i < count; ++i) {                                                 \
            const Value candidate = in[i] + profit;                                           \
            choices[i] = out[i] < candidate ? option : choices[i];                            \
            out[i] = out[i] < candidate ? candidate : out[i];                                 \
        }                                                                                     \
    }                                                                                         \
    MMP_SIMD_LEVELS void best_of_two(Value* out, Choice* choices, const Value* leave,         \
                                     const Value* take, Value profit, int64_t count) {        \
        for (int64_t i = 0; i < count; ++i) {                                                 \
            const Value candidate = take[i] + profit;                                         \
            choices[i] = leave[i] < candidate;                                                \
            out[i] = leave[i] < candidate ? candidate : leave[i];                             \
        }                                                                                     \
    }
MMP_KNAPSACK_LOOPS(int32_t)
MMP_KNAPSACK_LOOPS(int64_t)
#undef MMP_KNAPSACK_LOOPS

// Packs one bit plane of the choices, 64 states per word; `choices` is padded to whole words.
MMP_SIMD_LEVELS void pack(const Choice* choices, int plane, int64_t words, uint64_t* out) {
    for (int64_t word = 0; word < words; ++word) {
        uint8_t flags[64];
        for (int i = 0; i < 64; ++i) flags[i] = choices[64 * word + i] >> plane & 1;
        uint64_t bits = 0;
        for (int i = 0; i < 8; ++i) {
            uint64_t eight;
            std::memcpy(&eight, flags + 8 * i, 8);
            // Gathers the lowest bits of eight bytes in the highest byte.
            bits |= (eight * 0x0102040810204080u >> 56) << 8 * i;
        }
        out[word] = bits;
    }
}

template <class Value>
class Stage {
public:
    Stage(const KnapsackStages& stages, int64_t stage, const Value* before, Value* after)
        : stages_(stages), first_(stages.starts[stage]), last_(stages.starts[stage + 1]),
          line_(stages.shape.back()), before_(before), after_(after) {
        const int64_t* weights = weights_of(first_);
        leaves_ = last_ - first_ == 2 &&
                  std::all_of(weights, weights + stages.shape.size(), [](int64_t w) { return !w; });
    }

    // Computes the values and choices of states begin to end - 1.
    void block(int64_t begin, int64_t end, Choice* choices) const {
        std::memset(choices, 0, (end - begin) * sizeof(Choice));
        if (leaves_) {
            lines(first_ + 1, begin, end, [&](int64_t start, int64_t out, int64_t stop, int64_t shift) {
                add(after_ + start, before_ + start, profit(first_), out - start);
                best(out, stop, shift, choices + (out - begin));
            });
            return;
        }
        for (int64_t option = first_; option < last_; ++option) {
            lines(option, begin, end, [&](int64_t start, int64_t out, int64_t stop, int64_t shift) {
                if (option == first_) {
                    std::fill(after_ + start, after_ + out, kNothing<Value>);
                    add(after_ + out, before_ + out - shift, profit(option), stop - out);
                } else {
                    improve(after_ + out, choices + (out - begin), before_ + out - shift,
                            profit(option), static_cast<Choice>(option - first_), stop - out);
                }
            });
        }
    }

private:
    const int64_t* weights_of(int64_t option) const {
        return stages_.weights + option * static_cast<int64_t>(stages_.shape.size());
    }
    Value profit(int64_t option) const { return static_cast<Value>(stages_.profits[option]); }

    // Computes a stage with two options, the first of which has weight 0 but may have a profit.
    void best(int64_t out, int64_t stop, int64_t shift, Choice* choices) const {
        if (profit(first_) == 0) {
            best_of_two(after_ + out, choices, before_ + out, before_ + out - shift,
                        profit(first_ + 1), stop - out);
        } else {
            add(after_ + out, before_ + out, profit(first_), stop - out);
            improve(after_ + out, choices, before_ + out - shift, profit(first_ + 1), 1, stop - out);
        }
    }

    // Calls work(start, out, stop, shift) for the part of each row of states within the block. The
    // option fits in states out to stop - 1; their predecessors are `shift` states lower. It does
    // not fit in states start to out - 1.
    template <class Work>
    void lines(int64_t option, int64_t begin, int64_t end, const Work& work) const {
        const int64_t* weights = weights_of(option);
        const int outer = static_cast<int>(stages_.shape.size()) - 1;
        int64_t shift = 0;
        for (int i = 0; i <= outer; ++i) shift = shift * stages_.shape[i] + weights[i];
        for (int64_t start = begin; start < end;) {
            int64_t line = start / line_;
            const int64_t head = line * line_, stop = std::min(end, head + line_);
            bool holds = true;
            for (int i = outer - 1; i >= 0; --i) {
                holds &= line % stages_.shape[i] >= weights[i];
                line /= stages_.shape[i];
            }
            const int64_t least = std::min(weights[outer], line_);
            work(start, holds ? std::clamp(head + least, start, stop) : stop, stop, shift);
            start = stop;
        }
    }

    const KnapsackStages& stages_;
    const int64_t first_, last_, line_;
    const Value* before_;
    Value* after_;
    bool leaves_;
};

}  // namespace

int64_t KnapsackStages::states() const {
    int64_t product = 1;
    for (const int64_t size : shape) product *= size;
    return product;
}

int decision_bits(int64_t options) { return std::bit_width(static_cast<uint64_t>(options - 1)); }

template <class Value>
bool knapsack_sweep(const KnapsackStages& stages, int64_t first, int64_t last, const Value* before,
                    Value* after, Value* other, uint64_t* decisions, Deadline deadline,
                    ThreadTeam& team) try {
    const int64_t states = stages.states(), words = (states + 63) / 64;
    const int64_t blocks = (states + kBlock - 1) / kBlock;
    const int64_t tasks = std::min(blocks, kMaxTasks);
    for (int64_t g = first; g < last; ++g) {
        stop_if_over(deadline);
        // Rows alternate (double buffering) such that the last stage writes to `after`.
        Value* const out = (last - g) % 2 ? after : other;
        const Value* const in = g == first ? before : (last - g) % 2 ? other : after;
        const Stage<Value> stage(stages, g, in, out);
        const int64_t options = stages.starts[g + 1] - stages.starts[g];
        const int bits = decision_bits(options);
        team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
            alignas(64) Choice choices[kBlock];
            int64_t cells = task % kLookTasks ? 0 : kLookCells;
            for (int64_t block = blocks * task / tasks; block < blocks * (task + 1) / tasks; ++block) {
                const int64_t begin = block * kBlock, end = std::min(begin + kBlock, states);
                if (cells >= kLookCells) {
                    stop_if_over(deadline);
                    cells = 0;
                }
                cells += (end - begin) * options;
                stage.block(begin, end, choices);
                if (!decisions) continue;
                std::fill(choices + (end - begin), choices + (end - begin + 63) / 64 * 64, Choice{0});
                for (int plane = 0; plane < bits; ++plane)
                    pack(choices, plane, (end - begin + 63) / 64,
                         decisions + plane * words + begin / 64);
            }
        });
        if (decisions) decisions += bits * words;
    }
    return true;
} catch (const OutOfTime&) {
    return false;
}

int64_t knapsack_trace(const KnapsackStages& stages, int64_t first, int64_t last,
                       const uint64_t* decisions, int64_t state, int64_t* choices) {
    const int64_t words = (stages.states() + 63) / 64;
    const auto bits_of = [&](int64_t g) {
        return decision_bits(stages.starts[g + 1] - stages.starts[g]);
    };
    for (int64_t g = first; g < last; ++g) decisions += bits_of(g) * words;
    const auto dimensions = static_cast<int64_t>(stages.shape.size());
    for (int64_t g = last; g-- > first;) {
        const int bits = bits_of(g);
        decisions -= bits * words;
        int64_t choice = 0;
        for (int plane = 0; plane < bits; ++plane)
            choice |= static_cast<int64_t>(decisions[plane * words + state / 64] >> state % 64 & 1)
                      << plane;
        choices[g] = choice;
        const int64_t* weights = stages.weights + (stages.starts[g] + choice) * dimensions;
        int64_t shift = 0;
        for (int64_t i = 0; i < dimensions; ++i) shift = shift * stages.shape[i] + weights[i];
        state -= shift;
    }
    return state;
}

template bool knapsack_sweep(const KnapsackStages&, int64_t, int64_t, const int32_t*, int32_t*,
                             int32_t*, uint64_t*, Deadline, ThreadTeam&);
template bool knapsack_sweep(const KnapsackStages&, int64_t, int64_t, const int64_t*, int64_t*,
                             int64_t*, uint64_t*, Deadline, ThreadTeam&);

}  // namespace mmp
