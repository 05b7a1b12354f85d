// Order statistics: the key with a given rank in an array.
//
// Values are compared by keys, unsigned integers that sort like the values; every NaN has the
// largest key. Small arrays are searched by radix selection, highest digit first: blocks count the
// digits, and the last block to finish chooses the digit that contains the rank. For large arrays,
// a sample gives a bracket of keys around the rank; one pass counts the keys below the bracket and
// keeps the keys inside, which are then searched by radix selection. All blocks are resident and
// synchronise by grid barriers, so one launch is enough. Compile-time parameters: unsigned type of
// the keys (-DMMP_KEY); kind of the values, 0 unsigned, 1 signed, 2 floating-point (-DMMP_KIND);
// number of brackets (-DMMP_BRACKETS). Source: R. Floyd and R. Rivest, "Expected time bounds for
// selection", 1975.
#include "cuda/device/barrier.cuh"
#include "cuda/device/warp.cuh"

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
constexpr int kBlocks = 4;  // least number of resident blocks per multiprocessor
constexpr int kDigits = 2048;
constexpr int kDigitBits = 11;
constexpr int kBits = 8 * sizeof(Key);
constexpr int kBrackets = MMP_BRACKETS;
constexpr int kPack = 16 / sizeof(Key);
constexpr int kPacks = sizeof(Key) == 1 ? 2 : 4;  // packs that a thread reads at once
constexpr int kKeys = kPacks * kPack;             // at most 32, so that a mask fits 32 bits
constexpr int kMany = 2;  // keys per thread from which keys are compared with the bounds
constexpr int kTile = kThreads * kKeys;
constexpr Key kTop = Key(Key(1) << (kBits - 1));
constexpr Key kNan = Key(~Key(0));
constexpr Key kInfinity = sizeof(Key) == 2   ? Key(0x7C00)
                          : sizeof(Key) == 4 ? Key(0x7F800000u)
                                             : Key(0x7FF0000000000000ull);

// A rank to find. `key` holds the digits found so far, and 0 below them.
struct Query {
    uint64_t key;
    int64_t rank;
    int64_t state;
    int64_t bracket;
};

// Indices of the queries for the bounds of a bracket; -1: the bracket is open at that end.
struct Ends {
    int64_t low, high;
};

enum State { kSearched = 0, kFound = 1, kMissed = 2 };

// Counts of one block for one bracket: keys below it, keys counted as equal to a bound, keys kept.
struct Tally {
    int64_t below, at_low, inside, at_high;
};

struct alignas(16) Pack {
    Key of[kPack];
};

// Keys to search: `count` values, or the keys of brackets that blocks kept, `capacity` apart per
// block.
struct Source {
    const Key* values;
    int64_t count;
    const Tally* tallies;
    int64_t capacity;
};

// Global memory that all blocks update: per query, the counts of a digit and the number of blocks
// that have finished; the arrivals at grid barriers; and the number of NaN.
struct Board {
    unsigned long long* counts;
    unsigned int* counted;
    unsigned int* waiting;
    unsigned long long* nans;
};

struct Digit {
    int digit;
    int64_t before;
};

struct Shared {
    uint32_t table[kDigits];
    int64_t warps[kThreads / 32];
    Digit found;
    unsigned int kept[kBrackets];
    bool last;
};

// Returns the key of a value other than NaN.
__device__ inline Key order_of(Key bits) {
    if (MMP_KIND == 0) return bits;
    if (MMP_KIND == 1) return bits ^ kTop;
    return bits & kTop ? Key(~bits) : Key(bits | kTop);
}

__device__ inline bool is_nan(Key bits) {
    return MMP_KIND == 2 && Key(bits & Key(~kTop)) > kInfinity;
}

__device__ inline Key key_of(Key bits) { return is_nan(bits) ? kNan : order_of(bits); }

// Grid barrier number n, from 1.
__device__ inline void wait_for_all(const Board& board, unsigned int n) {
    __syncthreads();
    if (threadIdx.x == 0) arrive_and_wait(board.waiting, n * gridDim.x);
    __syncthreads();
}

// Block reduction: returns the sum over all threads to each thread.
__device__ inline int64_t block_sum(int64_t value, int64_t* warps) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(kAllLanes, value, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < kThreads / 32; ++warp) value += warps[warp];
    return value;
}

// Counts a digit of the keys that begin with `prefix` in the block's table, and the thread's NaN in
// `nans`. `values` are keys if kRaw is false. All threads call it; the caller must synchronise
// afterwards.
template <bool kRaw>
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
            const Key value = values[at];
            if (kRaw) nans += is_nan(value);
            const uint64_t from = static_cast<uint64_t>(kRaw ? key_of(value) : value) >> shift;
            if (from >> bits == start) digit = static_cast<uint32_t>(from) & mask;
        }
        // If all lanes have the same digit, one atomic addition replaces 32 serialised ones.
        if (__all_sync(kAllLanes, digit == __shfl_sync(kAllLanes, digit, 0))) {
            if (threadIdx.x % 32 == 0 && digit != kAllLanes) atomicAdd(&table[digit], 32);
        } else if (digit != kAllLanes) {
            atomicAdd(&table[digit], 1);
        }
    }
}

// Finds the digit that contains a rank: the first one at which the prefix sum of counts exceeds it.
__device__ inline Digit digit_of_rank(const unsigned long long* counts, int digits, int64_t rank,
                                      Shared& shared) {
    constexpr int kEach = kDigits / kThreads;
    const int first = threadIdx.x * kEach, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int64_t own = 0;
    for (int digit = first; digit < min(first + kEach, digits); ++digit)
        own += static_cast<int64_t>(counts[digit]);
    int64_t sum = own;
    for (int step = 1; step < 32; step *= 2) {
        const int64_t before = __shfl_up_sync(kAllLanes, sum, step);
        if (lane >= step) sum += before;
    }
    if (lane == 31) shared.warps[warp] = sum;
    __syncthreads();
    for (int i = 0; i < warp; ++i) sum += shared.warps[i];
    int64_t before = sum - own;
    if (before <= rank && rank < sum) {
        int digit = first;
        while (before + static_cast<int64_t>(counts[digit]) <= rank)
            before += static_cast<int64_t>(counts[digit++]);
        shared.found = {digit, before};
    }
    __syncthreads();
    return shared.found;
}

// Finds the next digit of each query, with `blocks` blocks per query; the last block of a query to
// finish chooses the digit. Counts are zero before and after. With `tallies`, it searches the keys
// in the query's bracket.
template <bool kRaw>
__device__ inline void find_digit(const Source& from, Query* queries, int number, int blocks,
                                  int shift, int bits, bool with_nans, const Board& board,
                                  Shared& shared) {
    for (int task = blockIdx.x; task < blocks * number; task += gridDim.x) {
        const int q = task / blocks, block = task % blocks;
        Query& query = queries[q];
        if (query.state != kSearched) continue;
        unsigned long long* const counts = board.counts + int64_t{q} * kDigits;
        __syncthreads();
        for (int i = threadIdx.x; i < kDigits; i += kThreads) shared.table[i] = 0;
        int64_t seen = 0;
        if (from.tallies) {
            for (int part = block; part < gridDim.x; part += blocks) {
                const int64_t at = query.bracket * gridDim.x + part;
                count_digits<kRaw>(from.values + at * from.capacity, 0, from.tallies[at].inside,
                                   kThreads, query.key, shift, bits, shared.table, seen);
            }
        } else {
            count_digits<kRaw>(from.values, int64_t{block} * kThreads, from.count,
                               int64_t{blocks} * kThreads, query.key, shift, bits, shared.table,
                               seen);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < 1 << bits; i += kThreads)
            if (shared.table[i]) atomicAdd(&counts[i], shared.table[i]);
        if (with_nans && q == 0) {
            seen = block_sum(seen, shared.warps);
            if (threadIdx.x == 0 && seen)
                atomicAdd(board.nans, static_cast<unsigned long long>(seen));
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0)
            shared.last = atomicAdd(&board.counted[q], 1u) == static_cast<unsigned int>(blocks - 1);
        __syncthreads();
        if (!shared.last) continue;
        __threadfence();
        const Digit found = digit_of_rank(counts, 1 << bits, query.rank, shared);
        for (int i = threadIdx.x; i < 1 << bits; i += kThreads) counts[i] = 0;
        if (threadIdx.x == 0) {
            query.key |= static_cast<uint64_t>(found.digit) << shift;
            query.rank -= found.before;
            if (shift == 0) query.state = kFound;
            board.counted[q] = 0;
        }
    }
}

// Finds all digits of the queries. `waits` is the number of grid barriers passed before.
template <bool kRaw>
__device__ inline void find_digits(const Source& from, Query* queries, int number, int blocks,
                                   const Board& board, unsigned int& waits, Shared& shared) {
    for (int shift = kBits; shift > 0;) {
        const int bits = min(kDigitBits, shift);
        const bool first = shift == kBits;
        shift -= bits;
        find_digit<kRaw>(from, queries, number, blocks, shift, bits, kRaw && first, board, shared);
        wait_for_all(board, ++waits);
    }
}

// Stratified sample: sets `sample` to the keys of one random value from each step of the array.
__device__ inline void take_sample(const Key* values, int64_t count, int size, Key* sample) {
    const int64_t step = count / size;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < size; i += gridDim.x * kThreads) {
        uint64_t random = (static_cast<uint64_t>(i) + 1) * 0x9E3779B97F4A7C15ull;
        random = (random ^ random >> 29) * 0xBF58476D1CE4E5B9ull;
        sample[i] = key_of(values[i * step + static_cast<int64_t>((random >> 33) % step)]);
    }
}

// Disjoint ascending brackets, and this thread's counts for each.
struct Split {
    Key low[kBrackets], high[kBrackets], span[kBrackets];  // high - low
    uint32_t below[kBrackets], at_low[kBrackets], at_high[kBrackets];
};

// Sets `within` to the mask of the thread's values inside each bracket, and `fewer` to the number
// below it. With kNans, returns the number of NaN; otherwise updates `most`, the largest magnitude.
template <bool kNans>
__device__ inline int look(const Pack (&packs)[kPacks], const Split& split, uint32_t (&fewer)[kBrackets],
                           uint32_t (&within)[kBrackets], Key& most) {
    int nans = 0;
#pragma unroll
    for (int b = 0; b < kBrackets; ++b) fewer[b] = within[b] = 0;
#pragma unroll
    for (int i = 0; i < kKeys; ++i) {
        const Key bits = packs[i / kPack].of[i % kPack];
        const Key key = kNans ? key_of(bits) : order_of(bits);
        if (kNans) nans += is_nan(bits);
        if (!kNans && MMP_KIND == 2) most = max(most, Key(bits & Key(~kTop)));
#pragma unroll
        for (int b = 0; b < kBrackets; ++b) {
            fewer[b] += key < split.low[b];
            within[b] |= static_cast<uint32_t>(Key(key - split.low[b]) <= split.span[b]) << i;
        }
    }
    return nans;
}

// Splits all values at kBrackets brackets, from bracket `first` on.
__device__ inline void split_values(const Key* values, int64_t count, const Query* bounds,
                                    const Ends* ends, int brackets, int first, int64_t capacity,
                                    Key* inside, Tally* tallies, const Board& board,
                                    Shared& shared) {
    Split split;
    uint32_t seen = 0;
    __syncthreads();
#pragma unroll
    for (int b = 0; b < kBrackets; ++b) {
        const bool there = first + b < brackets;
        const Ends end = there ? ends[first + b] : Ends{-1, -1};
        split.low[b] = !there ? kNan : end.low < 0 ? Key(0) : static_cast<Key>(bounds[end.low].key);
        split.high[b] = end.high < 0 ? kNan : static_cast<Key>(bounds[end.high].key);
        split.span[b] = split.high[b] - split.low[b];
        split.below[b] = split.at_low[b] = split.at_high[b] = 0;
        if (threadIdx.x == 0) shared.kept[b] = 0;
    }
    __syncthreads();
    inside += (int64_t{first} * gridDim.x + blockIdx.x) * capacity;
    // The loop over tiles omits the values before the first aligned pack and after the last tile.
    const int64_t before = -reinterpret_cast<uint64_t>(values) % 16 / sizeof(Key);
    const int64_t head = before < count ? before : count;
    const int64_t whole = (count - head) / kTile;
    for (int64_t tile = blockIdx.x; tile < whole; tile += gridDim.x) {
        const Key* const own = values + head + tile * kTile + threadIdx.x * kPack;
        Pack packs[kPacks];
#pragma unroll
        for (int i = 0; i < kPacks; ++i)
            packs[i] = *reinterpret_cast<const Pack*>(own + i * kThreads * kPack);
        uint32_t fewer[kBrackets];
        uint32_t within[kBrackets];
        Key most = 0;
        look<false>(packs, split, fewer, within, most);
        if (most > kInfinity) seen += look<true>(packs, split, fewer, within, most);
#pragma unroll
        for (int b = 0; b < kBrackets; ++b) {
            split.below[b] += fewer[b];
            // Many equal keys might overflow the block's memory, so keys equal to a bound are
            // counted instead of kept.
            if (__popc(within[b]) >= kMany) {
                uint32_t at_low = 0, at_high = 0;
#pragma unroll
                for (int i = 0; i < kKeys; ++i) {
                    const Key key = key_of(packs[i / kPack].of[i % kPack]);
                    at_low |= static_cast<uint32_t>(key == split.low[b]) << i;
                    at_high |= static_cast<uint32_t>(key == split.high[b]) << i;
                }
                at_high &= ~at_low;
                split.at_low[b] += __popc(at_low);
                split.at_high[b] += __popc(at_high);
                within[b] &= ~(at_low | at_high);
            }
            if (within[b] == 0 || first + b >= brackets) continue;
            const int kept = __popc(within[b]);
            const unsigned int place = atomicAdd(&shared.kept[b], kept);
            if (place + kept > capacity) continue;
            Key* next = inside + int64_t{b} * gridDim.x * capacity + place;
#pragma unroll
            for (int i = 0; i < kKeys; ++i)
                if (within[b] >> i & 1) *next++ = key_of(packs[i / kPack].of[i % kPack]);
        }
    }
    for (int64_t i = int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count - whole * kTile;
         i += int64_t{gridDim.x} * kThreads) {
        const Key value = values[i < head ? i : i + whole * kTile], key = key_of(value);
        seen += is_nan(value);
#pragma unroll
        for (int b = 0; b < kBrackets; ++b) {
            split.below[b] += key < split.low[b];
            if (key == split.low[b]) {
                ++split.at_low[b];
            } else if (key == split.high[b]) {
                ++split.at_high[b];
            } else if (Key(key - split.low[b]) < split.span[b]) {
                const unsigned int place = atomicAdd(&shared.kept[b], 1u);
                if (place < capacity) inside[int64_t{b} * gridDim.x * capacity + place] = key;
            }
        }
    }
    if (first == 0) {
        const int64_t nans = block_sum(seen, shared.warps);
        if (threadIdx.x == 0 && nans) atomicAdd(board.nans, static_cast<unsigned long long>(nans));
    }
#pragma unroll
    for (int b = 0; b < kBrackets; ++b) {
        const int64_t fewer = block_sum(split.below[b], shared.warps);
        const int64_t at_low = block_sum(split.at_low[b], shared.warps);
        const int64_t at_high = block_sum(split.at_high[b], shared.warps);
        if (threadIdx.x == 0 && first + b < brackets)
            tallies[int64_t{first + b} * gridDim.x + blockIdx.x] = {fewer, at_low, shared.kept[b],
                                                                    at_high};
    }
}

// Converts a query's rank among all values to its rank among the keys in its bracket. One block per
// query.
__device__ inline void enter_bracket(const Tally* tallies, int64_t capacity, const Query* bounds,
                                     const Ends* ends, Query& query, Shared& shared) {
    Tally all{0, 0, 0, 0};
    int64_t overflows = 0;
    for (int part = threadIdx.x; part < gridDim.x; part += kThreads) {
        const Tally one = tallies[query.bracket * gridDim.x + part];
        all.below += one.below;
        all.at_low += one.at_low;
        all.inside += one.inside;
        all.at_high += one.at_high;
        overflows += one.inside > capacity;
    }
    all.below = block_sum(all.below, shared.warps);
    all.at_low = block_sum(all.at_low, shared.warps);
    all.inside = block_sum(all.inside, shared.warps);
    all.at_high = block_sum(all.at_high, shared.warps);
    overflows = block_sum(overflows, shared.warps);
    if (threadIdx.x > 0) return;
    const Ends end = ends[query.bracket];
    const int64_t rank = query.rank - all.below;
    if (rank >= 0 && rank < all.at_low) {
        query.key = end.low < 0 ? 0 : bounds[end.low].key;
        query.state = kFound;
    } else if (rank >= all.at_low && rank < all.at_low + all.inside && overflows == 0) {
        query.rank = rank - all.at_low;
    } else if (rank >= all.at_low + all.inside && rank < all.at_low + all.inside + all.at_high) {
        query.key = end.high < 0 ? static_cast<uint64_t>(kNan) : bounds[end.high].key;
        query.state = kFound;
    } else {
        query.state = kMissed;
    }
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
    count_digits<true>(values, int64_t{blockIdx.x} * kThreads, count, int64_t{gridDim.x} * kThreads,
                       prefix, shift, bits, table, nans);
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << bits; i += kThreads)
        if (table[i]) atomicAdd(&counts[i], table[i]);
}

// Finds the keys of `number` ranks, with `blocks` blocks for the digits of each. If `brackets` is
// not 0, a sample of `size` keys gives `bound_number` bounds, each searched with `sample_blocks`
// blocks, and `inside` receives the keys of each bracket, at most `capacity` per block. `counts`
// and `counted` have room for max(number, bound_number) queries; `waiting` and `nans` must be zero.
// All blocks must be resident.
extern "C" __global__ void __launch_bounds__(kThreads, kBlocks)
    find_keys(const Key* values, int64_t count, Query* queries, int number, int blocks,
              Query* bounds, int bound_number, int sample_blocks, Key* sample, int size,
              const Ends* ends, int brackets, Key* inside, int64_t capacity, Tally* tallies,
              unsigned long long* counts, unsigned int* counted, unsigned int* waiting,
              unsigned long long* nans) {
    __shared__ Shared shared;
    const Board board{counts, counted, waiting, nans};
    unsigned int waits = 0;
    const int most = max(number, bound_number);
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < most * kDigits; i += gridDim.x * kThreads)
        counts[i] = 0;
    if (blockIdx.x == 0)
        for (int i = threadIdx.x; i < most; i += kThreads) counted[i] = 0;
    if (brackets > 0) take_sample(values, count, size, sample);
    wait_for_all(board, ++waits);
    if (brackets == 0) {
        const Source all{values, count, nullptr, 0};
        find_digits<true>(all, queries, number, blocks, board, waits, shared);
        return;
    }
    if (bound_number > 0) {
        const Source in_sample{sample, size, nullptr, 0};
        find_digits<false>(in_sample, bounds, bound_number, sample_blocks, board, waits, shared);
    }
    for (int first = 0; first < brackets; first += kBrackets)
        split_values(values, count, bounds, ends, brackets, first, capacity, inside, tallies, board,
                     shared);
    wait_for_all(board, ++waits);
    for (int q = blockIdx.x; q < number; q += gridDim.x)
        enter_bracket(tallies, capacity, bounds, ends, queries[q], shared);
    wait_for_all(board, ++waits);
    const Source kept{inside, 0, tallies, capacity};
    find_digits<false>(kept, queries, number, blocks, board, waits, shared);
}

// Finds the keys of `each` ranks of each row, and its number of NaN. Grid: one block per row.
extern "C" __global__ void __launch_bounds__(kThreads)
    select_rows(const Key* values, int64_t length, const int64_t* ranks, int each, uint64_t* keys,
                int64_t* nans) {
    __shared__ Shared shared;
    __shared__ unsigned long long counts[kThreads];
    const Key* row = values + int64_t{blockIdx.x} * length;
    for (int i = 0; i < each; ++i) {
        uint64_t prefix = 0;
        int64_t rank = ranks[int64_t{blockIdx.x} * each + i];
        for (int shift = kBits - 8; shift >= 0; shift -= 8) {
            int64_t seen = 0;
            shared.table[threadIdx.x] = 0;
            count_digits<true>(row, 0, length, kThreads, prefix, shift, 8, shared.table, seen);
            __syncthreads();
            counts[threadIdx.x] = shared.table[threadIdx.x];
            if (i == 0 && shift == kBits - 8) {
                seen = block_sum(seen, shared.warps);
                if (threadIdx.x == 0) nans[blockIdx.x] = seen;
            }
            __syncthreads();
            const Digit found = digit_of_rank(counts, kThreads, rank, shared);
            prefix |= static_cast<uint64_t>(found.digit) << shift;
            rank -= found.before;
        }
        if (threadIdx.x == 0) keys[int64_t{blockIdx.x} * each + i] = prefix;
    }
}
