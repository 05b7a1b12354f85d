// The whole search loop: pictures stay on the device from samples to symbols.
#include "code.cuh"
#include "learn.cuh"
#include "rebuild.cuh"
#include "search.cuh"
#include "state.cuh"
#include "tree.cuh"

namespace mmp {

struct Memory {
    Picture picture;
    alignas(16) uint8_t residual[kFragmentArea];
    SearchMemory search;
    TreeMemory tree;
    LearnMemory learn;
};

// Blocks of a picture wait for each other by counters that only grow. What a block wrote before it
// raised a counter is seen by those that waited for it.
__device__ void raise(uint32_t& counter) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&counter, 1u);
    }
}

__device__ void wait_until(const uint32_t& counter, uint32_t least) {
    if (threadIdx.x == 0) {
        const volatile uint32_t* value = &counter;
        while (static_cast<int32_t>(*value - least) < 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

// Brings a fragment and lays out its segments; the last row and column of the picture are repeated
// beyond it. Nothing here depends on what other blocks do.
__device__ void load_fragment(int fragment, Memory& memory) {
    const Picture& picture = memory.picture;
    const int across = picture.padded_width / kFragmentSize;
    const int row = fragment / across * kFragmentSize, column = fragment % across * kFragmentSize;
    __syncthreads();
    for (int i = threadIdx.x; i < kFragmentArea; i += blockDim.x) {
        const int y = min(row + i / kFragmentSize, picture.height - 1);
        const int x = min(column + i % kFragmentSize, picture.width - 1);
        memory.residual[i] = picture.source[int64_t{y} * picture.width + x];
    }
    __syncthreads();
    lay_out_segments(memory.residual, memory.search);
}

// Adds up the cycles that each phase takes, when compiled to.
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

}  // namespace mmp

using namespace mmp;

// Encodes fragments `first` to `last` - 1 of each picture and writes their symbols to one of the
// two slots of `capacity` symbols. Grid: (blocks a picture, pictures), all resident at once.
extern "C" __global__ void __launch_bounds__(1024)
    encode_fragments(State* states, int first, int last, int slot, int capacity) {
    extern __shared__ __align__(16) uint8_t shared[];
    Memory& memory = *reinterpret_cast<Memory*>(shared);
    State& state = states[blockIdx.y];
    for (int i = threadIdx.x; i < sizeof(Picture) / 8; i += blockDim.x)
        reinterpret_cast<uint64_t*>(&memory.picture)[i] =
            reinterpret_cast<const uint64_t*>(&state.picture)[i];
    start_search(memory.search);
    const Picture& picture = memory.picture;
    start_tree(picture, memory.tree);
    for (int i = threadIdx.x; i < kFlagContexts * kScales * kFlags; i += blockDim.x)
        (&memory.tree.flag_frequency[0][0][0])[i] = (&state.flag_frequency[0][0][0])[i];

    const int block = blockIdx.x, blocks = gridDim.x;
    const int across = picture.padded_width / kFragmentSize;
    last = min(last, across * (picture.padded_height / kFragmentSize));
    // With company, the first block prepares, chooses and codes the tree, while the others search
    // and learn.
    const bool leads = block == 0, alone = blocks <= 4;
    const int workers = alone ? blocks : blocks - 1, worker = alone ? block : block - 1;
    const bool works = worker >= 0;
    const uint32_t learners = min(workers, kScales);
    uint64_t* symbols = picture.symbols + int64_t{slot} * capacity;
    if (first < last) load_fragment(first, memory);
    PhaseClock clock;
    for (int fragment = first; fragment < last; ++fragment) {
        const uint32_t done = fragment, now = fragment + 1;
        const int row = fragment / across * kFragmentSize;
        const int column = fragment % across * kFragmentSize;
        wait_until(state.learnt, done * learners);
        clock.stop(state, kLearnWait);
        if (works) plan_search(state, memory.search);
        clock.stop(state, kPlan);
        if (leads) {
            __syncthreads();
            prepare_tree(picture, row, column, memory.search.segments, memory.tree);
        }
        if (works) {
            search_fragment(picture, memory.search, worker, workers, state.key);
            raise(state.searched);
        }
        clock.stop(state, kSearch);
        if (leads) {
            wait_until(state.searched, now * workers);
            clock.stop(state, kSearchWait);
            choose_tree(picture, state, memory.tree);
            rebuild_fragment(picture, memory.tree, row, column, state.coded);
            raise(state.chosen);
            clock.stop(state, kTree);
            code_nodes(picture, state, memory.tree.chosen, memory.tree.nodes[0] & 0xFFFF,
                       memory.tree.flag_frequency, symbols);
            symbols += memory.tree.nodes[0] >> kSymbolShift;
            raise(state.counted);
            clock.stop(state, kCode);
        }
        if (fragment + 1 < last) load_fragment(fragment + 1, memory);
        if (worker < 0 || worker >= learners) continue;
        wait_until(state.chosen, now);
        clock.stop(state, kTreeWait);
        for (int scale = worker; scale < kScales; scale += learners) {
            uint32_t size = kGreyLevels;
            const bool reachable = scale_reachable(scale, picture.partition);
            if (reachable) size = learn_scale(picture, state, scale, memory.learn);
            wait_until(state.counted, now);
            if (reachable && threadIdx.x < 32)
                finish_scale(picture, state.scales[scale], size, memory.learn.arrived);
        }
        raise(state.learnt);
        clock.stop(state, kLearn);
    }
    if (block == 0)
        for (int i = threadIdx.x; i < kFlagContexts * kScales * kFlags; i += blockDim.x)
            (&state.flag_frequency[0][0][0])[i] = (&memory.tree.flag_frequency[0][0][0])[i];
    if (block == 0 && threadIdx.x == 0)
        picture.symbol_count[slot] =
            static_cast<uint32_t>(symbols - (picture.symbols + int64_t{slot} * capacity));
}

extern "C" __global__ void layout_sizes(uint32_t* sizes) {
    sizes[0] = sizeof(Scale);
    sizes[1] = sizeof(Node);
    sizes[2] = sizeof(State);
    sizes[3] = sizeof(Memory);
}
