// Order of the fragments (wavefront): a worker takes the first fragment that is ready, in order of
// diagonals, so that many are searched in parallel. A fragment is ready once its predecessor in the
// row is searched and the row above is searched up to two largest blocks to its right. Its models
// have learned from no fragments beyond these, so plans depend neither on the number of workers nor
// on their timing. See docs/decisions/0019-wavefront.md.
#pragma once

#include "cuda/blocks/memory.cuh"

namespace mmp {

constexpr int kPause = 5000;  // nanoseconds between two polls of the progress
constexpr uint32_t kStopLooks = 16;  // polls between two checks of the host's stop flag
constexpr uint32_t kNoTicket = ~0u;

// A fragment of a picture, in rows and columns of fragments.
struct Fragment {
    int row, column, across;  // across: fragments per row
    int above;                // last column of the row above that must be searched before

    __device__ Fragment(const BlockPicture& picture, const Ticket& ticket)
        : row(ticket.row),
          column(ticket.column),
          across((picture.width + (1 << picture.tools.fragment_log2) - 1) >> picture.tools.fragment_log2),
          above(min(column + (2 * kMaxSide >> picture.tools.fragment_log2), across) - 1) {}
    __device__ int number() const { return row * across + column; }
    __device__ bool is_ready(const BlockPicture& picture) const {
        const volatile uint32_t* done = picture.done + row;
        return int(done[0]) == column && (row == 0 || int(done[-1]) > above);
    }
};

// Copies a structure to shared memory, with all threads of the block.
template <class T>
__device__ void copy_structure(const T& from, T& to) {
    static_assert(sizeof(T) % sizeof(uint32_t) == 0, "");
    for (int i = threadIdx.x; i < int(sizeof(T) / sizeof(uint32_t)); i += kBlockThreads)
        reinterpret_cast<uint32_t*>(&to)[i] = reinterpret_cast<const uint32_t*>(&from)[i];
}

// Sets up this worker's memory for a launch.
__device__ inline void enter_room(const SearchRoom& given, int worker) {
    BlockSearchMemory& memory = search_memory();
    copy_structure(given, memory.room);
    __syncthreads();
    if (threadIdx.x == 0) {
        SearchRoom& room = memory.room;
        room.levels += int64_t{worker} * kBlockThreads * kMaxCoded;
        room.magnitudes += int64_t{worker} * kBlockThreads * kMostMargins;
        WorkerMemory& own = *reinterpret_cast<WorkerMemory*>(room.own + worker * room.worker_bytes);
        memory.planes = &own.planes;
        memory.found = &own.found;
        memory.costs.bits = &own.planes.bit_costs;
        memory.canvas.levels = own.planes.levels;
        memory.own_window = own.window;
        memory.deep_window = own.deep_window;
    }
    __syncthreads();
}

// Takes the first ticket whose fragment is ready, from `tickets`, the `count` tickets of this
// launch. Returns its index, or kNoTicket if none is left or the host stops the search. All tickets
// before `from` are taken; the function advances `from`. One warp calls it.
__device__ inline uint32_t find_ticket(const BlockPicture* pictures, const SearchRoom& room,
                                       const Ticket* tickets, uint32_t count, uint32_t& from) {
    const int lane = threadIdx.x % 32;
    volatile uint32_t* taken = room.taken;
    const volatile uint32_t* stop = room.stop;
    for (uint32_t look = 0; look % kStopLooks || !__any_sync(kAllLanes, *stop); ++look) {
        for (uint32_t first = from; first < count; first += 32) {
            const uint32_t own = first + lane;
            const bool left = own < count && !taken[own];
            if (first == from && !__any_sync(kAllLanes, left)) from += 32;
            bool ready = false;
            if (left) {
                const BlockPicture& picture = pictures[tickets[own].picture];
                ready = Fragment(picture, tickets[own]).is_ready(picture);
            }
            for (uint32_t rest = __ballot_sync(kAllLanes, ready); rest; rest &= rest - 1) {
                const int best = __ffs(rest) - 1;
                uint32_t before = 0;
                if (lane == best) before = atomicExch(&room.taken[own], 1u);
                if (__shfl_sync(kAllLanes, before, best)) continue;
                __threadfence();
                return first + best;
            }
        }
        if (from >= count) break;
        __nanosleep(kPause);
    }
    return kNoTicket;
}

// Takes a ticket; see find_ticket(). All threads of the worker must call it.
__device__ inline uint32_t take_ticket(BlockSearchMemory& memory, const BlockPicture* pictures,
                                       const Ticket* tickets, uint32_t count, uint32_t& from) {
    __syncthreads();
    if (threadIdx.x < 32) {
        const uint32_t found = find_ticket(pictures, memory.room, tickets, count, from);
        if (threadIdx.x == 0) memory.ticket = found;
    }
    __syncthreads();
    return memory.ticket;
}

// Initialises the models from the searches of the previous fragment in the row and of the row
// above.
__device__ inline void start_models(const BlockPicture& picture, const Fragment& fragment,
                                    BlockModels& models) {
    const BlockModels& above = picture.models[fragment.above];
    if (fragment.column) {
        copy_structure(picture.models[fragment.column - 1], models);
    } else if (fragment.row) {
        copy_structure(above, models);
    } else {
        if (threadIdx.x == 0) models.start();
        __syncthreads();
        if (const uint8_t* const states = picture.states) {
            for (int model = threadIdx.x; model < kTrainedModels; model += kBlockThreads)
                models.load(model, states, states + kStartBytes);
            if (threadIdx.x < kSizes) models.load_modes(threadIdx.x, states);
        }
    }
    __syncthreads();
    if (!fragment.row || !fragment.column) return;
    for (int model = threadIdx.x; model < kHeldBitModels; model += kBlockThreads)
        models.bits[model].merge(above.bits[model]);
    if (threadIdx.x < kSizes) models.merge_modes(threadIdx.x, above);
    __syncthreads();
}

// Publishes the models and the progress to other workers and the host.
__device__ inline void finish_fragment(const BlockPicture& picture, const Fragment& fragment,
                                       const BlockModels& models) {
    copy_structure(models, picture.models[fragment.column]);
    __syncthreads();
    if (threadIdx.x) return;
    __threadfence_system();
    volatile uint32_t* done = picture.done + fragment.row;
    volatile uint32_t* reported = picture.reported + fragment.row;
    *done = *reported = fragment.column + 1;
}

}  // namespace mmp
