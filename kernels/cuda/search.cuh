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

struct SearchMemory {
    alignas(16) uint8_t segments[kScales * kFragmentArea];  // of each scale, one after the other
    alignas(16) uint8_t source[kScales * kFragmentArea];    // where in the fragment each comes from
    alignas(16) int32_t cost[kMaxWarps][32];
    int32_t class_cost[kScales][kClassSlots];
    const uint8_t* samples[kScales];
    const int32_t* element_cost[kScales];
    const uint8_t* element_class[kScales];
    uint32_t size[kScales];
    int units_before[kScales + 1];
};

__device__ inline int unit_elements(int scale) { return area_log2(scale) <= 4 ? 16 : 32; }
__device__ inline int segment_groups(int scale) {
    return area_log2(scale) < 3 ? 8 >> area_log2(scale) : 1;
}

// Once a launch: divisions are slow, and so is the way to what never changes. All threads of the
// block take part.
__device__ inline void start_search(const State& state, SearchMemory& memory) {
    if (threadIdx.x < kScales) {
        memory.samples[threadIdx.x] = state.scales[threadIdx.x].samples;
        memory.element_cost[threadIdx.x] = state.scales[threadIdx.x].cost;
        memory.element_class[threadIdx.x] = state.scales[threadIdx.x].element_class;
    }
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

// Lays out the segments of all scales, takes over sizes and costs of classes, and counts the units
// of work.
__device__ inline void lay_out_segments(const State& state, const uint8_t* residual,
                                        SearchMemory& memory) {
    for (int i = threadIdx.x; i < kScales * kClassSlots; i += blockDim.x)
        memory.class_cost[i / kClassSlots][i % kClassSlots] =
            state.scales[i / kClassSlots].class_cost[i % kClassSlots];
    for (int i = threadIdx.x; i < kScales * kFragmentArea / 4; i += blockDim.x) {
        const uchar4 from = reinterpret_cast<const uchar4*>(memory.source)[i];
        reinterpret_cast<uchar4*>(memory.segments)[i] =
            make_uchar4(residual[from.x], residual[from.y], residual[from.z], residual[from.w]);
    }
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
                             uint32_t first, int elements, const int32_t* cost, Best& best) {
    constexpr int kWords = Area < 4 ? 1 : Area / 4;
    const int lane = threadIdx.x % 32;
    const uint8_t* segment = segments + (group * 32 + lane) * Area;
    uint32_t x[kWords];
    if constexpr (Area == 1) x[0] = segment[0];
    if constexpr (Area == 2) x[0] = *reinterpret_cast<const uint16_t*>(segment);
    if constexpr (Area >= 4)
        for (int w = 0; w < kWords; ++w) x[w] = reinterpret_cast<const uint32_t*>(segment)[w];
    // Some vectors of 16 bytes are asked for before the first is used. Past the last element lie
    // others, or reserved space; they are read and not compared.
    constexpr int kVectors = Area < 4 ? Area : 4;
    constexpr int kElements = 16 * kVectors / Area;
    const uint4* vectors = reinterpret_cast<const uint4*>(dictionary + uint64_t{first} * Area);
#pragma unroll 1
    for (int start = 0; start < elements; start += kElements, vectors += kVectors) {
        uint4 samples[kVectors];
#pragma unroll
        for (int i = 0; i < kVectors; ++i) samples[i] = vectors[i];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < kElements; ++i) {
            const auto word = [&](int w) {
                const uint4& v = samples[w / 4];
                return w % 4 == 0 ? v.x : w % 4 == 1 ? v.y : w % 4 == 2 ? v.z : v.w;
            };
            uint32_t dot;
            if constexpr (Area == 1) dot = x[0] * (word(i / 4) >> 8 * (i % 4) & 0xFF);
            if constexpr (Area == 2)
                dot = __dp4a(x[0], word(i / 2) >> 16 * (i % 2) & 0xFFFF, 0u);
            if constexpr (Area == 4) dot = __dp4a(x[0], word(i), 0u);
            if constexpr (Area == 8)
                dot = __dp4a(x[1], word(2 * i + 1), __dp4a(x[0], word(2 * i), 0u));
            if (start + i < elements)
                best.take(cost[start + i] - static_cast<int32_t>(dot << (kCostFractionBits + 1)),
                          first + start + i);
        }
    }
}

// Elements of 16 samples and more: Tile elements side by side, 32 / Tile segments each.
template <int Area>
__device__ void search_large(const uint8_t* dictionary, const uint8_t* segments, uint32_t first,
                             int elements, const int32_t* cost, Best& best) {
    constexpr int kChunks = Area / 16, kSegmentsHere = kFragmentArea / Area;
    constexpr int kTile = 32 / kSegmentsHere;
    const int lane = threadIdx.x % 32;
    const uint4* segment =
        reinterpret_cast<const uint4*>(segments + lane % kSegmentsHere * Area);
    const uint4* samples = reinterpret_cast<const uint4*>(dictionary) + uint64_t{first} * kChunks;
    __syncwarp();
    for (int i = lane / kSegmentsHere; i < elements; i += kTile) {
        const uint4* element = samples + (i / kTile * kTile * kChunks) + i % kTile;
        uint32_t dot = 0;
#pragma unroll 8
        for (int chunk = 0; chunk < kChunks; ++chunk)
            dot = dot16(segment[chunk], element[chunk * kTile], dot);
        best.take(cost[i] - static_cast<int32_t>(dot << (kCostFractionBits + 1)), first + i);
    }
}

// Lowers the keys of the segments that this lane holds.
__device__ inline void publish(const Best& best, int scale, int group, uint64_t* key) {
    const int lane = threadIdx.x % 32;
    const int segments = kFragmentArea / scale_area(scale);
    // Costs are signed; the flipped bit keeps their order in an unsigned key.
    uint64_t mine = uint64_t{static_cast<uint32_t>(best.cost) ^ 0x80000000u} << 32 | best.element;
    for (int step = 16; step >= segments; step /= 2) {
        const uint64_t other = __shfl_xor_sync(kAllLanes, mine, step);
        mine = other < mine ? other : mine;
    }
    if (lane >= segments) return;
    const int segment = group * 32 + lane, columns = 1 << scale_m(scale);
    const int address = segment_address(scale, segment / columns, segment % columns);
    atomicMin(reinterpret_cast<unsigned long long*>(&key[address]),
              static_cast<unsigned long long>(mine));
}

__device__ inline void search_unit(const SearchMemory& memory, int scale, int group, uint32_t first,
                                   int elements, const int32_t* cost, Best& best) {
    const uint8_t* dictionary = memory.samples[scale];
    const uint8_t* segments = memory.segments + scale * kFragmentArea;
    switch (area_log2(scale)) {
        case 0: return search_small<1>(dictionary, segments, group, first, elements, cost, best);
        case 1: return search_small<2>(dictionary, segments, group, first, elements, cost, best);
        case 2: return search_small<4>(dictionary, segments, group, first, elements, cost, best);
        case 3: return search_small<8>(dictionary, segments, group, first, elements, cost, best);
        case 4: return search_large<16>(dictionary, segments, first, elements, cost, best);
        case 5: return search_large<32>(dictionary, segments, first, elements, cost, best);
        case 6: return search_large<64>(dictionary, segments, first, elements, cost, best);
        case 7: return search_large<128>(dictionary, segments, first, elements, cost, best);
        default: return search_large<256>(dictionary, segments, first, elements, cost, best);
    }
}

// This block's part of the search of a fragment whose segments are laid out; block `block` of
// `blocks`.
__device__ inline void search_fragment(State& state, SearchMemory& memory, int block, int blocks) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    const uint32_t units = memory.units_before[kScales];
    const uint32_t worker = block * warps + warp, workers = blocks * warps;
    const int last = static_cast<int>(uint64_t{worker + 1} * units / workers);
    int scale = 0, group = -1, current = -1;
    Best best;
    for (int unit = static_cast<int>(uint64_t{worker} * units / workers); unit < last; ++unit) {
        while (unit >= memory.units_before[scale + 1]) ++scale;
        const uint32_t size = memory.size[scale];
        const int tile = unit_elements(scale), tiles = (size + tile - 1) / tile;
        const int place = unit - memory.units_before[scale];
        if (place / tiles != group || scale != current) {
            if (current >= 0) publish(best, current, group, state.key);
            best = Best();
            current = scale;
            group = place / tiles;
        }
        const uint32_t first = static_cast<uint32_t>(place % tiles) * tile;
        const int elements = min(tile, static_cast<int>(size - first));
        __syncwarp();
        if (lane < elements)
            memory.cost[warp][lane] =
                memory.element_cost[scale][first + lane] +
                memory.class_cost[scale][memory.element_class[scale][first + lane]];
        search_unit(memory, scale, group, first, elements, memory.cost[warp], best);
    }
    if (current >= 0) publish(best, current, group, state.key);
}

}  // namespace mmp
