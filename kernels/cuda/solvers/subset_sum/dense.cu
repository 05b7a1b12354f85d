// Subset sum by a bit set with one bit per sum. An item is added by row |= row << weight.
//
// A pass reads one of two rows, adds some items and writes the other row (double buffering). If the
// items are light, a block copies a span (a tile and the halo below it) of the row to shared memory
// and adds many items. Otherwise it adds two or four items word by word, and each subset of these
// items reads one word of the row before. Passes are separated by grid barriers. Compile-time
// parameters: type of item numbers (-DMMP_MAKER) and words of a span per thread (-DMMP_EACH).
// mmpcodec/solvers/subset_sum/passes.py plans the passes. Sources: R. Bellman, "Dynamic
// programming", 1957; V. V. Curtis, "Algoritmos para o problema Subset-Sum em GPU", ITA 2013.
#include "cuda/device/barrier.cuh"

#ifndef MMP_MAKER
#define MMP_MAKER unsigned short
#endif
#ifndef MMP_EACH
#define MMP_EACH 16
#endif
#ifndef MMP_THREADS
#define MMP_THREADS 1024
#endif

namespace mmp {

using Maker = MMP_MAKER;

constexpr int kThreads = MMP_THREADS;
constexpr int kEach = MMP_EACH;
constexpr int kMostItems = 256;  // most items of a pass by tiles
constexpr int kFew = 4;

// A pass adds items first to first + count - 1 to words low to high - 1. `halo` is the number of
// words below a tile that these items read. If it is positive, the pass works by tiles; otherwise
// it works word by word, and `weights` holds the weights of its items, padded with zeros.
struct Pass {
    int64_t first, count, low, high, halo, weights[kFew];
};

constexpr int kPassWords = sizeof(Pass) / sizeof(int64_t);

// The answer. `above` is the least sum from the target to the limit, `below` the bitwise complement
// of the largest sum below the target; all bits are set if there is none.
struct Found {
    uint64_t above, below;
    int64_t passes;    // passes done
    int64_t count;     // number of items of the wanted sum
    uint64_t arrived;  // arrivals at the grid barrier, in the lower 32 bits
};

struct Memory {
    Pass passes[2];  // this pass and the next one
    int64_t weights[kMostItems];
    int64_t reached;
    uint64_t span[kEach * kThreads];
};

template <class Index>
__device__ inline uint64_t word_at(const uint64_t* words, Index at) {
    return at < 0 ? 0 : words[at];
}

// Returns word `at` of the bit set `words` << weight.
template <class Index>
__device__ inline uint64_t moved(const uint64_t* words, Index at, uint64_t weight) {
    const Index from = at - static_cast<Index>(weight / 64);
    const int shift = static_cast<int>(weight % 64);
    // Two right shifts, because one shift by 64 is undefined.
    return word_at(words, from) << shift | word_at(words, from - 1) >> 1 >> (63 - shift);
}

// Stores the item as the maker of the newly set bits of a word.
__device__ inline void note(Maker* makers, int64_t word, uint64_t gained, int64_t item) {
    if (!makers) return;
    for (; gained; gained &= gained - 1)
        makers[word * 64 + __ffsll(static_cast<long long>(gained)) - 1] = static_cast<Maker>(item);
}

// Adds many items, tile by tile. Bits from below the span are missing, but this affects only the
// halo, which is not written.
__device__ inline void add_in_tiles(const uint64_t* before, uint64_t* after, Maker* makers,
                                    const Pass& pass, const int64_t* weights, int span,
                                    Memory& memory) {
    const int halo = static_cast<int>(pass.halo), count = static_cast<int>(pass.count);
    const int tile = span - halo, thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < count; i += kThreads) memory.weights[i] = weights[pass.first + i];
    for (int64_t first = pass.low + int64_t{blockIdx.x} * tile; first < pass.high;
         first += int64_t{gridDim.x} * tile) {
        const int64_t start = first - halo;
        const int end = static_cast<int>(min(int64_t{span}, pass.high - start));
        uint64_t own[kEach];
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int slot = i * kThreads + thread;
            own[i] = slot < end ? word_at(before, start + slot) : 0;
            memory.span[slot] = own[i];
        }
        __syncthreads();
        for (int item = 0; item < count; ++item) {
            const uint64_t weight = memory.weights[item];
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                const int slot = i * kThreads + thread;
                if (i * kThreads >= end) break;
                const uint64_t gained = moved(memory.span, slot, weight) & ~own[i];
                own[i] |= gained;
                if (gained && slot >= halo && slot < end)
                    note(makers, start + slot, gained, pass.first + item);
            }
            __syncthreads();
#pragma unroll
            for (int i = 0; i < kEach; ++i) {
                if (i * kThreads >= end) break;
                memory.span[i * kThreads + thread] = own[i];
            }
            __syncthreads();
        }
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const int slot = i * kThreads + thread;
            if (slot >= halo && slot < end) after[start + slot] = own[i];
        }
    }
}

// Adds few items, word by word; an item of weight 0 changes nothing.
template <int kItems>
__device__ inline void add_few(const uint64_t* before, uint64_t* after, Maker* makers,
                               const Pass& pass) {
    for (int64_t at = pass.low + int64_t{blockIdx.x} * kThreads + threadIdx.x; at < pass.high;
         at += int64_t{gridDim.x} * kThreads) {
        uint64_t word = before[at];
#pragma unroll
        for (int item = 0; item < kItems; ++item) {
            uint64_t with_item = 0;
            // The item together with each subset of the items before it.
#pragma unroll
            for (int set = 0; set < 1 << item; ++set) {
                int64_t weight = pass.weights[item];
#pragma unroll
                for (int other = 0; other < item; ++other)
                    if (set >> other & 1) weight += pass.weights[other];
                with_item |= moved(before, at, weight);
            }
            note(makers, at, with_item & ~word, pass.first + item);
            word |= with_item;
        }
        after[at] = word;
    }
}

__device__ inline void lower_to(uint64_t* least, uint64_t value) {
    if (value < *const_cast<volatile uint64_t*>(least))
        atomicMin(reinterpret_cast<unsigned long long*>(least),
                  static_cast<unsigned long long>(value));
}

__device__ inline int64_t wanted_sum(const Found& found) {
    return static_cast<int64_t>(found.above != ~uint64_t{0} ? found.above : ~found.below);
}

}  // namespace mmp

using namespace mmp;

extern "C" __device__ uint32_t shared_bytes = sizeof(Memory);

// Adds the items to the first of two rows of `words` words each, in `count` passes or until the
// target is reached; with target -1, it does all passes. The lowest bit of found->passes is the
// index of the row with the result. Unless `makers` is null, makers[sum] is the first item that
// reaches the sum. A tile and its halo have `span` words, a multiple of kThreads. All blocks must
// be resident.
extern "C" __global__ void __launch_bounds__(kThreads)
    add_items(uint64_t* rows, int64_t words, Maker* makers, const Pass* passes, int64_t count,
              const int64_t* weights, int64_t target, int span, Found* found) {
    extern __shared__ __align__(16) uint8_t shared[];
    Memory& memory = *reinterpret_cast<Memory*>(shared);
    const int64_t* plan = reinterpret_cast<const int64_t*>(passes);
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < kPassWords && count > 0)
        reinterpret_cast<int64_t*>(&memory.passes[0])[thread] = plan[thread];
    __syncthreads();
    int64_t done = 0;
    while (done < count) {
        const Pass& pass = memory.passes[done % 2];
        const uint64_t* before = rows + done % 2 * words;
        ++done;
        uint64_t* after = rows + done % 2 * words;
        if (thread < kPassWords && done < count)
            reinterpret_cast<int64_t*>(&memory.passes[done % 2])[thread] =
                plan[done * kPassWords + thread];
        if (pass.halo)
            add_in_tiles(before, after, makers, pass, weights, span, memory);
        else if (pass.weights[2])
            add_few<4>(before, after, makers, pass);
        else
            add_few<2>(before, after, makers, pass);
        __syncthreads();
        if (thread == 0)
            arrive_and_wait(reinterpret_cast<uint32_t*>(&found->arrived),
                            static_cast<uint32_t>(done * gridDim.x));
        if (thread == 0 && target >= 0) {
            // No block writes this row before all blocks have passed the next barrier, so the read
            // is not a race.
            const uint64_t word = *const_cast<volatile uint64_t*>(after + target / 64);
            memory.reached = static_cast<int64_t>(word >> target % 64 & 1);
        }
        __syncthreads();
        if (target >= 0 && memory.reached) break;
    }
    if (blockIdx.x == 0 && thread == 0) found->passes = done;
}

// Sets found->above and found->below from the sums between `floor` and `limit`; `floor` is rounded
// down to a multiple of 64.
extern "C" __global__ void __launch_bounds__(kThreads)
    find_wanted(const uint64_t* rows, int64_t words, int64_t target, int64_t limit, int64_t floor,
                Found* found) {
    const uint64_t* row = rows + found->passes % 2 * words;
    uint64_t above = ~uint64_t{0}, below = ~uint64_t{0};
    for (int64_t at = floor / 64 + int64_t{blockIdx.x} * kThreads + threadIdx.x; at <= limit / 64;
         at += int64_t{gridDim.x} * kThreads) {
        const int64_t first = at * 64;
        uint64_t sums = row[at];
        if (limit - first < 63) sums &= (uint64_t{2} << (limit - first)) - 1;
        const uint64_t lower = target - first >= 64 ? ~uint64_t{0}
                               : target > first     ? (uint64_t{1} << (target - first)) - 1
                                                    : 0;
        if (sums & ~lower && above == ~uint64_t{0})
            above = first + __ffsll(static_cast<long long>(sums & ~lower)) - 1;
        if (sums & lower)
            below = ~static_cast<uint64_t>(first + 63 - __clzll(static_cast<long long>(sums & lower)));
    }
    if (above != ~uint64_t{0}) lower_to(&found->above, above);
    if (below != ~uint64_t{0}) lower_to(&found->below, below);
}

// Lists the items of the wanted sum, the last item first. Runs in one thread.
extern "C" __global__ void trace_items(const Maker* makers, const int64_t* weights, int64_t* items,
                                       Found* found) {
    int64_t count = 0;
    for (int64_t sum = wanted_sum(*found); sum > 0; ++count) {
        const int64_t item = makers[sum];
        items[count] = item;
        sum -= weights[item];
    }
    found->count = count;
}
