// The segmentation tree of least cost from the cost map, in coding order.
#pragma once

#include "state.cuh"

namespace mmp {

// The segment that a thread looks after, the same for all fragments: threads go by depth, so that
// a level of the tree keeps whole warps busy. What is here of a fragment is ready before its
// search ends.
struct TreeThread {
    int depth = -1, address = 0;
    Segment segment{0, 0, 0};
    int context = 0;
    int32_t norm = 0;  // squared norm of the residual, which the keys leave out
    bool reachable = false;
};

constexpr int kTreeThreads = 1024;

struct TreeMemory {
    int64_t cost[kSegments];
    uint32_t nodes[kSegments];     // nodes of the best subtree, and above them its symbols
    uint32_t place[kSegments];     // of chosen segments: nodes before, and above them symbols
    uint8_t flag[kSegments];
    int64_t flag_cost[kFlagContexts][kScales][kFlags];
    int8_t above[kFragmentSize], left[kFragmentSize];  // leaf scales around the fragment
    Node chosen[kMaxNodes];  // in coding order; the state gets a copy
    uint32_t flag_frequency[kFlagContexts][kScales][kFlags];
    TreeThread threads[kTreeThreads];
};

__device__ inline void start_tree(const Picture& picture, TreeMemory& memory) {
    TreeThread mine;
    int place = threadIdx.x;
    for (int depth = 0; depth <= 2 * kFragmentLog2; ++depth)
        for (int scale = 0; scale < kScales; ++scale) {
            if (scale_n(scale) + scale_m(scale) != depth) continue;
            const int columns = 1 << scale_m(scale), segments = columns << scale_n(scale);
            if (mine.depth < 0 && place < segments) {
                mine.depth = depth;
                mine.segment = {scale, place / columns, place % columns};
                mine.address = segment_address(scale, mine.segment.k, mine.segment.l);
                mine.reachable = scale_reachable(scale, picture.partition);
            }
            place -= segments;
        }
    memory.threads[threadIdx.x] = mine;
}

constexpr uint32_t kNotChosen = 0xFFFFFFFFu;
constexpr int kSymbolShift = 16;

// Symbols that a node sends. With classes there is always more than one class to tell apart.
__device__ inline uint32_t symbols_of(const Picture& picture, int scale, int flag) {
    return (scale != kPixelScale) + (flag == kLeaf ? 1 + (picture.index_classes != 0) : 0);
}

__device__ inline int node_context(const Picture& picture, const TreeMemory& memory, Segment s) {
    if (!picture.flag_contexts) return 0;
    const int above = memory.above[s.l * scale_width(s.scale) + scale_width(s.scale) / 2];
    const int left = memory.left[s.k * scale_height(s.scale) + scale_height(s.scale) / 2];
    return flag_context(s.scale, above, left);
}

// What does not depend on the search: costs of flags, contexts, norms. `segments` as the search
// has laid them out.
__device__ inline void prepare_tree(const Picture& picture, int row, int column,
                                    const uint8_t* segments, TreeMemory& memory) {
    TreeThread& mine = memory.threads[threadIdx.x];
    for (int i = threadIdx.x; i < kFlagContexts * kScales * kFlags; i += blockDim.x) {
        const int context = i / (kScales * kFlags), scale = i / kFlags % kScales, flag = i % kFlags;
        const uint32_t* frequency = memory.flag_frequency[context][scale];
        const uint32_t total = frequency[0] + frequency[1] + frequency[2];
        const int64_t rate =
            frequency[flag] ? __ldg(picture.rates + total) - __ldg(picture.rates + frequency[flag]) : 0;
        memory.flag_cost[context][scale][flag] = lagrangian(rate, picture.lambda_fixed);
    }
    if (threadIdx.x < kFragmentSize) {
        const int i = threadIdx.x;
        const int8_t* here = picture.leaf_scales + int64_t{row} * picture.padded_width + column;
        memory.above[i] = row ? here[i - picture.padded_width] : kOutside;
        memory.left[i] = column ? here[int64_t{i} * picture.padded_width - 1] : kOutside;
    }
    __syncthreads();
    if (!mine.reachable) return;
    const Segment s = mine.segment;
    mine.context = node_context(picture, memory, s);
    const int area = scale_area(s.scale);
    const uint8_t* samples =
        segments + s.scale * kFragmentArea + (s.k * (1 << scale_m(s.scale)) + s.l) * area;
    uint32_t norm = 0;
    if (area < 4)
        for (int i = 0; i < area; ++i) norm += samples[i] * samples[i];
    else
        for (int i = 0; i < area / 4; ++i) {
            const uint32_t word = reinterpret_cast<const uint32_t*>(samples)[i];
            norm = __dp4a(word, word, norm);
        }
    mine.norm = static_cast<int32_t>(norm << kCostFractionBits);
}

// Chooses the tree from the keys of the search and writes its nodes to the state; clears the keys
// for the next fragment. All threads of one block of at least 961 take part.
__device__ inline void choose_tree(const Picture& picture, State& state, TreeMemory& memory) {
    const TreeThread mine = memory.threads[threadIdx.x];
    const Segment s = mine.segment;
    const int address = mine.address;
    uint32_t index = 0;
    int64_t cost = kNoCost;
    if (mine.depth >= 0) {
        const uint64_t key = state.key[address];
        state.key[address] = kNoKey;
        index = static_cast<uint32_t>(key);
        memory.place[address] = kNotChosen;
        memory.flag[address] = kLeaf;
        if (mine.reachable) {
            const int32_t own = static_cast<int32_t>(static_cast<uint32_t>(key >> 32) ^ 0x80000000u);
            cost = int64_t{own} + mine.norm + memory.flag_cost[mine.context][s.scale][kLeaf];
            memory.nodes[address] = 1 | symbols_of(picture, s.scale, kLeaf) << kSymbolShift;
        }
        memory.cost[address] = cost;
    }
    for (int level = 2 * kFragmentLog2 - 1; level >= 0; --level) {
        __syncthreads();
        if (mine.depth != level || !mine.reachable) continue;
        int chosen = kLeaf;
        for (const int flag : {kColumns, kRows}) {
            if (!flag_allowed(s.scale, flag, picture.partition)) continue;
            const int64_t split = memory.flag_cost[mine.context][s.scale][flag] +
                                  memory.cost[child_address(s.scale, s.k, s.l, flag, 0)] +
                                  memory.cost[child_address(s.scale, s.k, s.l, flag, 1)];
            if (split >= cost) continue;
            cost = split;
            chosen = flag;
        }
        if (chosen == kLeaf) continue;
        memory.cost[address] = cost;
        memory.flag[address] = static_cast<uint8_t>(chosen);
        memory.nodes[address] = 1 + (symbols_of(picture, s.scale, chosen) << kSymbolShift) +
                                memory.nodes[child_address(s.scale, s.k, s.l, chosen, 0)] +
                                memory.nodes[child_address(s.scale, s.k, s.l, chosen, 1)];
    }
    if (threadIdx.x == 0) memory.place[0] = 0;
    for (int level = 0; level <= 2 * kFragmentLog2; ++level) {
        __syncthreads();
        if (mine.depth != level || memory.place[address] == kNotChosen) continue;
        const uint32_t place = memory.place[address];
        const int flag = memory.flag[address];
        const Node node{index,
                        static_cast<uint16_t>(place >> kSymbolShift),
                        static_cast<uint8_t>(s.scale),
                        static_cast<uint8_t>(s.k),
                        static_cast<uint8_t>(s.l),
                        static_cast<uint8_t>(flag),
                        static_cast<uint8_t>(mine.context),
                        0};
        memory.chosen[place & 0xFFFF] = node;
        state.nodes[place & 0xFFFF] = node;
        if (flag == kLeaf) continue;
        const int first = child_address(s.scale, s.k, s.l, flag, 0);
        memory.place[first] = place + 1 + (symbols_of(picture, s.scale, flag) << kSymbolShift);
        memory.place[child_address(s.scale, s.k, s.l, flag, 1)] =
            memory.place[first] + memory.nodes[first];
    }
    if (threadIdx.x == 0) state.node_count = memory.nodes[0] & 0xFFFF;
    __syncthreads();
}

}  // namespace mmp
