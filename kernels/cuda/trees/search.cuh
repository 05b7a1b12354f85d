// Cost map: the cheapest element for each segment of a fragment.
//
// The cost is D + lambda R with D = |x|^2 - 2 x.d + |d|^2 for segment x and element d.
// Dictionary::cost holds |d|^2 minus the part of the cost that depends on the count. |x|^2 is equal
// for all elements and is added when the tree is chosen. The search computes the integer dot
// products x.d. Tensor cores (mma) multiply elements of at least 16 samples, 16 elements at a time.
// For smaller elements, each lane holds segments and compares them with one element after the
// other.
#pragma once

#include "cuda/trees/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

// Exceeds the cost of any element.
constexpr int32_t kNoElementCost = 0x7FFFFFFF;

constexpr int kDotShift = kCostFractionBits + 1;

struct TreeSearchMemory {
    alignas(16) uint8_t segments[kScales * kFragmentArea];  // segments of all scales
    alignas(16) uint8_t source[kScales * kFragmentArea];    // their positions in the fragment
    alignas(16) uint32_t samples[kWarps][64];               // elements that each warp compares
    alignas(16) int32_t cost[kWarps][32];                   // costs of these elements
    uint64_t key[kWarps][kFragmentArea + 1];  // best keys of each warp's last scale
    int scale[kWarps];                        // last scale of each warp, or -1
    int start[32];                            // position of each scale in the cost map
    uint32_t size[32];  // sizes of the dictionaries
    uint32_t units_before[32];
    uint32_t first_unit, last_unit;  // this block's share: first_unit to last_unit - 1
};

// log2 of the number of elements in a unit of work; each element is compared with all segments of
// its scale.
__device__ constexpr int unit_log2(int scale) {
    const int log2 = area_log2(scale);
    return log2 < 2 ? 2 + log2 : log2 == 2 || log2 > 6 ? 4 : 5;
}

// Precomputes the positions of the samples, because integer divisions are slow. All threads of the
// block call it.
__device__ inline void start_search(TreeSearchMemory& memory) {
#pragma unroll 1
    for (int i = threadIdx.x; i < kScales * kFragmentArea; i += kThreads) {
        const int scale = i / kFragmentArea, place = i % kFragmentArea;
        const int area = scale_area(scale), width = scale_width(scale);
        const int segment = place / area, sample = place % area;
        const int columns = 1 << scale_m(scale);
        const int row = segment / columns * scale_height(scale) + sample / width;
        const int column = segment % columns * width + sample % width;
        memory.source[i] = static_cast<uint8_t>(row * kFragmentSize + column);
    }
    if (threadIdx.x < kScales) memory.start[threadIdx.x] = scale_start(threadIdx.x);
    __syncthreads();
}

// Copies the samples of a fragment to the segments of all scales.
__device__ inline void lay_out_segments(const uint8_t* source, TreeSearchMemory& memory) {
#pragma unroll 1
    for (int i = threadIdx.x; i < kScales * kFragmentArea / 4; i += kThreads) {
        const uchar4 from = reinterpret_cast<const uchar4*>(memory.source)[i];
        reinterpret_cast<uchar4*>(memory.segments)[i] =
            make_uchar4(source[from.x], source[from.y], source[from.z], source[from.w]);
    }
}

// Counts the units of work and determines the share of block `block` of `blocks`. One warp calls
// it; lane s passes the size of the dictionary of scale s.
__device__ inline void plan_search(TreeSearchMemory& memory, uint32_t size, int block, int blocks) {
    const int lane = threadIdx.x % 32;
    const int log2 = lane < kScales ? unit_log2(lane) : 0;
    const uint32_t before = warp_sum_before((size + (1 << log2) - 1) >> log2);
    const uint32_t units = __shfl_sync(kAllLanes, before, kScales);
    memory.size[lane] = size;
    memory.units_before[lane] = before;
    if (lane < 2) (&memory.first_unit)[lane] = (block + lane) * units / blocks;
}

struct Best {
    int32_t cost = 0x7FFFFFFF;
    uint32_t element = 0;

    __device__ void take(int32_t other, uint32_t index) {
        if (other < cost) {
            cost = other;
            element = index;
        }
    }
    // Costs are signed; flipping the sign bit makes the unsigned key sort correctly.
    __device__ uint64_t key() const {
        return uint64_t{static_cast<uint32_t>(cost) ^ 0x80000000u} << 32 | element;
    }
};

// Costs of a scale's classes, two per lane.
struct ClassCosts {
    int32_t low, high;

    __device__ ClassCosts(const int32_t* class_cost)
        : low(class_cost[threadIdx.x % 32]), high(class_cost[threadIdx.x % 32 + 32]) {}

    // All lanes must call it together (shuffle).
    __device__ int32_t operator[](int c) const {
        const int32_t first = __shfl_sync(kAllLanes, low, c % 32);
        const int32_t second = __shfl_sync(kAllLanes, high, c % 32);
        return c < 32 ? first : second;
    }
};

// Class of an element and its cost without the class cost; loaded before the samples are needed.
struct OwnCost {
    int32_t cost = kNoElementCost;
    int element_class = -1;

    __device__ OwnCost() {}
    __device__ OwnCost(const Dictionary& dictionary, uint32_t element, uint32_t size) {
        if (element >= size) return;
        cost = dictionary.cost[element];
        element_class = dictionary.element_class[element];
    }
    __device__ int32_t with(const ClassCosts& classes) const {
        const int32_t class_cost = classes[element_class & 63];
        return element_class < 0 ? cost : cost + class_cost;
    }
};

struct Units {
    uint32_t first, last;
};

// Searches elements of fewer than 16 samples. Each lane holds every 32nd segment.
template <int Area>
__device__ void search_small(const Dictionary& dictionary, uint32_t size, const ClassCosts& classes,
                             const uint8_t* segments, Units units, uint32_t* samples,
                             int32_t* costs, uint64_t* key) {
    constexpr int kHeld = kFragmentArea / Area / 32, kWords = Area < 4 ? 1 : Area / 4;
    constexpr int kElements = Area < 4 ? 4 * Area : Area == 4 ? 16 : 32;
    constexpr int kUnitWords = kElements * Area / 4;
    const int lane = threadIdx.x % 32;
    uint32_t x[kHeld][kWords];
    Best best[kHeld];
#pragma unroll
    for (int held = 0; held < kHeld; ++held) {
        const uint8_t* segment = segments + (held * 32 + lane) * Area;
        if constexpr (Area == 1) x[held][0] = segment[0];
        if constexpr (Area == 2) x[held][0] = *reinterpret_cast<const uint16_t*>(segment);
        if constexpr (Area >= 4)
            for (int w = 0; w < kWords; ++w)
                x[held][w] = reinterpret_cast<const uint32_t*>(segment)[w];
    }
    // Prefetches the next unit while this one is compared.
    OwnCost own;
    uint32_t fetched[2] = {0, 0};
    const auto fetch = [&](uint32_t unit) {
        const uint32_t element = unit * kElements + lane;
        own = OwnCost(dictionary, element, lane < kElements ? size : 0);
        const uint32_t* words = dictionary.samples + uint64_t{unit} * kUnitWords;
        if (lane < kUnitWords) fetched[0] = words[lane];
        if (kUnitWords > 32) fetched[1] = words[lane + 32];
    };
    fetch(units.first);
#pragma unroll 1
    for (uint32_t unit = units.first; unit < units.last; ++unit) {
        const int32_t cost = own.with(classes);
        __syncwarp();
        costs[lane] = cost;
        samples[lane] = fetched[0];
        if (kUnitWords > 32) samples[lane + 32] = fetched[1];
        __syncwarp();
        if (unit + 1 < units.last) fetch(unit + 1);
#pragma unroll 1
        for (int four = 0; four < kElements; four += 4) {
            const int4 own_costs = *reinterpret_cast<const int4*>(costs + four);
            uint32_t d[Area];
            if constexpr (Area < 4) {
                for (int w = 0; w < Area; ++w) d[w] = samples[four / 4 * Area + w];
            } else {
                for (int w = 0; w < Area; w += 4) {
                    const uint4 v = *reinterpret_cast<const uint4*>(samples + four / 4 * Area + w);
                    d[w] = v.x, d[w + 1] = v.y, d[w + 2] = v.z, d[w + 3] = v.w;
                }
            }
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int32_t own_cost = e == 0   ? own_costs.x
                                         : e == 1 ? own_costs.y
                                         : e == 2 ? own_costs.z
                                                  : own_costs.w;
                const uint32_t element = unit * kElements + four + e;
#pragma unroll
                for (int held = 0; held < kHeld; ++held) {
                    uint32_t dot = 0;
                    if constexpr (Area == 1) dot = x[held][0] * (d[0] >> 8 * e & 0xFF);
                    if constexpr (Area == 2)
                        dot = __dp4a(x[held][0], d[e / 2] >> 16 * (e % 2) & 0xFFFF, 0u);
                    if constexpr (Area >= 4)
                        for (int w = 0; w < kWords; ++w)
                            dot = __dp4a(x[held][w], d[e * kWords + w], dot);
                    best[held].take(own_cost - static_cast<int32_t>(dot << kDotShift), element);
                }
            }
        }
    }
#pragma unroll
    for (int held = 0; held < kHeld; ++held) key[held * 32 + lane] = best[held].key();
}

// Adds the dot products of 16 elements with 8 segments, over 16 or 32 samples, to `sum`. sum[0] and
// sum[1] are for element lane / 4 and segments lane % 4 * 2 and the next one; sum[2] and sum[3] are
// for element lane / 4 + 8.
__device__ inline void multiply(uint32_t a0, uint32_t a1, uint32_t b, int32_t (&sum)[4]) {
#ifdef MMP_EMULATED  // by tests/support/emulated/device.h
    emulated::multiply(a0, a1, b, sum);
#else
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a0), "r"(a1), "r"(b));
#endif
}

__device__ inline void multiply(uint4 a, uint32_t b0, uint32_t b1, int32_t (&sum)[4]) {
#ifdef MMP_EMULATED
    emulated::multiply(a.x, a.y, b0, sum);
    emulated::multiply(a.z, a.w, b1, sum);
#else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

// Updates the best elements of two segments with the dot products of two elements.
__device__ inline void take_product(const int32_t (&sum)[4], const int32_t (&cost)[2],
                                    uint32_t element, Best (&best)[2]) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
        best[i % 2].take(cost[i / 2] - (sum[i] << kDotShift), element + i / 2 * 8);
}

// Writes the key of each segment: the minimum over the lanes that hold the segment.
__device__ inline void write_keys(const Best (&best)[2], int first, int segments, uint64_t* key) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        uint64_t mine = best[i].key();
        for (int step = 4; step < 32; step *= 2) {
            const uint64_t other = __shfl_xor_sync(kAllLanes, mine, step);
            mine = other < mine ? other : mine;
        }
        const int segment = first + 2 * lane + i;
        if (lane < 4 && segment < segments) key[segment] = mine;
    }
}

// Searches elements of 16 samples for each of the 16 segments of their scale.
__device__ inline void search_16(const Dictionary& dictionary, uint32_t size,
                                 const ClassCosts& classes, const uint8_t* segments, Units units,
                                 uint64_t* key) {
    const int lane = threadIdx.x % 32, row = lane / 4;
    const uint32_t* words = reinterpret_cast<const uint32_t*>(segments);
    const uint32_t b[2] = {words[lane], words[lane + 32]};
    // Two arrays: nvcc 13.0 and NVRTC leave the second row of a two-dimensional array zero
    // (compiler bug).
    Best left[2], right[2];
#pragma unroll 1
    for (uint32_t unit = units.first; unit < units.last; ++unit) {
        const uint4 a = reinterpret_cast<const uint4*>(dictionary.samples)[uint64_t{unit} * 32 + lane];
        const OwnCost own(dictionary, unit * 32 + lane, size);
        const int32_t mine = own.with(classes);
#pragma unroll
        for (int tile = 0; tile < 2; ++tile) {
            const int32_t cost[2] = {__shfl_sync(kAllLanes, mine, tile * 16 + row),
                                     __shfl_sync(kAllLanes, mine, tile * 16 + row + 8)};
#pragma unroll
            for (int group = 0; group < 2; ++group) {
                int32_t sum[4] = {0, 0, 0, 0};
                multiply(tile ? a.z : a.x, tile ? a.w : a.y, b[group], sum);
                take_product(sum, cost, unit * 32 + tile * 16 + row, group ? right : left);
            }
        }
    }
    write_keys(left, 0, 16, key);
    write_keys(right, 8, 16, key);
}

// Searches elements of at least 32 samples for each of the at most 8 segments of their scale.
template <int Area>
__device__ void search_large(const Dictionary& dictionary, uint32_t size, const ClassCosts& classes,
                             const uint8_t* segments, Units units, uint64_t* key) {
    constexpr int kSegmentsHere = kFragmentArea / Area, kPieces = Area / 32;
    constexpr int kTiles = Area > 64 ? 1 : 2;
    const int lane = threadIdx.x % 32, row = lane / 4;
    const uint32_t* words =
        reinterpret_cast<const uint32_t*>(segments) + row * (Area / 4) + lane % 4;
    Best best[2];
#pragma unroll 1
    for (uint32_t unit = units.first; unit < units.last; ++unit) {
        const uint32_t first = unit * kTiles * 16;
        const uint4* tiles =
            reinterpret_cast<const uint4*>(dictionary.samples) + uint64_t{first} * (Area / 16) + lane;
        uint4 a[kTiles][kPieces];
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
            for (int piece = 0; piece < kPieces; ++piece)
                a[tile][piece] = tiles[(tile * kPieces + piece) * 32];
        const OwnCost own(dictionary, first + lane, lane < kTiles * 16 ? size : 0);
        const int32_t mine = own.with(classes);
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
            const int32_t cost[2] = {__shfl_sync(kAllLanes, mine, tile * 16 + row),
                                     __shfl_sync(kAllLanes, mine, tile * 16 + row + 8)};
            int32_t sum[4] = {0, 0, 0, 0};
#pragma unroll
            for (int piece = 0; piece < kPieces; ++piece) {
                const bool held = row < kSegmentsHere;
                multiply(a[tile][piece], held ? words[piece * 8] : 0,
                         held ? words[piece * 8 + 4] : 0, sum);
            }
            take_product(sum, cost, first + tile * 16 + row, best);
        }
    }
    write_keys(best, 0, kSegmentsHere, key);
}

// Searches one warp's units of a scale and writes the keys of the segments to `key`.
__device__ inline void search_units(const Picture& picture, const State& state,
                                    TreeSearchMemory& memory, int scale, Units units, uint64_t* key) {
    const int warp = threadIdx.x / 32;
    const Dictionary& dictionary = picture.dictionaries[scale];
    const uint32_t size = memory.size[scale];
    const uint8_t* segments = memory.segments + scale * kFragmentArea;
    const ClassCosts classes(state.class_cost[scale]);
    uint32_t* samples = memory.samples[warp];
    int32_t* costs = memory.cost[warp];
    switch (area_log2(scale)) {
        case 0: return search_small<1>(dictionary, size, classes, segments, units, samples, costs, key);
        case 1: return search_small<2>(dictionary, size, classes, segments, units, samples, costs, key);
        case 2: return search_small<4>(dictionary, size, classes, segments, units, samples, costs, key);
        case 3: return search_small<8>(dictionary, size, classes, segments, units, samples, costs, key);
        case 4: return search_16(dictionary, size, classes, segments, units, key);
        case 5: return search_large<32>(dictionary, size, classes, segments, units, key);
        case 6: return search_large<64>(dictionary, size, classes, segments, units, key);
        case 7: return search_large<128>(dictionary, size, classes, segments, units, key);
        default: return search_large<256>(dictionary, size, classes, segments, units, key);
    }
}

__device__ inline void lower_key(uint64_t* keys, int place, uint64_t mine) {
    atomicMin(reinterpret_cast<unsigned long long*>(&keys[place]),
              static_cast<unsigned long long>(mine));
}

// Executes this block's share of the search of a fragment and lowers the keys of the segments
// (atomic minimum). Requires lay_out_segments() and plan_search().
__device__ inline void search_fragment(const Picture& picture, const State& state,
                                       TreeSearchMemory& memory, uint64_t* keys) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t before = memory.units_before[lane];
    const uint32_t units = memory.last_unit - memory.first_unit;
    uint32_t number = memory.first_unit + warp * units / kWarps;
    const uint32_t last = memory.first_unit + (warp + 1) * units / kWarps;
    int scale = -1;
#pragma unroll 1
    while (number < last) {
        if (scale >= 0)
#pragma unroll 1
            for (int segment = lane; segment < kFragmentArea >> area_log2(scale); segment += 32)
                lower_key(keys, memory.start[scale] + segment, memory.key[warp][segment]);
        __syncwarp();
        // The unit belongs to the last scale that starts at or before it (ballot).
        scale = 31 - __clz(__ballot_sync(kAllLanes, lane < kScales && before <= number));
        const uint32_t start = __shfl_sync(kAllLanes, before, scale);
        const uint32_t end = min(last, __shfl_sync(kAllLanes, before, scale + 1));
        search_units(picture, state, memory, scale, {number - start, end - start},
                     memory.key[warp]);
        __syncwarp();
        number = end;
    }
    if (lane == 0) memory.scale[warp] = scale;
    __syncthreads();
    // Adjacent warps usually end with the same scale, so the block lowers its keys once, which
    // saves atomics.
    const int its_scale = memory.scale[lane];
#pragma unroll 1
    for (uint32_t warps = __ballot_sync(kAllLanes, its_scale >= 0); warps;) {
        const int shared = __shfl_sync(kAllLanes, its_scale, __ffs(warps) - 1);
        const bool has = its_scale == shared;
        const int segments = kFragmentArea >> area_log2(shared);
#pragma unroll 2
        for (int segment = warp; segment < segments; segment += kWarps) {
            const uint64_t mine = warp_min(has ? memory.key[lane][segment] : kNoKey);
            if (lane == 0) lower_key(keys, memory.start[shared] + segment, mine);
        }
        warps &= ~__ballot_sync(kAllLanes, has);
    }
}

}  // namespace mmp
