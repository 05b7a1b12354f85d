// Learning: the dictionary of a scale receives the split segments of a fragment, resized. One block
// handles a scale; its last warp adapts the models meanwhile.
#pragma once

#include "cuda/trees/count.cuh"
#include "cuda/trees/insert.cuh"
#include "cuda/trees/state.cuh"
#include "cuda/trees/dictionary_tools.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

// First sample of an input line, and the position in the resized line.
struct LinePlace {
    const uint8_t* first;
    int place;
};

// Writes means of 1 << RatioLog2 samples. A compile-time ratio lets the compiler unroll the reads.
template <int RatioLog2, class Line>
__device__ inline void warp_shrink(const Line& line, int step, int count, uint8_t* out) {
    for (int i = threadIdx.x % 32; i < count; i += 32) {
        const LinePlace p = line(i);
        out[i] = mean_of(p.first + (p.place << RatioLog2) * step, step, RatioLog2);
    }
}

// One pass of the scale transform: resizes lines of 2^from_log2 samples, `step` apart, to 2^to_log2
// samples. line(i) returns the LinePlace of output i. One warp calls it.
template <class Line>
__device__ inline void warp_resize(const Line& line, int step, int from_log2, int to_log2, int count,
                                   uint8_t* out) {
    switch (from_log2 - to_log2) {
        case 0: warp_shrink<0>(line, step, count, out); break;
        case 1: warp_shrink<1>(line, step, count, out); break;
        case 2: warp_shrink<2>(line, step, count, out); break;
        case 3: warp_shrink<3>(line, step, count, out); break;
        case 4: warp_shrink<4>(line, step, count, out); break;
        default:
            for (int i = threadIdx.x % 32; i < count; i += 32) {
                const LinePlace line_place = line(i);
                const uint8_t* first = line_place.first;
                const GrowPosition p = grow_position(line_place.place, 1 << from_log2, to_log2);
                out[i] = between(first[p.left * step], first[p.right * step], p.weight, to_log2);
            }
    }
    __syncwarp();
}

// Resizes a block, whose rows are kFragmentSize samples apart, to another scale. One warp calls it.
__device__ inline void warp_rescale(const uint8_t* block, int from, int to, uint8_t* wide,
                                    uint8_t* out) {
    const int h0 = kFragmentLog2 - scale_n(from), w0 = kFragmentLog2 - scale_m(from);
    const int h1 = kFragmentLog2 - scale_n(to), w1 = kFragmentLog2 - scale_m(to);
    const auto row = [&](int i) {
        return LinePlace{block + (i >> w1) * kFragmentSize, i & ((1 << w1) - 1)};
    };
    if (h0 == h1) return warp_resize(row, 1, w0, w1, 1 << (h1 + w1), out);
    // If the widths are equal, the first pass would be a copy.
    const int stride = w0 == w1 ? kFragmentSize : 1 << w1;
    const uint8_t* narrowed = w0 == w1 ? block : wide;
    const auto column = [&](int i) {
        return LinePlace{narrowed + (i & ((1 << w1) - 1)), i >> w1};
    };
    if (w0 != w1) warp_resize(row, 1, w0, w1, 1 << (h0 + w1), wide);
    warp_resize(column, stride, h0, h1, 1 << (h1 + w1), out);
}

// Returns the number of split segments within the copy radius of a scale, and writes segment number
// `wanted` to `found`. One warp calls it; all lanes get the same result.
__device__ inline uint32_t find_split(const Node* nodes, uint32_t node_count, int radius, int scale,
                                      uint32_t wanted, Node& found) {
    const int lane = threadIdx.x % 32;
    uint32_t splits = 0;
    // The dictionary of single samples holds every gray level from the start.
    if (scale == kPixelScale) return 0;
#pragma unroll 1
    for (uint32_t first = 0; first < node_count; first += 32) {
        const Node node = nodes[min(first + lane, kMaxNodes - 1)];
        const bool taken = first + lane < node_count && node.flag != kLeaf &&
                           scale_distance(node.scale, scale) <= radius;
        const uint32_t lanes = __ballot_sync(kAllLanes, taken);
        const uint32_t before = splits + __popc(lanes & ((1u << lane) - 1));
        const uint32_t owner = __ballot_sync(kAllLanes, taken && before == wanted);
        if (owner) found = nodes[first + __ffs(owner) - 1];
        splits += __popc(lanes);
    }
    return splits;
}

// Chosen tree of a fragment.
struct Chosen {
    const Node* nodes;
    uint32_t node_count;
};

// Learns for one scale from the fragment in memory.coded: counts the leaves, inserts the
// candidates, computes the costs of the classes. `insertions` is the number of insertions before
// the call; returns the number after it. All threads of the block call it.
template <bool WithTools>
__device__ inline uint32_t learn_scale(const Picture& picture, int scale, uint32_t insertions,
                                       const Chosen& chosen, const Rates& rates,
                                       LearnMemory& memory,
                                       ToolsMemory<WithTools>& tools, int32_t* class_cost) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Scale& models = memory.models[scale];
    const uint32_t limit = picture.dictionary_limit;
    Node node{};
    const uint32_t candidates = find_split(chosen.nodes, chosen.node_count, picture.copy_radius,
                                           scale, warp, node);
    bool open = insertions < limit;
    if constexpr (WithTools) open |= replaces(picture, models);
    if (warp == kModelWarp)
        count_leaves(picture, rates, models, scale, WithTools ? min(insertions, limit) : insertions,
                     chosen.nodes, chosen.node_count);
#pragma unroll 1
    for (uint32_t first = 0; first < candidates && open; first += kLearnWarps) {
        if (first) {
            __syncthreads();
            find_split(chosen.nodes, chosen.node_count, picture.copy_radius, scale, first + warp,
                       node);
        }
        const bool here = warp < kLearnWarps && first + warp < candidates;
        uint8_t* element = memory.element[warp];
        if (here) {
            const uint8_t* block =
                memory.coded + node.k * scale_height(node.scale) * kFragmentSize +
                node.l * scale_width(node.scale);
            warp_rescale(block, node.scale, scale, memory.wide[warp], element);
            const int c = first_class(picture, element, scale_area(scale), node.scale);
            if (lane == 0) memory.element_class[warp] = static_cast<uint8_t>(c);
        }
        if constexpr (WithTools) {
            insertions = insert_batch(picture, scale, insertions, memory, tools, here);
            open = insertions < limit || replaces(picture, models);
        } else {
            insertions = insert_batch(picture, scale, insertions, memory, here);
            open = insertions < limit;
        }
    }
    if (warp == kModelWarp)
        price_classes(picture, rates, models, WithTools ? min(insertions, limit) : insertions,
                      class_cost);
    return insertions;
}

// Initialises the dictionary of a scale with constant elements: one per gray level, or fewer with a
// redundancy radius. Returns their number. All threads of the block call it.
__device__ inline uint32_t start_scale(const Picture& picture, int scale, const Rates& rates,
                                       LearnMemory& memory, int32_t* class_cost) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    Scale& models = memory.models[scale];
    for (int c = threadIdx.x; c < kClasses; c += kThreads) {
        models.class_frequency[c] = 1;
        models.class_size[c] = models.class_total[c] = 0;
    }
    const int spacing = constant_spacing(radius_of(picture, scale), area);
    const int each = (kCellLevels + spacing - 1) / spacing, size = kGreyLevels / kCellLevels * each;
    if (threadIdx.x == 0) models.start = models.hand = models.entries = size;
    __syncthreads();
    uint8_t* element = memory.element[warp];
    for (int level = warp; level < kGreyLevels; level += kWarps) {
        const int place = level % kCellLevels / spacing;
        if (level % kCellLevels % spacing) continue;
        const uint32_t number = level / kCellLevels * each + place;
        for (int i = lane; i < area; i += 32) element[i] = static_cast<uint8_t>(level);
        __syncwarp();
        const int c = first_class(picture, element, area, kPixelScale);
        tell_class(picture, scale, number, c);
        warp_insert(picture, scale, number, element, c,
                    warp_hash(picture.hash_key, element, area));
        const int member = place - max(each - kCellSize, 0);
        if (radius_of(picture, scale) && member >= 0)
            start_member(picture, scale, element, number, member);
        if (lane == 0) {
            atomicAdd(&models.class_size[c], 1u);
            atomicAdd(&models.class_total[c], 1u);
        }
        __syncwarp();
    }
    __syncthreads();
    if (warp == 0) price_classes(picture, rates, models, size, class_cost);
    return size;
}

}  // namespace mmp
