// Kernel of the search for predicted blocks: computes plans from samples on the device.
#include "cuda/blocks/count.cuh"
#include "cuda/blocks/search/search.cuh"
#include "cuda/blocks/search/wavefront.cuh"
#include "cuda/blocks/search/worth.cuh"

namespace mmp {

// Copies the best plan of a fragment, its decoded samples and its units to the picture's global
// memory, and adapts the models to it.
__device__ void take_plan(const uint8_t* record, int fragment) {
    BlockSearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    Canvas& canvas = memory.canvas;
    const int side = picture.tools.fragment_log2;
    const BlockPlace block{0, 0, side, side};
    const RecordLayout layout(side, side);
    const int count = reinterpret_cast<const Record*>(record)->nodes;
    const uint16_t* nodes = reinterpret_cast<const uint16_t*>(record + layout.nodes);
    uint16_t* plan = picture.plan_nodes + int64_t{fragment} * kPlanNodes;
    for (int i = threadIdx.x; i < count; i += kBlockThreads) plan[i] = memory.nodes[i] = nodes[i];
    show(memory, block, record);
    if (threadIdx.x == 0) picture.plan_counts[fragment] = count;
    int16_t* levels = picture.plan_levels + int64_t{fragment} * kMaxBlockArea;
    for (int i = threadIdx.x; i < kMaxBlockArea; i += kBlockThreads) {
        levels[i] = (&canvas.levels[0][0])[i];
        const int y = i / kMaxSide, x = i % kMaxSide;
        if (max(y, x) >= 1 << side || y >= canvas.rows || x >= canvas.columns) continue;
        const int64_t row = canvas.row + y, column = canvas.column + x;
        picture.samples[row * picture.width + column] = *canvas.sample(y, x);
        if (y % kUnit == 0 && x % kUnit == 0)
            picture.units[row / kUnit * (picture.width / kUnit) + column / kUnit] =
                canvas.unit(y, x);
    }
    __syncthreads();
    mark(canvas, block, Unit{});
    __syncthreads();
    count_plan(memory);
    __syncthreads();
}

}  // namespace mmp

using namespace mmp;

// Sizes in bytes that the host needs: models; a team; device memory per worker; shared memory per
// worker, at least and without candidates; a candidate.
extern "C" __device__ int64_t block_bytes[] = {
    sizeof(BlockModels),       sizeof(BlockTeam),          worker_bytes(),
    sizeof(BlockSearchMemory), bytes_without_candidates(), sizeof(SmallCandidate)};

// Searches the fragments of tickets `first` to `last` - 1 and writes their plans. search_roughly
// must have run for these tickets. Grid: (workers per team, a power of two; teams); all blocks must
// be resident.
extern "C" __global__ void __launch_bounds__(kBlockThreads, 3)
    search_blocks(const BlockPicture* pictures, const SearchRoom* given, int first, int last) {
    BlockSearchMemory& memory = search_memory();
    enter_room(*given, blockIdx.x, blockIdx.y, gridDim.x, pictures->effort);
    const SearchRoom& room = memory.room;
    const BlockPicture& picture = memory.picture;
    uint32_t barriers[2 * kMostWorkers] = {};
    Worker worker{room.teams[blockIdx.y], int(blockIdx.x), int(gridDim.x), barriers};
    Search search(worker);
    const Ticket* tickets = room.tickets + first;
    uint32_t from = 0, slot;
    while ((slot = take_ticket(worker, pictures, tickets, last - first, from)) != kNoTicket) {
        const Ticket ticket = tickets[slot];
        copy_structure(pictures[ticket.picture], memory.picture);
        __syncthreads();
        const Fragment fragment(picture, ticket);
        start_models(picture, fragment, memory.models);
        memory.costs.refresh(memory.models, picture);
        if (threadIdx.x == 0)
            memory.window =
                picture.tools.templates ? memory.own + room.worker_bytes - kWindowBytes : nullptr;
        __syncthreads();
        start_canvas(memory, fragment.row << picture.tools.fragment_log2,
                     fragment.column << picture.tools.fragment_log2);
        price_rough(worker, slot);
        worker.meet(0, worker.workers);
        choose_worthwhile(worker, slot);
        const uint8_t* best = search.run();
        if (worker.number) continue;
        take_plan(best, fragment.number());
        finish_fragment(picture, fragment, memory.models);
    }
}
