// Learning: split segments brought to a scale, duplicates left out, the rest inserted in order.
//
// One block serves a scale. Its warps take one split segment each; equal candidates are found
// among themselves first, then in a hash table of the whole dictionary.
#pragma once

#include "code.cuh"
#include "state.cuh"
#include "warp.cuh"

namespace mmp {

struct LearnMemory {
    alignas(16) uint8_t coded[kFragmentArea];
    alignas(16) uint8_t wide[32][kFragmentArea];
    alignas(16) uint8_t element[32][kFragmentArea];
    uint32_t hash[32];
    uint8_t origin[32];
    uint8_t fresh[32];  // not known before this batch
    uint8_t taken[32];  // nor equal to an earlier one of it
    uint32_t arrived[kClasses];  // inserted elements by class
};

// The scale transform by one warp, each lane some of the samples.
__device__ inline void warp_rescale(const uint8_t* block, int from, int to, uint8_t* wide,
                                    uint8_t* out) {
    const int lane = threadIdx.x % 32;
    const int h0 = kFragmentLog2 - scale_n(from), w0 = kFragmentLog2 - scale_m(from);
    const int h1 = kFragmentLog2 - scale_n(to), w1 = kFragmentLog2 - scale_m(to);
    for (int i = lane; i < 1 << (h0 + w1); i += 32) {
        const uint8_t* row = block + (i >> w1) * kFragmentSize;
        const int column = i & ((1 << w1) - 1);
        if (w1 <= w0) {
            wide[i] = mean_of(row + (column << (w0 - w1)), 1, w0 - w1);
        } else {
            const GrowPosition p = grow_position(column, 1 << w0, w1);
            wide[i] = between(row[p.left], row[p.right], p.weight, w1);
        }
    }
    __syncwarp();
    for (int i = lane; i < 1 << (h1 + w1); i += 32) {
        const int row = i >> w1;
        const uint8_t* column = wide + (i & ((1 << w1) - 1));
        if (h1 <= h0) {
            out[i] = mean_of(column + (row << (h0 - h1 + w1)), 1 << w1, h0 - h1);
        } else {
            const GrowPosition p = grow_position(row, 1 << h0, h1);
            out[i] = between(column[p.left << w1], column[p.right << w1], p.weight, h1);
        }
    }
    __syncwarp();
}

__device__ inline uint32_t mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ x >> 16;
}

// Hash of an element by one warp; the same for equal samples. `samples` is aligned to 4.
__device__ inline uint32_t warp_hash(const uint8_t* samples, int area) {
    uint32_t sum = 0;
    if (area < 4) {
        if (threadIdx.x % 32 < area) sum = mix(samples[threadIdx.x % 32] + (threadIdx.x % 32 << 8));
    } else {
        for (int i = threadIdx.x % 32; i < area / 4; i += 32)
            sum += mix(reinterpret_cast<const uint32_t*>(samples)[i] +
                       0x9E3779B9u * static_cast<uint32_t>(i + 1));
    }
    return mix(warp_sum(sum));
}

__device__ inline bool warp_equal(const Dictionary& dictionary, int scale, uint32_t element,
                                  const uint8_t* samples) {
    bool equal = true;
    for (int i = threadIdx.x % 32; i < scale_area(scale); i += 32)
        equal &= __ldcg(dictionary.samples + element_sample(scale, element, i)) == samples[i];
    return __all_sync(kAllLanes, equal);
}

__device__ inline bool warp_known(const Picture& picture, const Dictionary& dictionary, int scale,
                                  const uint8_t* samples, uint32_t hash) {
    for (uint32_t slot = hash & picture.table_mask;; slot = (slot + 1) & picture.table_mask) {
        const uint64_t entry = __ldcg(reinterpret_cast<const unsigned long long*>(&dictionary.table[slot]));
        if (!entry) return false;
        if (entry >> 32 == hash &&
            warp_equal(dictionary, scale, static_cast<uint32_t>(entry) - 1, samples))
            return true;
    }
}

// Writes an element whose number is settled, and counts it in `arrived` by its class.
__device__ inline void warp_insert(const Picture& picture, int scale, uint32_t element,
                                   const uint8_t* samples, int origin, uint32_t hash,
                                   uint32_t* arrived) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const int lane = threadIdx.x % 32, area = scale_area(scale);
    uint32_t norm = 0;
    bool zero = true;
    for (int i = lane; i < area; i += 32) {
        dictionary.samples[element_sample(scale, element, i)] = samples[i];
        norm += samples[i] * samples[i];
        zero &= samples[i] == kMidLevel;
    }
    norm = warp_sum(norm);
    zero = __all_sync(kAllLanes, zero);
    if (lane) return;
    const int c = !picture.index_classes ? 0 : zero ? kZeroClass : origin;
    dictionary.cost[element] =
        static_cast<int32_t>(norm << kCostFractionBits) - count_cost(picture, 1);
    dictionary.element_class[element] = static_cast<uint8_t>(c);
    dictionary.count[element] = 1;
    atomicAdd(&arrived[c], 1u);
    atomicAdd(&dictionary.block_total[c * picture.count_blocks + element / kCountBlock], 1u);
    const unsigned long long entry = uint64_t{hash} << 32 | (element + 1);
    auto* table = reinterpret_cast<unsigned long long*>(dictionary.table);
    for (uint32_t slot = hash & picture.table_mask; atomicCAS(&table[slot], 0ull, entry);
         slot = (slot + 1) & picture.table_mask) {
    }
}

// Inserts the candidates of this batch that are new, in order, into a dictionary of `size`
// elements; gives its new size. `here` says whether this warp has a candidate; its samples and
// origin lie in memory.
__device__ inline uint32_t insert_batch(const Picture& picture, int scale, uint32_t size,
                                        LearnMemory& memory, bool here) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    const uint8_t* samples = memory.element[warp];
    bool fresh = false;
    if (here) {
        const uint32_t hash = warp_hash(samples, area);
        fresh = !warp_known(picture, picture.dictionaries[scale], scale, samples, hash);
        if (lane == 0) memory.hash[warp] = hash;
    }
    if (lane == 0) memory.fresh[warp] = fresh;
    __syncthreads();
    bool repeated = false;
    for (int other = 0; fresh && other < warp && !repeated; ++other) {
        if (memory.hash[other] != memory.hash[warp] || !memory.fresh[other]) continue;
        bool equal = true;
        for (int i = lane; i < area; i += 32) equal &= memory.element[other][i] == samples[i];
        repeated = __all_sync(kAllLanes, equal);
    }
    if (lane == 0) memory.taken[warp] = fresh && !repeated;
    __syncthreads();
    const uint32_t taken = __ballot_sync(kAllLanes, lane < blockDim.x / 32 && memory.taken[lane]);
    const uint32_t number = size + __popc(taken & ((1u << warp) - 1));
    if (taken >> warp & 1 && number < picture.dictionary_limit)
        warp_insert(picture, scale, number, samples, memory.origin[warp], memory.hash[warp],
                    memory.arrived);
    __syncthreads();
    return min(size + __popc(taken), picture.dictionary_limit);
}

// Counts the new elements and gives the costs of the classes for the next search. One warp.
__device__ inline void finish_scale(const Picture& picture, Scale& learnt, uint32_t size,
                                    const uint32_t* arrived) {
    const int lane = threadIdx.x % 32;
    uint32_t frequency[2], class_total[2], total = 0;
    for (int half = 0; half < 2; ++half) {
        const int c = lane + 32 * half;
        frequency[half] = class_total[half] = 0;
        if (c >= kClasses) continue;
        const uint32_t class_size = learnt.class_size[c] + arrived[c];
        class_total[half] = learnt.class_total[c] + arrived[c];
        frequency[half] = class_size ? learnt.class_frequency[c] : 0;
        if (arrived[c]) {
            learnt.class_size[c] = class_size;
            learnt.class_total[c] = class_total[half];
        }
        total += frequency[half];
    }
    total = warp_sum(total);
    if (lane == 0) learnt.size = size;
    if (picture.log2_rates) {
        const int64_t cost = lagrangian(picture.rates[size], picture.lambda_fixed);
        for (int c = lane; c < kClassSlots; c += 32)
            learnt.class_cost[c] = static_cast<int32_t>(cost);
        return;
    }
    for (int half = 0; half < 2; ++half) {
        if (!frequency[half]) continue;
        const int64_t rate = int64_t{__ldg(picture.rates + total)} -
                             __ldg(picture.rates + frequency[half]) +
                             __ldg(picture.rates + class_total[half]);
        learnt.class_cost[lane + 32 * half] =
            static_cast<int32_t>(lagrangian(rate, picture.lambda_fixed));
    }
}

// Counts the split segments within reach of a scale; the one at place `wanted` among them goes to
// `found`. One warp, all lanes alike.
__device__ inline uint32_t find_split(const State& state, int radius, int scale, uint32_t wanted,
                                      Node& found) {
    const int lane = threadIdx.x % 32;
    uint32_t splits = 0;
    // All 256 single samples are known from the start.
    const uint32_t nodes = scale == kPixelScale ? 0 : state.node_count;
    for (uint32_t first = 0; first < nodes; first += 32) {
        const Node node = state.nodes[first + lane < kMaxNodes ? first + lane : 0];
        const bool taken = first + lane < nodes && node.flag != kLeaf &&
                           scale_distance(node.scale, scale) <= radius;
        const uint32_t lanes = __ballot_sync(kAllLanes, taken);
        const uint32_t before = splits + __popc(lanes & ((1u << lane) - 1));
        const uint32_t owner = __ballot_sync(kAllLanes, taken && before == wanted);
        if (owner) {
            const int from = __ffs(owner) - 1;
            found.scale = static_cast<uint8_t>(__shfl_sync(kAllLanes, int{node.scale}, from));
            found.k = static_cast<uint8_t>(__shfl_sync(kAllLanes, int{node.k}, from));
            found.l = static_cast<uint8_t>(__shfl_sync(kAllLanes, int{node.l}, from));
        }
        splits += __popc(lanes);
    }
    return splits;
}

// Inserts in one scale the split segments of the fragment just chosen; gives the new size. What
// coding reads stays untouched: finish_scale counts the elements when coding has ended.
__device__ inline uint32_t learn_scale(const Picture& picture, const State& state, int scale,
                                       LearnMemory& memory) {
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32, lane = threadIdx.x % 32;
    __syncthreads();
    for (int i = threadIdx.x; i < kFragmentArea / 4; i += blockDim.x)
        reinterpret_cast<uint32_t*>(memory.coded)[i] =
            reinterpret_cast<const uint32_t*>(state.coded)[i];
    if (threadIdx.x < kClasses) memory.arrived[threadIdx.x] = 0;
    uint32_t size = state.scales[scale].size;
    Node node{};
    const uint32_t splits = find_split(state, picture.copy_radius, scale, warp, node);
    __syncthreads();
    for (uint32_t first = 0; first < splits; first += warps) {
        if (first) find_split(state, picture.copy_radius, scale, first + warp, node);
        const bool here = first + warp < splits;
        if (here) {
            const uint8_t* block =
                memory.coded + node.k * scale_height(node.scale) * kFragmentSize +
                node.l * scale_width(node.scale);
            warp_rescale(block, node.scale, scale, memory.wide[warp], memory.element[warp]);
            if (lane == 0) memory.origin[warp] = node.scale;
        }
        size = insert_batch(picture, scale, size, memory, here);
    }
    return size;
}

// The dictionary at the start of a picture: every grey level.
__device__ inline void start_scale(const Picture& picture, Scale& learnt, int scale,
                                   LearnMemory& memory) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    for (int c = threadIdx.x; c < kClasses; c += blockDim.x) {
        learnt.class_frequency[c] = 1;
        memory.arrived[c] = 0;
    }
    __syncthreads();
    for (int level = warp; level < kGreyLevels; level += warps) {
        for (int i = lane; i < scale_area(scale); i += 32)
            memory.element[warp][i] = static_cast<uint8_t>(level);
        __syncwarp();
        const uint32_t hash = warp_hash(memory.element[warp], scale_area(scale));
        warp_insert(picture, scale, level, memory.element[warp], kPixelScale, hash,
                    memory.arrived);
        __syncwarp();
    }
    __syncthreads();
    if (warp == 0) finish_scale(picture, learnt, kGreyLevels, memory.arrived);
}

}  // namespace mmp
