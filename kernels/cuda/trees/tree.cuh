// Finds the segmentation tree of least cost from the cost map; nodes in coding order.
#pragma once

#include "cuda/trees/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kDepths = 2 * kFragmentLog2 + 1;

// Position in the cost map of the first segment of each depth.
__constant__ const int kDepthStart[kDepths + 1] = {0, 1, 5, 17, 49, 129, 257, 449, 705, kSegments};

constexpr uint16_t kNowhere = 0xFFFF;
constexpr int kFlagModels = kFlagContexts * kScales;

struct TreeSegment {
    uint16_t columns[2], rows[2];  // positions of the halves; kNowhere: split not allowed
    uint16_t samples;              // offset in the segments that the search lays out
    uint8_t scale, above, left;    // above, left: positions of the leaf scales for the context
    uint8_t unused;
};

struct TreeMemory {
    // Indexed by position in the cost map:
    TreeSegment segments[kSegments];
    int64_t cost[kSegments];
    int32_t flag_cost[kFlags][kSegments];  // kLeaf: includes the squared norm of the segment
    int32_t norm[kSegments];
    uint16_t index[kSegments];
    uint16_t nodes[kSegments];  // number of nodes of the best subtree
    uint8_t flag[kSegments];
    uint8_t context[kSegments];
    // Indexed by context and scale:
    uint32_t flag_frequency[kFlagModels][kFlags];
    int32_t model_cost[kFlagModels][kFlags];
    uint8_t near_limit[kFlagModels];  // whether one fragment could trigger halving
    int8_t above[kFragmentSize], left[kFragmentSize];  // leaf scales around the fragment
    uint32_t node_count;
    Node chosen[kMaxNodes];  // in coding order
};

__device__ inline TreeSegment tree_segment(int scale, int k, int l, int partition) {
    TreeSegment segment{};
    const int height = scale_height(scale), width = scale_width(scale);
    segment.scale = static_cast<uint8_t>(scale);
    segment.samples = static_cast<uint16_t>(scale * kFragmentArea +
                                            ((k << scale_m(scale)) + l) * scale_area(scale));
    segment.above = static_cast<uint8_t>(l * width + width / 2);
    segment.left = static_cast<uint8_t>(k * height + height / 2);
    for (int half = 0; half < 2; ++half) {
        segment.columns[half] = segment.rows[half] = kNowhere;
        if (flag_allowed(scale, kColumns, partition))
            segment.columns[half] = static_cast<uint16_t>(
                segment_place(child_scale(scale, kColumns), k, 2 * l + half));
        if (flag_allowed(scale, kRows, partition))
            segment.rows[half] = static_cast<uint16_t>(
                segment_place(child_scale(scale, kRows), 2 * k + half, l));
    }
    return segment;
}

// Computes the costs of the flags of one model.
__device__ inline void price_flags(const Picture& picture, const Rates& rates, TreeMemory& memory,
                                   int model) {
    const uint32_t* frequency = memory.flag_frequency[model];
    const uint32_t total = frequency[0] + frequency[1] + frequency[2];
    memory.near_limit[model] = total + kMaxNodes > kMaxTotal;
    const int64_t total_rate = rates(total);
    for (int flag = 0; flag < kFlags; ++flag)
        if (frequency[flag])
            memory.model_cost[model][flag] = static_cast<int32_t>(
                lagrangian(total_rate - rates(frequency[flag]), picture.lambda_fixed));
}

// Loads the flag frequencies and computes the segments, once per launch.
__device__ inline void start_tree(const Picture& picture, const FlagFrequencies& frequencies,
                                  TreeMemory& memory) {
    for (int i = threadIdx.x; i < kFlagModels * kFlags; i += kThreads)
        memory.flag_frequency[i / kFlags][i % kFlags] = (&frequencies[0][0][0])[i];
#pragma unroll 1
    for (int scale = threadIdx.x / 32; scale < kScales; scale += kWarps) {
        const int m = scale_m(scale), segments = 1 << (scale_n(scale) + m);
#pragma unroll 1
        for (int i = threadIdx.x % 32; i < segments; i += 32) {
            const int k = i >> m, l = i & ((1 << m) - 1);
            memory.segments[segment_place(scale, k, l)] =
                tree_segment(scale, k, l, picture.partition);
        }
    }
    if (threadIdx.x == 0) memory.node_count = 0;
    __syncthreads();
}

// Adapts the models to the flags of the last chosen tree.
__device__ inline void count_flags(TreeMemory& memory) {
    const int count = memory.node_count;
#pragma unroll 1
    for (int i = threadIdx.x; i < count; i += kThreads) {
        const Node& node = memory.chosen[i];
        const int model = node.context * kScales + node.scale;
        if (node.scale != kPixelScale && !memory.near_limit[model])
            atomicAdd(&memory.flag_frequency[model][node.flag], 1u);
    }
    // Halving depends on the order, so a model near its limit is adapted sequentially by one
    // thread.
    const int model = threadIdx.x;
    if (model >= kFlagModels || !memory.near_limit[model]) return;
    uint32_t* frequency = memory.flag_frequency[model];
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        const Node& node = memory.chosen[i];
        if (node.context * kScales + node.scale != model) continue;
        frequency[node.flag] += 1;
        if (frequency[0] + frequency[1] + frequency[2] > kMaxTotal)
            for (int flag = 0; flag < kFlags; ++flag) frequency[flag] = (frequency[flag] + 1) / 2;
    }
}

// Computes the squared norms of the segments from lay_out_segments(), in 1/16 squared error.
__device__ inline void measure_segments(const uint8_t* segments, TreeMemory& memory) {
    const int i = threadIdx.x;
    if (i >= kSegments) return;
    const TreeSegment& s = memory.segments[i];
    const int area = scale_area(s.scale);
    const uint8_t* samples = segments + s.samples;
    uint32_t norm = 0;
    if (area < 4)
#pragma unroll 1
        for (int j = 0; j < area; ++j) norm += samples[j] * samples[j];
    else
#pragma unroll 8
        for (int j = 0; j < area / 4; ++j) {
            const uint32_t word = reinterpret_cast<const uint32_t*>(samples)[j];
            norm = __dp4a(word, word, norm);
        }
    memory.norm[i] = static_cast<int32_t>(norm << kCostFractionBits);
}

// Loads a leaf scale above or left of the fragment; only threads of the last warp do so.
__device__ inline int8_t fetch_neighbour(const Picture& picture, int row, int column) {
    const int lane = threadIdx.x % 32, i = lane % kFragmentSize;
    if (threadIdx.x / 32 != kWarps - 1) return kOutside;
    const int8_t* here = picture.leaf_scales + int64_t{row} * picture.padded_width + column;
    if (lane < kFragmentSize) return row ? here[i - picture.padded_width] : kOutside;
    return column ? here[int64_t{i} * picture.padded_width - 1] : kOutside;
}

__device__ inline void keep_neighbour(int8_t leaf_scale, TreeMemory& memory) {
    const int lane = threadIdx.x % 32;
    if (threadIdx.x / 32 != kWarps - 1) return;
    (lane < kFragmentSize ? memory.above : memory.left)[lane % kFragmentSize] = leaf_scale;
}

// Determines the context of each segment's flag and the cost of each flag, from neighbours, models
// and norms.
__device__ inline void price_segments(const Picture& picture, TreeMemory& memory) {
    const int i = threadIdx.x;
    if (i >= kSegments) return;
    const TreeSegment& s = memory.segments[i];
    const int context =
        picture.flag_contexts ? flag_context(s.scale, memory.above[s.above], memory.left[s.left])
                              : 0;
    const int32_t* cost = memory.model_cost[context * kScales + s.scale];
    memory.context[i] = static_cast<uint8_t>(context);
    memory.flag_cost[kLeaf][i] = cost[kLeaf] + memory.norm[i];
    memory.flag_cost[kColumns][i] = cost[kColumns];
    memory.flag_cost[kRows][i] = cost[kRows];
}

// Data of a segment that do not depend on deeper segments; loaded in advance.
struct PreparedSegment {
    bool here;
    TreeSegment s;
    int64_t cost;  // cost as a leaf
    int32_t columns_cost, rows_cost;
};

// Chooses the flag of segment i; its halves must have been processed.
__device__ inline void choose_flag(int i, const PreparedSegment& segment, TreeMemory& memory) {
    const TreeSegment& s = segment.s;
    int64_t cost = segment.cost;
    int chosen = kLeaf;
    const auto consider = [&](const uint16_t (&half)[2], int32_t flag_cost, int flag) {
        if (half[0] == kNowhere) return;
        const int64_t split = flag_cost + memory.cost[half[0]] + memory.cost[half[1]];
        if (split >= cost) return;
        cost = split;
        chosen = flag;
    };
    consider(s.columns, segment.columns_cost, kColumns);
    consider(s.rows, segment.rows_cost, kRows);
    if (chosen == kLeaf) return;
    const bool columns = chosen == kColumns;
    memory.cost[i] = cost;
    memory.flag[i] = static_cast<uint8_t>(chosen);
    memory.nodes[i] = static_cast<uint16_t>(1 + memory.nodes[columns ? s.columns[0] : s.rows[0]] +
                                            memory.nodes[columns ? s.columns[1] : s.rows[1]]);
}

// Chooses all flags from the keys of the search, bottom-up. All threads of the block call it.
__device__ inline void choose_flags(const uint64_t* keys, TreeMemory& memory) {
    const int thread = threadIdx.x;
    if (thread < kSegments) {
        const uint64_t key = __ldcg(reinterpret_cast<const unsigned long long*>(&keys[thread]));
        const int32_t own = static_cast<int32_t>(static_cast<uint32_t>(key >> 32) ^ 0x80000000u);
        memory.cost[thread] = int64_t{own} + memory.flag_cost[kLeaf][thread];
        memory.index[thread] = static_cast<uint16_t>(key);
        memory.nodes[thread] = 1;
        memory.flag[thread] = kLeaf;
    }
    __syncthreads();
    const auto prepare = [&](int depth) {
        const int i = kDepthStart[depth] + thread;
        PreparedSegment p{i < kDepthStart[depth + 1], {}, 0, 0, 0};
        if (p.here)
            p = {true, memory.segments[i], memory.cost[i], memory.flag_cost[kColumns][i],
                 memory.flag_cost[kRows][i]};
        return p;
    };
    PreparedSegment next = prepare(kDepths - 2);
#pragma unroll 1
    for (int depth = kDepths - 2; depth >= 0; --depth) {
        const PreparedSegment now = next;
        if (depth > 0) next = prepare(depth - 1);
        __syncthreads();
        if (now.here) choose_flag(kDepthStart[depth] + thread, now, memory);
    }
    __syncthreads();
}

// The leaf that covers a sample.
struct Leaf {
    int scale;
    uint32_t index;
};

// Descends from the root to the leaf of sample (y, x). The thread at a node's first sample writes
// the node.
__device__ inline Leaf walk_tree(TreeMemory& memory, int y, int x) {
    int n = 0, m = 0, i = 0;
#pragma unroll 1
    for (uint32_t place = 0;; ++place) {
        const int height_log2 = kFragmentLog2 - n, width_log2 = kFragmentLog2 - m;
        const int k = y >> height_log2, l = x >> width_log2, flag = memory.flag[i];
        const uint16_t index = memory.index[i];
        if (y == k << height_log2 && x == l << width_log2)
            memory.chosen[place] = {index,
                                    static_cast<uint8_t>(scale_number(n, m)),
                                    static_cast<uint8_t>(k),
                                    static_cast<uint8_t>(l),
                                    static_cast<uint8_t>(flag),
                                    memory.context[i],
                                    0};
        if (flag == kLeaf) return {scale_number(n, m), index};
        const bool columns = flag == kColumns;
        const auto& half = columns ? memory.segments[i].columns : memory.segments[i].rows;
        const bool second = columns ? x >> (width_log2 - 1) & 1 : y >> (height_log2 - 1) & 1;
        // The nodes of the second half follow all nodes of the first half.
        if (second) place += memory.nodes[half[0]];
        i = half[second];
        n += !columns;
        m += columns;
    }
}

}  // namespace mmp
