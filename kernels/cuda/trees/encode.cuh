// Search loop for trees: computes the trees of a picture from its samples on the device. WithTools
// adds redundancy radius and replacement.
#pragma once

#include "cuda/device/barrier.cuh"
#include "cuda/trees/learn.cuh"
#include "cuda/trees/rebuild.cuh"
#include "cuda/trees/search.cuh"
#include "cuda/trees/state.cuh"
#include "cuda/trees/tree.cuh"

namespace mmp {

template <bool WithTools>
struct EncodeMemory {
    Picture picture;
    Rates rates;
    alignas(16) uint8_t source[kFragmentArea];
    TreeSearchMemory search;
    TreeMemory tree;
    LearnMemory learn;
    ToolsMemory<WithTools> tools;
    uint32_t insertions[32];  // insertions so far, by scale
};

// The sample of a fragment that this thread loads; padded by repeating the last row and column of
// the picture.
__device__ inline uint8_t fetch_sample(const Picture& picture, int fragment) {
    const int across = picture.padded_width / kFragmentSize;
    const int row = fragment / across * kFragmentSize, column = fragment % across * kFragmentSize;
    if (threadIdx.x >= kFragmentArea) return 0;
    const int y = min(row + static_cast<int>(threadIdx.x) / kFragmentSize, picture.height - 1);
    const int x = min(column + static_cast<int>(threadIdx.x) % kFragmentSize, picture.width - 1);
    return picture.source[int64_t{y} * picture.width + x];
}

// Waits until all scales have learnt `fragments` fragments, and plans the search of the next one.
// Afterwards the block sees everything that other blocks wrote before they published their
// progress.
template <bool WithTools>
__device__ void wait_for_learning(const State& state, uint32_t fragments,
                                  EncodeMemory<WithTools>& memory) {
    if (threadIdx.x < 32) {
        const int scale = threadIdx.x;
        uint32_t insertions = 0;
        if (scale < kScales && scale_reachable(scale, memory.picture.partition)) {
            const volatile uint64_t* learnt = &state.learnt[scale];
            uint64_t seen;
            while ((seen = *learnt) >> 32 < fragments) keep_waiting();
            insertions = static_cast<uint32_t>(seen);
        }
        __threadfence();
        __syncwarp();
        memory.insertions[scale] = insertions;
        const uint32_t limit = memory.picture.dictionary_limit;
        plan_search(memory.search, WithTools ? min(insertions, limit) : insertions, blockIdx.x,
                    gridDim.x);
    }
    __syncthreads();
}

__device__ inline void publish_learnt(State& state, int scale, uint32_t fragments,
                                      uint32_t insertions) {
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    *const_cast<volatile uint64_t*>(&state.learnt[scale]) = uint64_t{fragments} << 32 | insertions;
}

__device__ inline void raise_searched(State& state) {
    __syncthreads();
    if (threadIdx.x > 0) return;
    __threadfence();
    atomicAdd(&state.searched, 1u);
}

__device__ inline void wait_for_search(const State& state, uint32_t blocks) {
    if (threadIdx.x == 0) {
        const volatile uint32_t* searched = &state.searched;
        while (static_cast<int32_t>(*searched - blocks) < 0) keep_waiting();
        __threadfence();
    }
    __syncthreads();
}

// Sums the clock cycles of each phase, if MMP_PROFILE is defined.
struct PhaseClock {
#ifdef MMP_PROFILE
    int64_t last = clock64();
    __device__ void stop(State& state, Phase phase) {
        if (blockIdx.x != MMP_PROFILE || threadIdx.x) return;
        const int64_t now = clock64();
        state.phase_cycles[phase] += now - last;
        last = now;
    }
#else
    __device__ void stop(State&, Phase) {}
#endif
};

// Destination of a launch's trees in host memory. All threads of the block use it.
struct ChosenTrees {
    uint32_t *nodes, *node_counts, *insertions;

    __device__ ChosenTrees(const Picture& picture, int slot)
        : nodes(picture.nodes + int64_t{slot} * picture.chunk * kMaxNodes),
          node_counts(picture.node_counts + slot * picture.chunk),
          insertions(picture.insertions + slot * picture.chunk * kScales) {}

    // Writes the tree of a fragment, and the number of insertions into each dictionary before it.
    // `fragment` is relative to the first one of the launch.
    __device__ void write(int fragment, const Node* chosen, uint32_t node_count,
                          const uint32_t* insertions_before) {
        for (int i = threadIdx.x; i < node_count; i += kThreads) {
            const Node& node = chosen[i];
            nodes[i] = pack_node(node.scale, node.flag, node.context, node.index);
        }
        nodes += node_count;
        if (threadIdx.x < kScales)
            insertions[fragment * kScales + threadIdx.x] = insertions_before[threadIdx.x];
        if (threadIdx.x == 0) node_counts[fragment] = node_count;
    }
};

// Encodes fragments `first` to `last` - 1 of each picture and writes their trees to one of the two
// slots. Grid: (blocks per picture, pictures); all blocks must be resident.
//
// All blocks search. The first `learners` blocks then choose the tree, each redundantly, and learn:
// each handles one scale, or several if there are fewer blocks than scales.
template <bool WithTools>
__device__ inline void encode(State* states, int first, int last, int slot, uint8_t* shared) {
    auto& memory = *reinterpret_cast<EncodeMemory<WithTools>*>(shared);
    State& state = states[blockIdx.y];
    for (int i = threadIdx.x; i < sizeof(Picture) / 8; i += kThreads)
        reinterpret_cast<uint64_t*>(&memory.picture)[i] =
            reinterpret_cast<const uint64_t*>(&state.picture)[i];
    __syncthreads();
    const Picture& picture = memory.picture;
    memory.rates.start(picture);
    start_search(memory.search);
    start_tree(picture, state.flag_frequency, memory.tree);

    const int block = blockIdx.x, blocks = gridDim.x;
    const int learners = min(blocks, kScales);
    const bool learns = block < learners, writes = block == kPixelScale % learners;
    for (int scale = block; learns && scale < kScales; scale += learners)
        for (int i = threadIdx.x; i < sizeof(Scale) / 4; i += kThreads)
            reinterpret_cast<uint32_t*>(&memory.learn.models[scale])[i] =
                reinterpret_cast<const uint32_t*>(&state.scales[scale])[i];

    const int across = picture.padded_width / kFragmentSize;
    last = min(last, across * (picture.padded_height / kFragmentSize));
    ChosenTrees out(picture, slot);
    if (threadIdx.x < kFragmentArea) memory.source[threadIdx.x] = fetch_sample(picture, first);
    __syncthreads();
    lay_out_segments(memory.source, memory.search);
    __syncthreads();
    measure_segments(memory.search.segments, memory.tree);
    PhaseClock clock;
    for (int fragment = first; fragment < last; ++fragment) {
        const int row = fragment / across * kFragmentSize;
        const int column = fragment % across * kFragmentSize;
        const int y = threadIdx.x / kFragmentSize, x = threadIdx.x % kFragmentSize;
        uint64_t* keys = state.key[fragment % 2];
        // This load overlaps with the wait for learning; the load of the neighbours overlaps with
        // the search.
        const uint8_t sample = fetch_sample(picture, min(fragment + 1, last - 1));
        wait_for_learning(state, fragment, memory);
        clock.stop(state, kLearnWait);
        const int8_t neighbour = fetch_neighbour(picture, row, column);
        search_fragment(picture, state, memory.search, keys);
        raise_searched(state);
        clock.stop(state, kSearch);
        // While other blocks still search, this block computes the costs of the flags and lays out
        // the next fragment.
        count_flags(memory.tree);
        __syncthreads();
        if (threadIdx.x < kFlagModels) price_flags(picture, memory.rates, memory.tree, threadIdx.x);
        if (threadIdx.x < kFragmentArea) memory.source[threadIdx.x] = sample;
        keep_neighbour(neighbour, memory.tree);
        __syncthreads();
        price_segments(picture, memory.tree);
        lay_out_segments(memory.source, memory.search);
        __syncthreads();
        measure_segments(memory.search.segments, memory.tree);
        clock.stop(state, kPrepare);
        if (!learns) continue;

        wait_for_search(state, (fragment + 1) * blocks);
        clock.stop(state, kSearchWait);
        choose_flags(keys, memory.tree);
        clock.stop(state, kTree);
        if (threadIdx.x < kFragmentArea) {
            const Leaf leaf = walk_tree(memory.tree, y, x);
            const uint8_t coded = rebuild_sample(picture, leaf, y, x);
            memory.learn.coded[threadIdx.x] = coded;
            if (writes) write_sample(picture, leaf, row + y, column + x, coded);
        }
        __syncthreads();
        const uint32_t node_count = memory.tree.nodes[0];
        if (threadIdx.x == 0) memory.tree.node_count = node_count;
        clock.stop(state, kRebuild);
        if (writes) {
            // Double buffering: the next fragment uses the other keys.
            for (int i = threadIdx.x; i < kSegments; i += kThreads)
                state.key[(fragment + 1) % 2][i] = kNoKey;
            out.write(fragment - first, memory.tree.chosen, node_count, memory.insertions);
        }
        // Halving can reduce the count of an element of this tree to 1, as if it had never been
        // used. Without classes such an element can be replaced at once, so all learning blocks
        // must have rebuilt the fragment first.
        if (WithTools && picture.replacement && !picture.index_classes) {
            if (threadIdx.x == 0) arrive_and_wait(&state.rebuilt, (fragment + 1) * learners);
            __syncthreads();
        }
        for (int scale = block; scale < kScales; scale += learners) {
            if (!scale_reachable(scale, picture.partition)) continue;
            const uint32_t after =
                learn_scale(picture, scale, memory.insertions[scale],
                            {memory.tree.chosen, node_count}, memory.rates, memory.learn,
                            memory.tools, state.class_cost[scale]);
            clock.stop(state, kLearn);
            publish_learnt(state, scale, fragment + 1, after);
        }
        clock.stop(state, kPublish);
    }
    if (!learns) return;
    __syncthreads();
    count_flags(memory.tree);
    __syncthreads();
    if (writes)
        for (int i = threadIdx.x; i < kFlagContexts * kScales * kFlags; i += kThreads)
            (&state.flag_frequency[0][0][0])[i] = memory.tree.flag_frequency[i / kFlags][i % kFlags];
    for (int scale = block; scale < kScales; scale += learners)
        for (int i = threadIdx.x; i < sizeof(Scale) / 4; i += kThreads)
            reinterpret_cast<uint32_t*>(&state.scales[scale])[i] =
                reinterpret_cast<const uint32_t*>(&memory.learn.models[scale])[i];
}

}  // namespace mmp
