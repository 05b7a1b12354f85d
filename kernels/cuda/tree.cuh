// The segmentation tree of least cost from the cost map, in coding order.
#pragma once

#include "state.cuh"
#include "warp.cuh"

namespace mmp {

constexpr int kDepths = 2 * kFragmentLog2 + 1;

// Segments go by depth; the first of each depth, and their number.
__device__ constexpr int kDepthStart[kDepths + 1] = {0, 1, 5, 17, 49, 129, 257, 449, 705, kSegments};
constexpr int kWidestDepth = 256;

constexpr uint16_t kNowhere = 0xFFFF;

// A segment and its halves, by their places in the cost map.
struct TreeSegment {
    uint16_t address, child[2][2];  // by columns and rows; kNowhere if that split is not allowed
    uint8_t scale, unused;
};

constexpr int kFlagModels = kFlagContexts * kScales;

struct TreeMemory {
    TreeSegment segments[kSegments];
    int32_t norm[2][kSegments];  // squared norms, which the keys leave out; even and odd fragments
    // By place in the cost map:
    int64_t cost[kSegments];
    uint16_t index[kSegments];
    uint16_t nodes[kSegments];  // of the best subtree
    uint8_t flag[kSegments];
    uint8_t context[kSegments];
    // By context and scale:
    uint32_t flag_frequency[kFlagModels][kFlags];
    int32_t flag_cost[kFlagModels][kFlags];
    uint8_t near_limit[kFlagModels];  // may be halved while the flags of a fragment are counted
    int8_t above[kFragmentSize], left[kFragmentSize];  // leaf scales around the fragment
    uint32_t node_count;
    Node chosen[kMaxNodes];  // in coding order
};

__device__ inline TreeSegment tree_segment(int scale, int k, int l, int partition) {
    TreeSegment segment{};
    segment.scale = static_cast<uint8_t>(scale);
    segment.address = static_cast<uint16_t>(segment_address(scale, k, l));
    for (const int flag : {kColumns, kRows})
        for (int half = 0; half < 2; ++half)
            segment.child[flag - 1][half] =
                flag_allowed(scale, flag, partition)
                    ? static_cast<uint16_t>(child_address(scale, k, l, flag, half))
                    : kNowhere;
    return segment;
}

// Prices the flags of one model.
__device__ inline void price_flags(const Picture& picture, TreeMemory& memory, int model) {
    const uint32_t* frequency = memory.flag_frequency[model];
    const uint32_t total = frequency[0] + frequency[1] + frequency[2];
    memory.near_limit[model] = total + kMaxNodes > kMaxTotal;
    const int64_t total_rate = __ldg(picture.rates + total);
    for (int flag = 0; flag < kFlags; ++flag)
        if (frequency[flag])
            memory.flag_cost[model][flag] = static_cast<int32_t>(lagrangian(
                total_rate - __ldg(picture.rates + frequency[flag]), picture.lambda_fixed));
}

// Once a launch.
__device__ inline void start_tree(const Picture& picture, const FlagFrequencies& frequencies,
                                  TreeMemory& memory) {
    for (int i = threadIdx.x; i < kFlagModels * kFlags; i += kThreads)
        memory.flag_frequency[i / kFlags][i % kFlags] = (&frequencies[0][0][0])[i];
    for (int i = threadIdx.x; i < kSegments; i += kThreads) {
        int depth = 0;
        while (i >= kDepthStart[depth + 1]) ++depth;
        // Of one depth all scales have as many segments.
        const int place = i - kDepthStart[depth], segments = 1 << depth;
        const int n = max(0, depth - kFragmentLog2) + place / segments, m = depth - n;
        const int k = place % segments >> m, l = place % segments & ((1 << m) - 1);
        memory.segments[i] = tree_segment(scale_number(n, m), k, l, picture.partition);
    }
    if (threadIdx.x == 0) memory.node_count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < kFlagModels; i += kThreads) price_flags(picture, memory, i);
    __syncthreads();
}

// Counts the flags of the tree that was chosen last.
__device__ inline void count_flags(TreeMemory& memory) {
    const int count = memory.node_count;
    for (int i = threadIdx.x; i < count; i += kThreads) {
        const Node& node = memory.chosen[i];
        const int model = node.context * kScales + node.scale;
        if (node.scale != kPixelScale && !memory.near_limit[model])
            atomicAdd(&memory.flag_frequency[model][node.flag], 1u);
    }
    // Halving depends on the order, so one thread counts all.
    const int model = threadIdx.x;
    if (model >= kFlagModels || !memory.near_limit[model]) return;
    uint32_t* frequency = memory.flag_frequency[model];
    for (int i = 0; i < count; ++i) {
        const Node& node = memory.chosen[i];
        if (node.context * kScales + node.scale != model) continue;
        frequency[node.flag] += 1;
        if (frequency[0] + frequency[1] + frequency[2] > kMaxTotal)
            for (int flag = 0; flag < kFlags; ++flag) frequency[flag] = (frequency[flag] + 1) / 2;
    }
}

// Norms of the segments, as the search has laid them out.
__device__ inline void measure_segments(const uint8_t* segments, int32_t (&norms)[kSegments]) {
    const int i = threadIdx.x;
    if (i >= kSegments) return;
    int depth = 0;
    while (i >= kDepthStart[depth + 1]) ++depth;
    const int place = i - kDepthStart[depth];
    const int n = max(0, depth - kFragmentLog2) + (place >> depth), m = depth - n;
    const int area = kFragmentArea >> depth;
    const uint8_t* samples = segments + scale_number(n, m) * kFragmentArea +
                             (place & ((1 << depth) - 1)) * area;
    uint32_t norm = 0;
    if (area < 4)
        for (int j = 0; j < area; ++j) norm += samples[j] * samples[j];
    else
#pragma unroll 8
        for (int j = 0; j < area / 4; ++j) {
            const uint32_t word = reinterpret_cast<const uint32_t*>(samples)[j];
            norm = __dp4a(word, word, norm);
        }
    norms[i] = static_cast<int32_t>(norm << kCostFractionBits);
}

__device__ inline int node_context(const TreeMemory& memory, const TreeSegment& s) {
    const int height = scale_height(s.scale), width = scale_width(s.scale);
    const int k = s.address / kMapSize + 1 - kFragmentSize / height;
    const int l = s.address % kMapSize + 1 - kFragmentSize / width;
    return flag_context(s.scale, memory.above[l * width + width / 2],
                        memory.left[k * height + height / 2]);
}

// What does not depend on the search: costs of flags, and contexts.
__device__ inline void prepare_tree(const Picture& picture, int row, int column,
                                    TreeMemory& memory) {
    const int i = threadIdx.x;
    if (i < kFragmentSize) {
        const int8_t* here = picture.leaf_scales + int64_t{row} * picture.padded_width + column;
        memory.above[i] = row ? here[i - picture.padded_width] : kOutside;
        memory.left[i] = column ? here[int64_t{i} * picture.padded_width - 1] : kOutside;
    }
    count_flags(memory);
    __syncthreads();
    if (i < kFlagModels) price_flags(picture, memory, i);
    if (i < kSegments) {
        const TreeSegment& s = memory.segments[i];
        memory.context[s.address] =
            picture.flag_contexts ? static_cast<uint8_t>(node_context(memory, s)) : 0;
    }
}

// Waits for the threads that look after the segments of one depth.
__device__ inline void sync_depth() {
    asm volatile("bar.sync 1, %0;" ::"n"(kWidestDepth) : "memory");
}

// Chooses the flag of every segment from the keys of the search, leaves first. All threads take
// part; what is chosen is there for the first 256.
__device__ inline void choose_flags(const uint64_t* keys, int parity, TreeMemory& memory) {
    const int thread = threadIdx.x;
    if (thread < kSegments) {
        const TreeSegment& s = memory.segments[thread];
        const uint64_t key = __ldcg(reinterpret_cast<const unsigned long long*>(&keys[s.address]));
        const int32_t own = static_cast<int32_t>(static_cast<uint32_t>(key >> 32) ^ 0x80000000u);
        const int model = memory.context[s.address] * kScales + s.scale;
        memory.cost[s.address] =
            int64_t{own} + memory.norm[parity][thread] + memory.flag_cost[model][kLeaf];
        memory.index[s.address] = static_cast<uint16_t>(key);
        memory.nodes[s.address] = 1;
        memory.flag[s.address] = kLeaf;
    }
    __syncthreads();
    if (thread >= kWidestDepth) return;
#pragma unroll
    for (int depth = kDepths - 2; depth >= 0; --depth) {
        const int i = kDepthStart[depth] + thread;
        const bool here = i < kDepthStart[depth + 1];
        // Read before the wait: all that does not depend on deeper segments.
        TreeSegment s{};
        int64_t cost = 0;
        int32_t flag_cost[2] = {0, 0};
        if (here) {
            s = memory.segments[i];
            cost = memory.cost[s.address];
            const int model = memory.context[s.address] * kScales + s.scale;
            flag_cost[0] = memory.flag_cost[model][kColumns];
            flag_cost[1] = memory.flag_cost[model][kRows];
        }
        sync_depth();
        if (!here) continue;
        int chosen = kLeaf;
#pragma unroll
        for (const int flag : {kColumns, kRows}) {
            const uint16_t* child = s.child[flag - 1];
            if (child[0] == kNowhere) continue;
            const int64_t split =
                flag_cost[flag - 1] + memory.cost[child[0]] + memory.cost[child[1]];
            if (split >= cost) continue;
            cost = split;
            chosen = flag;
        }
        if (chosen == kLeaf) continue;
        const uint16_t* child = s.child[chosen - 1];
        memory.cost[s.address] = cost;
        memory.flag[s.address] = static_cast<uint8_t>(chosen);
        memory.nodes[s.address] =
            static_cast<uint16_t>(1 + memory.nodes[child[0]] + memory.nodes[child[1]]);
    }
    sync_depth();
}

// The leaf that a sample lies in.
struct Leaf {
    int scale;
    uint32_t index;
};

// Goes from the root to the leaf of sample (y, x); the first sample of a node writes it down.
__device__ inline Leaf walk_tree(TreeMemory& memory, int y, int x) {
    int n = 0, m = 0;
    for (uint32_t place = 0;; ++place) {
        const int height_log2 = kFragmentLog2 - n, width_log2 = kFragmentLog2 - m;
        const int k = y >> height_log2, l = x >> width_log2;
        const int address = (k + (1 << n) - 1) * kMapSize + l + (1 << m) - 1;
        const int flag = memory.flag[address];
        const uint16_t index = memory.index[address];
        if (y == k << height_log2 && x == l << width_log2)
            memory.chosen[place] = {index,
                                    static_cast<uint8_t>(scale_number(n, m)),
                                    static_cast<uint8_t>(k),
                                    static_cast<uint8_t>(l),
                                    static_cast<uint8_t>(flag),
                                    memory.context[address],
                                    0};
        if (flag == kLeaf) return {scale_number(n, m), index};
        // The second half comes after all nodes of the first.
        if (flag == kColumns) {
            ++m;
            if (x >> (width_log2 - 1) & 1)
                place += memory.nodes[(k + (1 << n) - 1) * kMapSize + 2 * l + (1 << m) - 1];
        } else {
            ++n;
            if (y >> (height_log2 - 1) & 1)
                place += memory.nodes[(2 * k + (1 << n) - 1) * kMapSize + l + (1 << m) - 1];
        }
    }
}

}  // namespace mmp
