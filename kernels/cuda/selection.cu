// Order statistics: of many values, the key that has a given rank.
//
// Values are compared by keys, unsigned integers in their order; every NaN has the largest. Few values
// are searched digit by digit, the highest first: blocks count the digits, and the last block to
// arrive chooses the digit that has the rank. Of many values a sample gives a bracket around the
// rank; one pass counts what lies below it and keeps what lies inside, which is then searched.
// Compiled for the unsigned type of the values' bits (-DMMP_KEY) and whether these are unsigned 0,
// signed 1 or floating-point 2 (-DMMP_KIND), and for a number of brackets (-DMMP_BRACKETS).
// Source: R. Floyd and R. Rivest, "Expected time bounds for selection", 1975.
#include "warp.cuh"

#ifndef MMP_KEY
#define MMP_KEY unsigned int
#endif
#ifndef MMP_KIND
#define MMP_KIND 2
#endif
#ifndef MMP_BRACKETS
#define MMP_BRACKETS 1
#endif

namespace mmp {

using Key = MMP_KEY;

constexpr int kThreads = 256;
constexpr int kDigits = 2048;
constexpr int kBytes = 64;  // that a thread reads at once
constexpr int kBrackets = MMP_BRACKETS;
constexpr int kPack = 16 / sizeof(Key);
constexpr int kBits = 8 * sizeof(Key);
constexpr Key kTop = Key(Key(1) << (kBits - 1));
constexpr Key kNan = Key(~Key(0));
constexpr Key kInfinity = sizeof(Key) == 2   ? Key(0x7C00)
                          : sizeof(Key) == 4 ? Key(0x7F800000u)
                                             : Key(0x7FF0000000000000ull);

// A rank that is looked for. `key` is known down to the digits that have been counted.
struct Query {
    uint64_t key;
    int64_t rank;
    int64_t state;
    int64_t bracket;
};

// Numbers of the queries that say where a bracket begins and ends; -1 where it is open.
struct Ends {
    int64_t low, high;
};

enum State { kSearched = 0, kFound = 1, kMissed = 2 };

// What a block saw of a bracket.
struct Tally {
    int64_t below, at_low, inside, at_high;
};

struct alignas(16) Pack {
    Key of[kPack];
};

__device__ inline Key key_of(Key bits) {
    if (MMP_KIND == 0) return bits;
    if (MMP_KIND == 1) return bits ^ kTop;
    if (Key(bits & Key(~kTop)) > kInfinity) return kNan;
    return bits & kTop ? Key(~bits) : Key(bits | kTop);
}

__device__ inline bool is_nan(Key key) { return MMP_KIND == 2 && key == kNan; }

// Sum of the threads' values; thread 0 has it.
__device__ inline int64_t block_sum(int64_t value, int64_t* warps) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < kThreads / 32; ++warp) value += warps[warp];
    return value;
}

// Adds a digit of the keys that begin with `prefix` to the block's table, and the NaN to `nans`. All
// threads call, between two barriers.
__device__ inline void count_digits(const Key* values, int64_t first, int64_t count, int64_t step,
                                    uint64_t prefix, int shift, int bits, uint32_t* table,
                                    int64_t& nans) {
    __syncthreads();
    const uint64_t start = prefix >> shift >> bits;
    const uint32_t mask = (1u << bits) - 1;
    const int64_t rounds = count > first ? (count - first + step - 1) / step : 0;
#pragma unroll 4
    for (int64_t round = 0; round < rounds; ++round) {
        const int64_t at = first + round * step + threadIdx.x;
        uint32_t digit = kAllLanes;
        if (at < count) {
            const Key key = key_of(values[at]);
            nans += is_nan(key);
            const uint64_t from = static_cast<uint64_t>(key) >> shift;
            if (from >> bits == start) digit = static_cast<uint32_t>(from) & mask;
        }
        // Where all lanes have one digit, they need not wait for each other.
        if (__all_sync(kAllLanes, digit == __shfl_sync(kAllLanes, digit, 0))) {
            if (threadIdx.x % 32 == 0 && digit != kAllLanes) atomicAdd(&table[digit], 32);
        } else if (digit != kAllLanes) {
            atomicAdd(&table[digit], 1);
        }
    }
}

// The digit in which a rank lies: where the sums of the counts pass it. Thread 0's answer counts.
__device__ inline int digit_of_rank(const unsigned long long* counts, int digits, int64_t rank,
                                    int64_t* sums, int64_t& before) {
    constexpr int kEach = kDigits / kThreads;
    int64_t own = 0;
    for (int i = 0; i < kEach; ++i) {
        const int digit = threadIdx.x * kEach + i;
        if (digit < digits) own += static_cast<int64_t>(counts[digit]);
    }
    sums[threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x > 0) return 0;
    before = 0;
    int part = 0;
    while (part < kThreads - 1 && before + sums[part] <= rank) before += sums[part++];
    int digit = part * kEach;
    while (digit < digits - 1 && before + static_cast<int64_t>(counts[digit]) <= rank)
        before += static_cast<int64_t>(counts[digit++]);
    return digit;
}

}  // namespace mmp

using namespace mmp;

// Adds the counts of one digit of all values to `counts`.
extern "C" __global__ void __launch_bounds__(kThreads)
    digit_counts(const Key* values, int64_t count, uint64_t prefix, int shift, int bits,
                 unsigned long long* counts) {
    __shared__ uint32_t table[kDigits];
    int64_t nans = 0;
    for (int i = threadIdx.x; i < kDigits; i += kThreads) table[i] = 0;
    count_digits(values, int64_t{blockIdx.x} * kThreads, count, int64_t{gridDim.x} * kThreads, prefix,
                 shift, bits, table, nans);
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << bits; i += kThreads)
        if (table[i]) atomicAdd(&counts[i], table[i]);
}

// Finds the next digit of each query; the last block of a query to arrive chooses it. Grid: (blocks,
// queries). `counts` and `arrived` of each query are zero before and after. Without `tallies` all
// values are searched; with them, those that so many `parts` kept of the query's bracket, `capacity`
// apart. `nans`, if not null, gets the number of NaN.
extern "C" __global__ void __launch_bounds__(kThreads)
    find_digit(const Key* values, int64_t count, const Tally* tallies, int parts, int64_t capacity,
               Query* queries, int shift, int bits, unsigned long long* counts,
               unsigned int* arrived, unsigned long long* nans) {
    __shared__ uint32_t table[kDigits];
    __shared__ int64_t sums[kThreads];
    __shared__ bool last;
    Query& query = queries[blockIdx.y];
    if (query.state != kSearched) return;
    counts += int64_t{blockIdx.y} * kDigits;
    for (int i = threadIdx.x; i < kDigits; i += kThreads) table[i] = 0;
    int64_t seen = 0;
    if (tallies) {
        for (int part = blockIdx.x; part < parts; part += gridDim.x) {
            const int64_t at = query.bracket * parts + part;
            count_digits(values + at * capacity, 0, tallies[at].inside, kThreads, query.key, shift,
                         bits, table, seen);
        }
    } else {
        count_digits(values, int64_t{blockIdx.x} * kThreads, count, int64_t{gridDim.x} * kThreads,
                     query.key, shift, bits, table, seen);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << bits; i += kThreads)
        if (table[i]) atomicAdd(&counts[i], table[i]);
    if (nans && blockIdx.y == 0) {
        seen = block_sum(seen, sums);
        if (threadIdx.x == 0 && seen) atomicAdd(nans, static_cast<unsigned long long>(seen));
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&arrived[blockIdx.y], 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    int64_t before;
    const int digit = digit_of_rank(counts, 1 << bits, query.rank, sums, before);
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << bits; i += kThreads) counts[i] = 0;
    if (threadIdx.x > 0) return;
    query.key |= static_cast<uint64_t>(digit) << shift;
    query.rank -= before;
    if (shift == 0) query.state = kFound;
    arrived[blockIdx.y] = 0;
}

// Keys of values all over the array. Grid: a thread for each.
extern "C" __global__ void __launch_bounds__(kThreads)
    take_sample(const Key* values, int64_t count, int size, Key* sample) {
    const int i = blockIdx.x * kThreads + threadIdx.x;
    if (i >= size) return;
    const int64_t step = count / size;
    uint64_t random = (static_cast<uint64_t>(i) + 1) * 0x9E3779B97F4A7C15ull;
    random = (random ^ random >> 29) * 0xBF58476D1CE4E5B9ull;
    sample[i] = key_of(values[i * step + static_cast<int64_t>((random >> 33) % step)]);
}

// Splits all values at some brackets, disjoint and ascending. Each block keeps what lies strictly
// inside, as far as it fits: of bracket b at (b * blocks + block) * capacity. `nans` as above.
extern "C" __global__ void __launch_bounds__(kThreads)
    split(const Key* values, int64_t count, const Query* queries, const Ends* ends, int brackets,
          int64_t capacity, Key* inside, Tally* tallies, unsigned long long* nans) {
    __shared__ int64_t warps[kThreads / 32];
    __shared__ unsigned int kept[kBrackets];
    constexpr int kPacks = kBytes / 16;
    constexpr int kTile = kThreads * kPacks * kPack;
    // Strictly inside are `inner` keys from low + 1 on.
    Key low[kBrackets], high[kBrackets], inner[kBrackets];
    int64_t below[kBrackets], at_low[kBrackets], at_high[kBrackets], seen = 0;
#pragma unroll
    for (int b = 0; b < kBrackets; ++b) {
        const Ends end = ends[b < brackets ? b : brackets - 1];
        low[b] = end.low < 0 ? Key(0) : static_cast<Key>(queries[end.low].key);
        high[b] = end.high < 0 ? kNan : static_cast<Key>(queries[end.high].key);
        inner[b] = high[b] > low[b] && b < brackets ? high[b] - low[b] - 1 : 0;
        below[b] = at_low[b] = at_high[b] = 0;
        if (threadIdx.x == 0) kept[b] = 0;
    }
    __syncthreads();
    const auto is_inside = [&](Key key, int b) { return Key(key - low[b] - 1) < inner[b]; };
    const auto keep = [&](Key key) {
#pragma unroll
        for (int b = 0; b < kBrackets; ++b) {
            if (!is_inside(key, b)) continue;
            const unsigned int place = atomicAdd(&kept[b], 1u);
            if (place < capacity)
                inside[(int64_t{b} * gridDim.x + blockIdx.x) * capacity + place] = key;
        }
    };
    const bool aligned = reinterpret_cast<uint64_t>(values) % 16 == 0;
    const int64_t whole = aligned ? count / kTile : 0;
    for (int64_t tile = blockIdx.x; tile < whole; tile += gridDim.x) {
        const Pack* from = reinterpret_cast<const Pack*>(values + tile * kTile) + threadIdx.x;
        Pack packs[kPacks];
#pragma unroll
        for (int i = 0; i < kPacks; ++i) packs[i] = from[i * kThreads];
        int fewer[kBrackets], first[kBrackets], last[kBrackets], some_nans = 0;
#pragma unroll
        for (int b = 0; b < kBrackets; ++b) fewer[b] = first[b] = last[b] = 0;
        uint64_t within = 0;
#pragma unroll
        for (int i = 0; i < kPacks * kPack; ++i) {
            const Key key = key_of(packs[i / kPack].of[i % kPack]);
            some_nans += is_nan(key);
            bool any = false;
#pragma unroll
            for (int b = 0; b < kBrackets; ++b) {
                fewer[b] += key < low[b];
                first[b] += key == low[b];
                last[b] += key == high[b];
                any |= is_inside(key, b);
            }
            within |= static_cast<uint64_t>(any) << i;
        }
#pragma unroll
        for (int b = 0; b < kBrackets; ++b) {
            below[b] += fewer[b];
            at_low[b] += first[b];
            at_high[b] += last[b];
        }
        seen += some_nans;
        for (; within; within &= within - 1) {
            const int i = __ffsll(within) - 1;
            keep(key_of(values[tile * kTile + (i / kPack * kThreads + threadIdx.x) * kPack +
                               i % kPack]));
        }
    }
    for (int64_t i = whole * kTile + int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
         i += int64_t{gridDim.x} * kThreads) {
        const Key key = key_of(values[i]);
        seen += is_nan(key);
#pragma unroll
        for (int b = 0; b < kBrackets; ++b) {
            below[b] += key < low[b];
            at_low[b] += key == low[b];
            at_high[b] += key == high[b];
        }
        keep(key);
    }
    seen = block_sum(seen, warps);
    if (threadIdx.x == 0 && seen) atomicAdd(nans, static_cast<unsigned long long>(seen));
#pragma unroll
    for (int b = 0; b < kBrackets; ++b) {
        const int64_t fewer = block_sum(below[b], warps), first = block_sum(at_low[b], warps);
        const int64_t last = high[b] > low[b] ? block_sum(at_high[b], warps) : 0;
        if (threadIdx.x == 0 && b < brackets)
            tallies[int64_t{b} * gridDim.x + blockIdx.x] = {fewer, first, kept[b], last};
    }
}

// Turns ranks of the whole into ranks inside the query's bracket. One block a query.
extern "C" __global__ void __launch_bounds__(kThreads)
    enter_brackets(const Tally* tallies, int parts, int64_t capacity, const Query* bounds,
                   const Ends* ends, Query* queries) {
    __shared__ int64_t warps[kThreads / 32];
    Query& query = queries[blockIdx.x];
    Tally all{0, 0, 0, 0};
    int64_t overflows = 0;
    for (int part = threadIdx.x; part < parts; part += kThreads) {
        const Tally& one = tallies[query.bracket * parts + part];
        all.below += one.below;
        all.at_low += one.at_low;
        all.inside += one.inside;
        all.at_high += one.at_high;
        overflows += one.inside > capacity;
    }
    all.below = block_sum(all.below, warps);
    all.at_low = block_sum(all.at_low, warps);
    all.inside = block_sum(all.inside, warps);
    all.at_high = block_sum(all.at_high, warps);
    overflows = block_sum(overflows, warps);
    if (threadIdx.x > 0) return;
    const Ends end = ends[query.bracket];
    const int64_t rank = query.rank - all.below;
    query.state = kFound;
    if (rank >= 0 && rank < all.at_low) {
        query.key = end.low < 0 ? 0 : bounds[end.low].key;
    } else if (rank >= all.at_low && rank < all.at_low + all.inside && overflows == 0) {
        query.rank = rank - all.at_low;
        query.state = kSearched;
    } else if (rank >= all.at_low + all.inside && rank < all.at_low + all.inside + all.at_high) {
        query.key = end.high < 0 ? static_cast<uint64_t>(kNan) : bounds[end.high].key;
    } else {
        query.state = kMissed;
    }
}

// The keys of some ranks of each row, and its NaN. A block a row.
extern "C" __global__ void __launch_bounds__(kThreads)
    select_rows(const Key* values, int64_t length, const int64_t* ranks, int each, uint64_t* keys,
                int64_t* nans) {
    __shared__ uint32_t table[kThreads];
    __shared__ unsigned long long counts[kThreads];
    __shared__ int64_t sums[kThreads];
    __shared__ uint64_t prefix;
    __shared__ int64_t rank;
    const Key* row = values + int64_t{blockIdx.x} * length;
    for (int i = 0; i < each; ++i) {
        if (threadIdx.x == 0) {
            prefix = 0;
            rank = ranks[int64_t{blockIdx.x} * each + i];
        }
        __syncthreads();
        for (int shift = kBits - 8; shift >= 0; shift -= 8) {
            int64_t seen = 0;
            table[threadIdx.x] = 0;
            count_digits(row, 0, length, kThreads, prefix, shift, 8, table, seen);
            __syncthreads();
            counts[threadIdx.x] = table[threadIdx.x];
            if (i == 0 && shift == kBits - 8) {
                seen = block_sum(seen, sums);
                if (threadIdx.x == 0) nans[blockIdx.x] = seen;
            }
            __syncthreads();
            int64_t before;
            const int digit = digit_of_rank(counts, kThreads, rank, sums, before);
            if (threadIdx.x == 0) {
                prefix |= static_cast<uint64_t>(digit) << shift;
                rank -= before;
            }
            __syncthreads();
        }
        if (threadIdx.x == 0) keys[int64_t{blockIdx.x} * each + i] = prefix;
        __syncthreads();
    }
}
