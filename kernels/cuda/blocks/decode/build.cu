// Rebuilds the samples of planes of predicted blocks from the leaves that read_planes() wrote. -D
// MMP_SAMPLE chooses the type of a sample: uint8_t or uint16_t.
#include "cuda/blocks/decode/direct.cuh"
#include "cuda/blocks/decode/matching.cuh"
#include "cuda/blocks/decode/residual.cuh"

using namespace mmp;

namespace {

// What cross-component prediction reads.
struct DecodedPlanes {
    const CodedPlane& plane;

    __device__ int own(int row, int column) const { return sample_at(plane, row, column); }
    __device__ int earlier(int which, int row, int column) const {
        return earlier_at(plane, which, row, column);
    }
};

// Writes prediction plus residual. Threads of a warp write adjacent samples.
template <class Prediction>
__device__ void write_samples(BuildMemory& memory, const BlockPlace& block,
                              const Prediction& prediction, const Residual& residual) {
    const CodedPlane& plane = memory.plane;
    auto* samples = static_cast<Sample*>(plane.samples) + int64_t{block.row} * plane.width +
                    block.column;
    for (int n = threadIdx.x; n < block.area(); n += kBuildThreads) {
        const int i = n >> block.b, j = n & (block.width() - 1);
        const int value = prediction(i, j) + residual(i, j);
        __stcg(samples + int64_t{i} * plane.width + j, Sample(limited(plane, value)));
    }
    __syncthreads();
}

__device__ Leaf leaf_of(const CodedPlane& plane, uint32_t number) {
    static_assert(sizeof(Leaf) == sizeof(uint4));
    const uint4 words = __ldcg(reinterpret_cast<const uint4*>(plane.leaves + number));
    return *reinterpret_cast<const Leaf*>(&words);
}

__device__ void build_leaf(BuildMemory& memory, const BlockPlace& fragment, uint32_t number) {
    const Leaf leaf = leaf_of(memory.plane, number);
    const BlockPlace block{fragment.row + leaf.row * kUnit, fragment.column + leaf.column * kUnit,
                           leaf.a, leaf.b};
    const DecodedBefore decoded(memory.plane, number);
    const Residual residual(memory, block, leaf);
    if (from_planes(leaf.mode)) {
        const CodedPlane& plane = memory.plane;
        const PlanesPrediction prediction(memory.planes, DecodedPlanes{plane},
                                          plane.tools.cross_component, plane.depth, block,
                                          leaf.mode);
        write_samples(memory, block, prediction, residual);
    } else if (leaf.mode == kTemplates) {
        write_samples(memory, block, MatchingPrediction(memory, block, decoded), residual);
    } else {
        count_references(memory, block, decoded);
        gather_references(memory, block);
        write_samples(memory, block, DirectPrediction(memory, block, leaf.mode), residual);
    }
}

// Waits until a counter that another CUDA block increases reaches a number.
__device__ void wait_for(const uint32_t* counter, uint32_t number) {
    if (threadIdx.x == 0) {
        const volatile uint32_t* now = counter;
        while (*now < number) __nanosleep(100);
        __threadfence();
    }
    __syncthreads();
}

}  // namespace

// A row of fragments of a plane.
struct RowTicket {
    int32_t plane, row;
};

// Rebuilds rows of fragments. `taken` counts the tickets that CUDA blocks have taken. Tickets of a
// plane are in the order of its rows, so that a block waits only for blocks that run.
extern "C" __global__ void __launch_bounds__(kBuildThreads)
    build_rows(const CodedPlane* planes, const RowTicket* tickets, int count, uint32_t* taken) {
    __shared__ __align__(16) uint8_t shared[sizeof(BuildMemory)];
    BuildMemory& memory = *reinterpret_cast<BuildMemory*>(shared);
    while (true) {
        if (threadIdx.x == 0) memory.ticket = atomicAdd(taken, 1u);
        __syncthreads();
        const uint32_t ticket = memory.ticket;
        if (ticket >= uint32_t(count)) return;
        const auto [number, row] = tickets[ticket];
        for (int i = threadIdx.x; i < int(sizeof(CodedPlane) / 4); i += kBuildThreads)
            reinterpret_cast<uint32_t*>(&memory.plane)[i] =
                reinterpret_cast<const uint32_t*>(planes + number)[i];
        __syncthreads();
        const CodedPlane& plane = memory.plane;
        const int log2 = plane.tools.fragment_log2, columns = plane.fragment_columns();
        const int lag = 2 * kMaxSide >> log2;
        for (int column = 0; column < columns; ++column) {
            if (row) wait_for(plane.done + row - 1, uint32_t(smaller(column + lag, columns)));
            const uint32_t* leaves = plane.fragments + int64_t{row} * columns + column;
            const uint32_t end = leaves[1];
            for (uint32_t leaf = leaves[0]; leaf < end; ++leaf)
                build_leaf(memory, {row << log2, column << log2, log2, log2}, leaf);
            __syncthreads();
            if (threadIdx.x == 0) {
                __threadfence();
                *const_cast<volatile uint32_t*>(plane.done + row) = uint32_t(column + 1);
            }
        }
        __syncthreads();
    }
}
