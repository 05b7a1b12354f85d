// The search loop for predicted blocks, which turns samples into plans on the device.
#include "cuda/blocks/count.cuh"
#include "cuda/blocks/search/search.cuh"
#include "cuda/blocks/search/worth.cuh"

namespace mmp {

// Updates canvas and models with the best plan of a fragment. The first worker also writes the
// plan, the samples and the units to the picture's memory.
__device__ void take_plan(Worker& worker, const uint8_t* record, int fragment, int row, int column) {
    BlockSearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    Canvas& canvas = memory.canvas;
    const int side = picture.fragment_log2;
    const BlockPlace block{0, 0, side, side};
    const RecordLayout layout(side, side);
    const int count = reinterpret_cast<const Record*>(record)->nodes;
    const uint16_t* nodes = reinterpret_cast<const uint16_t*>(record + layout.nodes);
    for (int i = threadIdx.x; i < count; i += kBlockThreads) memory.nodes[i] = nodes[i];
    show(memory, block, record);
    if (worker.number == 0) {
        uint16_t* plan = picture.plan_nodes + int64_t{fragment} * kPlanNodes;
        for (int i = threadIdx.x; i < count; i += kBlockThreads) plan[i] = nodes[i];
        if (threadIdx.x == 0) picture.plan_counts[fragment] = count;
        int16_t* levels = picture.plan_levels + int64_t{fragment} * kMaxBlockArea;
        for (int i = threadIdx.x; i < kMaxBlockArea; i += kBlockThreads) {
            levels[i] = (&canvas.levels[0][0])[i];
            const int y = i / kMaxSide, x = i % kMaxSide;
            if (max(y, x) >= 1 << side || y >= canvas.rows || x >= canvas.columns) continue;
            picture.samples[int64_t{row + y} * picture.width + column + x] = *canvas.sample(y, x);
            if (y % kUnit == 0 && x % kUnit == 0)
                picture.units[int64_t{(row + y) / kUnit} * (picture.width / kUnit) +
                              (column + x) / kUnit] = canvas.unit(y, x);
        }
        __syncthreads();
    }
    mark(canvas, block, Unit{});
    __syncthreads();
    count_plan(memory);
    __syncthreads();
}

}  // namespace mmp

using namespace mmp;

// Sizes in bytes: BlockState, the global memory of a worker, the shared memory of a worker with one
// candidate, each further candidate.
extern "C" __device__ int64_t block_bytes[] = {sizeof(BlockState), worker_bytes(), search_bytes(1),
                                               sizeof(Candidate)};

// Sets the models of each picture to their initial state. Grid: pictures.
extern "C" __global__ void start_models(BlockState* states) {
    if (threadIdx.x == 0) states[blockIdx.x].models.start();
}

// Searches the fragments `first` to `last` - 1 of each picture and writes their plans. Run the
// survey of these fragments before. Grid: (workers of a picture, a power of two; pictures), all
// resident at once, two on a multiprocessor.
extern "C" __global__ void __launch_bounds__(kBlockThreads, 2)
    search_blocks(BlockState* states, int first, int last) {
    BlockSearchMemory& memory = search_memory();
    BlockState& state = states[blockIdx.y];
    for (int i = threadIdx.x; i < int(sizeof(BlockPicture) / 8); i += kBlockThreads)
        reinterpret_cast<uint64_t*>(&memory.picture)[i] =
            reinterpret_cast<const uint64_t*>(&state.picture)[i];
    for (int i = threadIdx.x; i < int(sizeof(BlockModels) / 2); i += kBlockThreads)
        reinterpret_cast<uint16_t*>(&memory.models)[i] =
            reinterpret_cast<const uint16_t*>(&state.models)[i];
    if (threadIdx.x == 0) {
        const BlockPicture& given = state.picture;
        uint8_t* end = given.findings + (blockIdx.x + 1) * given.worker_bytes;
        memory.window = given.templates ? end - kWindowBytes : nullptr;
        uint32_t start = kBlocks * sizeof(Findings);
        for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
            for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b) {
                const int shape = shape_number(a, b), size = RecordLayout(a, b).size;
                memory.record_start[shape] = start;
                memory.record_size[shape] = size;
                start += uint32_t(kSlots * size) << (2 * kMaxSideLog2 - a - b);
            }
    }
    __syncthreads();
    const BlockPicture& picture = memory.picture;
    uint32_t barriers[2 * kMostWorkers] = {};
    Worker worker{state, int(blockIdx.x), int(gridDim.x), barriers};
    Search search(worker);
    const int side = 1 << picture.fragment_log2;
    const int across = (picture.width + side - 1) / side;
    last = min(last, across * ((picture.height + side - 1) / side));
    for (int fragment = first; fragment < last; ++fragment) {
        const int row = fragment / across * side, column = fragment % across * side;
        memory.costs.refresh(memory.models, picture.rates, picture.lambda_fixed);
        start_canvas(memory, row, column);
        price_rough(worker, fragment - first);
        worker.meet(0, worker.workers);
        choose_worthwhile(worker, fragment - first);
        take_plan(worker, search.run(), fragment, row, column);
        worker.meet(0, worker.workers);
    }
    if (worker.number) return;
    for (int i = threadIdx.x; i < int(sizeof(BlockModels) / 2); i += kBlockThreads)
        reinterpret_cast<uint16_t*>(&state.models)[i] =
            reinterpret_cast<const uint16_t*>(&memory.models)[i];
}
