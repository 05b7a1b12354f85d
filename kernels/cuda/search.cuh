// The cost map: for each segment of a fragment its cheapest element.
//
// J = D + lambda R with D = |x|^2 - 2 x.d + |d|^2. The elements carry |d|^2 and their rate, |x|^2
// is the same for all elements and is added with the tree, so what is left is an integer dot
// product. A warp takes 16 or 32 elements of one scale; its lanes hold the segments, and where
// there are fewer than 32 segments several elements at a time.
#pragma once

#include "state.cuh"
#include "warp.cuh"

namespace mmp {

constexpr int kMaxWarps = 32;

// Above any cost that an element can have.
constexpr int32_t kNoElementCost = 0x7FFFFFFF;

struct SearchMemory {
    alignas(16) uint8_t segments[kScales * kFragmentArea];  // of each scale, one after the other
    alignas(16) uint8_t source[kScales * kFragmentArea];    // where in the fragment each comes from
    alignas(16) int32_t cost[kMaxWarps][32];
    alignas(16) uint64_t key[kMaxWarps][32];  // of each warp's last segments
    int run[kMaxWarps];                       // which segments those are
    int32_t class_cost[kScales][kClassSlots];
    uint32_t size[kScales];
    int units_before[kScales + 1];
};

__device__ inline int unit_elements(int scale) { return area_log2(scale) <= 4 ? 16 : 32; }
__device__ inline int segment_groups(int scale) {
    return area_log2(scale) < 3 ? 8 >> area_log2(scale) : 1;
}

// Once a launch: divisions are slow. All threads of the block take part.
__device__ inline void start_search(SearchMemory& memory) {
    for (int i = threadIdx.x; i < kScales * kFragmentArea; i += blockDim.x) {
        const int scale = i / kFragmentArea, place = i % kFragmentArea;
        const int area = scale_area(scale), width = scale_width(scale);
        const int segment = place / area, sample = place % area;
        const int columns = 1 << scale_m(scale);
        const int row = segment / columns * scale_height(scale) + sample / width;
        const int column = segment % columns * width + sample % width;
        memory.source[i] = static_cast<uint8_t>(row * kFragmentSize + column);
    }
    __syncthreads();
}

// Lays out the segments of all scales.
__device__ inline void lay_out_segments(const uint8_t* residual, SearchMemory& memory) {
    for (int i = threadIdx.x; i < kScales * kFragmentArea / 4; i += blockDim.x) {
        const uchar4 from = reinterpret_cast<const uchar4*>(memory.source)[i];
        reinterpret_cast<uchar4*>(memory.segments)[i] =
            make_uchar4(residual[from.x], residual[from.y], residual[from.z], residual[from.w]);
    }
}

// Takes over sizes and costs of classes, and counts the units of work.
__device__ inline void plan_search(const State& state, SearchMemory& memory) {
    for (int i = threadIdx.x; i < kScales * kClassSlots; i += blockDim.x)
        memory.class_cost[i / kClassSlots][i % kClassSlots] =
            state.scales[i / kClassSlots].class_cost[i % kClassSlots];
    if (threadIdx.x < 32) {
        const int scale = threadIdx.x;
        uint32_t units = 0;
        if (scale < kScales) {
            const int tile = unit_elements(scale);
            const uint32_t size = state.scales[scale].size;
            memory.size[scale] = size;
            units = (size + tile - 1) / tile * segment_groups(scale);
        }
        const uint32_t before = warp_sum_before(units);
        if (scale <= kScales) memory.units_before[scale] = static_cast<int>(before);
    }
    __syncthreads();
}

__device__ inline uint32_t dot16(uint4 x, uint4 d, uint32_t sum) {
    sum = __dp4a(x.x, d.x, sum);
    sum = __dp4a(x.y, d.y, sum);
    sum = __dp4a(x.z, d.z, sum);
    return __dp4a(x.w, d.w, sum);
}

struct Best {
    int32_t cost = INT32_MAX_;
    uint32_t element = 0;
    static constexpr int32_t INT32_MAX_ = 0x7FFFFFFF;

    __device__ void take(int32_t other, uint32_t index) {
        if (other < cost) {
            cost = other;
            element = index;
        }
    }
};

// Elements of fewer than 16 samples: 16 bytes hold several, and each lane has one segment.
template <int Area>
__device__ void search_small(const uint8_t* dictionary, const uint8_t* segments, int group,
                             uint32_t first, const int32_t* cost, Best& best) {
    constexpr int kWords = Area < 4 ? 1 : Area / 4;
    const int lane = threadIdx.x % 32;
    const uint8_t* segment = segments + (group * 32 + lane) * Area;
    uint32_t x[kWords];
    if constexpr (Area == 1) x[0] = segment[0];
    if constexpr (Area == 2) x[0] = *reinterpret_cast<const uint16_t*>(segment);
    if constexpr (Area >= 4)
        for (int w = 0; w < kWords; ++w) x[w] = reinterpret_cast<const uint32_t*>(segment)[w];
    // Some vectors of 16 bytes are asked for before the first is used. No element is left out, for
    // a condition would make each wait for the one before: past the last lie others, or reserved
    // space, and their costs are too large to win.
    constexpr int kVectors = Area < 4 ? Area : 4;
    constexpr int kElements = 16 * kVectors / Area;
    const uint4* vectors = reinterpret_cast<const uint4*>(dictionary + uint64_t{first} * Area);
#pragma unroll 1
    for (int start = 0; start < 16; start += kElements, vectors += kVectors) {
        uint4 samples[kVectors];
#pragma unroll
        for (int i = 0; i < kVectors; ++i) samples[i] = vectors[i];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < kElements; i += 4) {
            const int4 costs = *reinterpret_cast<const int4*>(cost + start + i);
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const auto word = [&](int w) {
                    const uint4& v = samples[w / 4];
                    return w % 4 == 0 ? v.x : w % 4 == 1 ? v.y : w % 4 == 2 ? v.z : v.w;
                };
                const int e = i + j;
                uint32_t dot;
                if constexpr (Area == 1) dot = x[0] * (word(e / 4) >> 8 * (e % 4) & 0xFF);
                if constexpr (Area == 2)
                    dot = __dp4a(x[0], word(e / 2) >> 16 * (e % 2) & 0xFFFF, 0u);
                if constexpr (Area == 4) dot = __dp4a(x[0], word(e), 0u);
                if constexpr (Area == 8)
                    dot = __dp4a(x[1], word(2 * e + 1), __dp4a(x[0], word(2 * e), 0u));
                const int32_t own = j == 0 ? costs.x : j == 1 ? costs.y : j == 2 ? costs.z : costs.w;
                best.take(own - static_cast<int32_t>(dot << (kCostFractionBits + 1)),
                          first + start + e);
            }
        }
    }
}

// Elements of 16 samples and more: Tile elements side by side, 32 / Tile segments each.
template <int Area>
__device__ void search_large(const uint8_t* dictionary, const uint8_t* segments, uint32_t first,
                             const int32_t* cost, Best& best) {
    constexpr int kChunks = Area / 16, kSegmentsHere = kFragmentArea / Area;
    constexpr int kTile = 32 / kSegmentsHere, kSteps = (Area == 16 ? 16 : 32) / kTile;
    const int lane = threadIdx.x % 32, mine = lane / kSegmentsHere;
    const uint4* segment = reinterpret_cast<const uint4*>(segments + lane % kSegmentsHere * Area);
    const uint4* element =
        reinterpret_cast<const uint4*>(dictionary) + uint64_t{first} * kChunks + mine;
    __syncwarp();
#pragma unroll 4
    for (int step = 0; step < kSteps; ++step, element += kTile * kChunks) {
        uint32_t dot = 0;
#pragma unroll 8
        for (int chunk = 0; chunk < kChunks; ++chunk)
            dot = dot16(segment[chunk], element[chunk * kTile], dot);
        const int i = step * kTile + mine;
        best.take(cost[i] - static_cast<int32_t>(dot << (kCostFractionBits + 1)), first + i);
    }
}

// The best of all lanes that hold the same segment, as a key: cost, then element.
__device__ inline uint64_t best_key(const Best& best, int scale) {
    const int segments = kFragmentArea / scale_area(scale);
    // Costs are signed; the flipped bit keeps their order in an unsigned key.
    uint64_t mine = uint64_t{static_cast<uint32_t>(best.cost) ^ 0x80000000u} << 32 | best.element;
    for (int step = 16; step >= segments; step /= 2) {
        const uint64_t other = __shfl_xor_sync(kAllLanes, mine, step);
        mine = other < mine ? other : mine;
    }
    return mine;
}

// Segments that the lanes of a warp hold, as one number.
__device__ inline int run_of(int scale, int group) { return scale * 8 + group; }

// Lowers the keys of a run's segments.
__device__ inline void publish(uint64_t mine, int run, uint64_t* key) {
    const int lane = threadIdx.x % 32, scale = run / 8, group = run % 8;
    if (lane >= kFragmentArea / scale_area(scale)) return;
    const int segment = group * 32 + lane, m = scale_m(scale);
    const int address = segment_address(scale, segment >> m, segment & ((1 << m) - 1));
    atomicMin(reinterpret_cast<unsigned long long*>(&key[address]),
              static_cast<unsigned long long>(mine));
}

__device__ inline void search_unit(const uint8_t* dictionary, const SearchMemory& memory,
                                   int scale, int group, uint32_t first,
                                   const int32_t* cost, Best& best) {
    const uint8_t* segments = memory.segments + scale * kFragmentArea;
    switch (area_log2(scale)) {
        case 0: return search_small<1>(dictionary, segments, group, first, cost, best);
        case 1: return search_small<2>(dictionary, segments, group, first, cost, best);
        case 2: return search_small<4>(dictionary, segments, group, first, cost, best);
        case 3: return search_small<8>(dictionary, segments, group, first, cost, best);
        case 4: return search_large<16>(dictionary, segments, first, cost, best);
        case 5: return search_large<32>(dictionary, segments, first, cost, best);
        case 6: return search_large<64>(dictionary, segments, first, cost, best);
        case 7: return search_large<128>(dictionary, segments, first, cost, best);
        default: return search_large<256>(dictionary, segments, first, cost, best);
    }
}

// A warp's place in the search: one unit of work.
struct Unit {
    int scale, group;
    uint32_t first;
    int elements;
};

__device__ inline Unit unit_at(const SearchMemory& memory, int number, int scale) {
    while (number >= memory.units_before[scale + 1]) ++scale;
    const uint32_t size = memory.size[scale];
    const int tile = unit_elements(scale), tiles = (size + tile - 1) / tile;
    const int place = number - memory.units_before[scale];
    const int group = segment_groups(scale) > 1 ? place / tiles : 0;
    const uint32_t first = static_cast<uint32_t>(place - group * tiles) * tile;
    return {scale, group, first, min(tile, static_cast<int>(size - first))};
}

// This block's part of the search of a fragment that is laid out and planned; block `block` of
// `blocks`.
__device__ inline void search_fragment(const Picture& picture, SearchMemory& memory, int block,
                                       int blocks, uint64_t* key) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint32_t units = memory.units_before[kScales];
    const uint32_t worker = block * warps + warp, workers = blocks * warps;
    int number = static_cast<int>(uint64_t{worker} * units / workers);
    const int last = static_cast<int>(uint64_t{worker + 1} * units / workers);
    int run = -1;
    Best best;
    // The costs of a unit are fetched while the one before is compared.
    Unit unit{0, 0, 0, 0};
    int32_t own_cost = 0;
    int element_class = 0;
    const auto fetch = [&] {
        if (lane >= unit.elements) return;
        const Dictionary& dictionary = picture.dictionaries[unit.scale];
        own_cost = dictionary.cost[unit.first + lane];
        element_class = dictionary.element_class[unit.first + lane];
    };
    if (number < last) {
        unit = unit_at(memory, number, 0);
        fetch();
    }
    for (; number < last; ++number) {
        const Unit now = unit;
        const int32_t cost = lane < now.elements
                                 ? own_cost + memory.class_cost[now.scale][element_class]
                                 : kNoElementCost;
        if (number + 1 < last) {
            unit = unit_at(memory, number + 1, now.scale);
            fetch();
        }
        if (run_of(now.scale, now.group) != run) {
            if (run >= 0) publish(best_key(best, run / 8), run, key);
            best = Best();
            run = run_of(now.scale, now.group);
        }
        __syncwarp();
        memory.cost[warp][lane] = cost;
        search_unit(picture.dictionaries[now.scale].samples, memory, now.scale, now.group,
                    now.first, memory.cost[warp], best);
    }
    // Neighbouring warps mostly end with the same segments; one of them publishes for all.
    memory.key[warp][lane] = run >= 0 ? best_key(best, run / 8) : kNoKey;
    if (lane == 0) memory.run[warp] = run;
    __syncthreads();
    if (run < 0 || (warp > 0 && memory.run[warp - 1] == run)) return;
    uint64_t mine = memory.key[warp][lane];
    for (int other = warp + 1; other < warps && memory.run[other] == run; ++other)
        mine = memory.key[other][lane] < mine ? memory.key[other][lane] : mine;
    publish(mine, run, key);
}

}  // namespace mmp
