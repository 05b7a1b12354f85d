// Kernel of the search for predicted blocks: computes plans from samples on the device.
#include "cuda/blocks/count.cuh"
#include "cuda/blocks/search/search.cuh"
#include "cuda/blocks/search/wavefront.cuh"
#include "cuda/blocks/search/worth.cuh"

namespace mmp {

// Copies the best plan of a fragment, its decoded samples and its units to the picture's global
// memory, and adapts the models to it.
__device__ void take_plan(Search& search, uint32_t best, int fragment) {
    BlockSearchMemory& memory = search_memory();
    const BlockPicture& picture = memory.picture;
    Canvas& canvas = memory.canvas;
    const int side = picture.tools.fragment_log2;
    const BlockPlace block{0, 0, side, side};
    int16_t* plan_levels = &canvas.levels[0][0];
    for (int i = threadIdx.x; i < kMaxBlockArea; i += kBlockThreads) plan_levels[i] = 0;
    __syncthreads();
    int count = 0;
    const auto add_node = [&](const Outcome& outcome) {
        if (threadIdx.x == 0) memory.nodes[count] = outcome.node;
        ++count;
    };
    search.for_plan(
        block, best,
        [&](const BlockPlace& leaf, const Outcome& outcome) {
            add_node(outcome);
            if (kind_of(outcome.node) != kTransformed) return;
            const LevelScan scan(*picture.tables, leaf.a, leaf.b, kSmooth, nullptr);
            const int16_t* levels = search.arena().at<int16_t>(outcome.levels);
            for (int k = threadIdx.x; k < scan.count(); k += kBlockThreads) {
                const int place = scan.at(k).place;
                canvas.levels[leaf.row + (place >> scan.columns_log2)]
                             [leaf.column + (place & ((1 << scan.columns_log2) - 1))] = levels[k];
            }
        },
        add_node);
    search.show(block, best);
    uint16_t* plan = picture.plan_nodes + int64_t{fragment} * kPlanNodes;
    for (int i = threadIdx.x; i < count; i += kBlockThreads) plan[i] = memory.nodes[i];
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

// Sizes in bytes that the host needs: models; device memory per worker; shared memory per worker, at
// least and without candidates; a candidate.
extern "C" __device__ int64_t block_bytes[] = {sizeof(BlockModels), sizeof(WorkerMemory),
                                               sizeof(BlockSearchMemory),
                                               bytes_without_candidates(), sizeof(SmallCandidate)};

// Searches the fragments of tickets `first` to `last` - 1 and writes their plans. search_roughly
// must have run for these tickets. Each CUDA block is a worker; all must be resident. `full` becomes
// 1 if the memory of a worker does not hold a plan.
extern "C" __global__ void __launch_bounds__(kBlockThreads, 3)
    search_blocks(const BlockPicture* pictures, const SearchRoom* given, int first, int last) {
    BlockSearchMemory& memory = search_memory();
    enter_room(*given, blockIdx.x);
    const SearchRoom& room = memory.room;
    const BlockPicture& picture = memory.picture;
    Search search;
    const Ticket* tickets = room.tickets + first;
    uint32_t from = 0, slot;
    while ((slot = take_ticket(memory, pictures, tickets, last - first, from)) != kNoTicket) {
        const Ticket ticket = tickets[slot];
        copy_structure(pictures[ticket.picture], memory.picture);
        __syncthreads();
        const Fragment fragment(picture, ticket);
        if (threadIdx.x == 0) {
            BlockPicture& own = memory.picture;
            own.tools.step = step_in(picture, fragment.number());
            const int64_t lambda = picture.lambdas[fragment.number()];
            own.depth.finer = finer_bits(lambda, own.depth.extra());
            own.lambda_fixed = lambda << 2 * own.depth.finer;
            own.root = root_of(own.lambda_fixed);
            memory.window = picture.tools.templates ? memory.own_window : nullptr;
        }
        __syncthreads();
        start_models(picture, fragment, memory.models);
        memory.costs.refresh(memory.models, picture);
        __syncthreads();
        start_canvas(memory, fragment.row << picture.tools.fragment_log2,
                     fragment.column << picture.tools.fragment_log2);
        price_rough(memory, slot);
        choose_worthwhile(memory, slot);
        const uint32_t best = search.run();
        if (!best) {
            if (threadIdx.x == 0) *room.full = 1;
            return;
        }
        take_plan(search, best, fragment.number());
        finish_fragment(picture, fragment, memory.models);
    }
}
