// Workers and their records: a search over a block reuses an earlier result for the same context.
#pragma once

#include "cuda/blocks/memory.cuh"
#include "cuda/device/barrier.cuh"

namespace mmp {

// A worker: a CUDA block that searches fragments, alone or in a team.
struct Worker {
    BlockTeam& team;
    int number, workers;  // number in the team, size of the team
    uint32_t* barriers;   // barriers passed by this worker, by part of the team

    __device__ uint8_t* own_memory() const { return search_memory().own; }
    __device__ Findings& findings(const BlockPlace& block) const {
        return reinterpret_cast<Findings*>(own_memory())[block_number(block)];
    }
    __device__ uint8_t* record(const BlockPlace& block, int slot) const {
        const int shape = shape_number(block.a, block.b);
        const int index = (block.row >> block.a) * (kMaxSide >> block.b) + (block.column >> block.b);
        const BlockSearchMemory& memory = search_memory();
        return own_memory() + memory.record_start[shape] +
               int64_t{memory.record_size[shape]} * (index * kSlots + slot);
    }
    // Barrier for all threads of workers `first` to `last` - 1.
    __device__ void meet(int first, int last) {
        __syncthreads();
        if (last - first == 1) return;
        if (threadIdx.x == 0) {
            const int part = part_number(first, last);
            arrive_and_wait(&team.arrived[part], ++barriers[part] * (last - first));
        }
        __syncthreads();
    }
    // Parts of a team are numbered as a binary heap: 0 is the whole team, 1 and 2 are its halves.
    __device__ int part_number(int first, int last) const {
        return workers / (last - first) - 1 + first / (last - first);
    }
};

// Writes all data that a search over a block depends on to memory.surroundings, and a hash of it to
// memory.hash.
__device__ inline void see_surroundings(BlockSearchMemory& memory, const BlockPlace& block) {
    Canvas& canvas = memory.canvas;
    const int length = block.height() + block.width();
    const int across = (kReach + max(length, block.width() + kReach)) / kUnit;
    const int above = kReach / kUnit * across, count = surrounding_units(block.a, block.b);
    __syncthreads();  // wait until all threads have read the previous hash
    if (threadIdx.x < kHashWords) memory.wide[threadIdx.x] = 0;
    if (threadIdx.x == 0) memory.hash = 0;
    __syncthreads();
    uint32_t hash = 0;
    for (int i = threadIdx.x; i < count; i += kBlockThreads) {
        const int n = i - above;
        const int row = n < 0 ? block.row - kReach + i / across * kUnit : block.row + n / 2 * kUnit;
        const int column = block.column - kReach + (n < 0 ? i % across : n % 2) * kUnit;
        const bool beside =
            n < 0 ? row == block.row - kUnit && column >= block.column &&
                        column < block.column + block.width()
                  : column == block.column - kUnit && row < block.row + block.height();
        uint32_t words[kSurroundingWords] = {};
        if (canvas.known(row, column)) {
            words[0] = 1;
            if (beside) words[0] = *reinterpret_cast<const uint32_t*>(&canvas.unit(row, column));
            for (int y = 0; y < kUnit; ++y)
                words[1 + y] = *reinterpret_cast<const uint32_t*>(canvas.sample(row + y, column));
        }
        for (int k = 0; k < kSurroundingWords; ++k) {
            memory.surroundings[i * kSurroundingWords + k] = words[k];
            const uint32_t mixed =
                (words[k] ^ (i * kSurroundingWords + k + 1) * 0x9E3779B9u) * 0x85EBCA6Bu;
            hash += (mixed ^ mixed >> 15) * 0xC2B2AE35u;
        }
    }
    // Template matching also depends on the samples of the whole fragment, which change between
    // searches; samples outside the fragment do not.
    if (memory.worth[block_number(block)] >> kMatched & 1) {
        uint64_t wide[2] = {0, 0};
        constexpr int kAcross = kMaxSide / kUnit;
        for (int i = threadIdx.x; i < kAcross * kAcross; i += kBlockThreads) {
            const int row = i / kAcross * kUnit, column = i % kAcross * kUnit;
            if (!canvas.known(row, column)) continue;
            for (int y = 0; y < kUnit; ++y) {
                const uint64_t word = *reinterpret_cast<const uint32_t*>(canvas.sample(row + y, column));
                const uint64_t mixed =
                    (word ^ uint64_t(i * kUnit + y + 1) << 32) * 0x9E3779B97F4A7C15ull;
                wide[0] ^= (mixed ^ mixed >> 29) * 0xBF58476D1CE4E5B9ull;
                wide[1] ^= (mixed ^ mixed >> 32) * 0x94D049BB133111EBull;
            }
        }
        for (int k = 0; k < kHashWords; ++k) {
            const uint32_t word = warp_xor(uint32_t(wide[k / 2] >> (k % 2 * 32)));
            if (threadIdx.x % 32 == 0) atomicXor(&memory.wide[k], word);
        }
    }
    hash = warp_sum(hash);
    if (threadIdx.x % 32 == 0) atomicAdd(&memory.hash, hash);
    __syncthreads();
    if (threadIdx.x < kHashWords) {
        const uint32_t word = memory.wide[threadIdx.x];
        memory.surroundings[count * kSurroundingWords + threadIdx.x] = word;
        atomicAdd(&memory.hash, word);
    }
    __syncthreads();
}

// Whether a record was made for the context in memory.surroundings.
__device__ inline bool seen_before(const BlockSearchMemory& memory, const BlockPlace& block,
                                   const uint8_t* record) {
    const RecordLayout layout(block.a, block.b);
    const uint32_t* then = reinterpret_cast<const uint32_t*>(record + layout.surroundings);
    const int words = surrounding_words(block.a, block.b);
    bool differ = false;
    for (int i = threadIdx.x; i < words; i += kBlockThreads)
        differ |= then[i] != memory.surroundings[i];
    return !__syncthreads_or(differ);
}

// Copies the samples, levels and units of a record to the canvas.
__device__ inline void show(BlockSearchMemory& memory, const BlockPlace& block, const uint8_t* record) {
    Canvas& canvas = memory.canvas;
    const RecordLayout layout(block.a, block.b);
    const Unit* units = reinterpret_cast<const Unit*>(record + layout.units);
    const uint32_t* samples = reinterpret_cast<const uint32_t*>(record + layout.samples);
    const uint32_t* levels = reinterpret_cast<const uint32_t*>(record + layout.levels);
    const int width = block.width();
    for (int i = threadIdx.x; i < block.area() / 4; i += kBlockThreads) {
        const int row = block.row + i * 4 / width, column = block.column + i * 4 % width;
        *reinterpret_cast<uint32_t*>(canvas.sample(row, column)) = samples[i];
        if (memory.window)
            *reinterpret_cast<uint32_t*>(memory.window + (row + kWindowAbove) * kWindowColumns +
                                         column + kWindowLeft) = samples[i];
        uint32_t* to = reinterpret_cast<uint32_t*>(&canvas.levels[row][column]);
        to[0] = levels[2 * i], to[1] = levels[2 * i + 1];
    }
    for (int i = threadIdx.x; i < block.area() / (kUnit * kUnit); i += kBlockThreads) {
        const int row = block.row + i / (width / kUnit) * kUnit;
        const int column = block.column + i % (width / kUnit) * kUnit;
        if (canvas.holds(row, column)) canvas.unit(row, column) = units[i];
    }
    __syncthreads();
}

// Makes the record of a split block from the canvas and the nodes of its halves.
__device__ inline void gather(Canvas& canvas, const BlockPlace& block, int flag, int64_t cost,
                              const uint8_t* const (&halves)[2], uint8_t* record) {
    const RecordLayout layout(block.a, block.b);
    uint16_t* nodes = reinterpret_cast<uint16_t*>(record + layout.nodes);
    int count = 1;
    for (int half = 0; half < 2; ++half) {
        if (!halves[half]) continue;
        const BlockPlace place = part_of(block, flag, half);
        const int more = reinterpret_cast<const Record*>(halves[half])->nodes;
        const uint16_t* from = reinterpret_cast<const uint16_t*>(
            halves[half] + RecordLayout(place.a, place.b).nodes);
        for (int i = threadIdx.x; i < more; i += kBlockThreads) nodes[count + i] = from[i];
        count += more;
    }
    if (threadIdx.x == 0) {
        nodes[0] = pack_block(flag, 0, 0, 0);
        Record& head = *reinterpret_cast<Record*>(record);
        head.cost = cost;
        head.nodes = count;
    }
    Unit* units = reinterpret_cast<Unit*>(record + layout.units);
    uint32_t* samples = reinterpret_cast<uint32_t*>(record + layout.samples);
    uint32_t* levels = reinterpret_cast<uint32_t*>(record + layout.levels);
    const int width = block.width();
    for (int i = threadIdx.x; i < block.area() / 4; i += kBlockThreads) {
        const int row = block.row + i * 4 / width, column = block.column + i * 4 % width;
        samples[i] = *reinterpret_cast<const uint32_t*>(canvas.sample(row, column));
        const uint32_t* from = reinterpret_cast<const uint32_t*>(&canvas.levels[row][column]);
        levels[2 * i] = from[0], levels[2 * i + 1] = from[1];
    }
    for (int i = threadIdx.x; i < block.area() / (kUnit * kUnit); i += kBlockThreads) {
        const int row = block.row + i / (width / kUnit) * kUnit;
        const int column = block.column + i % (width / kUnit) * kUnit;
        units[i] = canvas.holds(row, column) ? canvas.unit(row, column) : Unit{};
    }
    __syncthreads();
}

}  // namespace mmp
