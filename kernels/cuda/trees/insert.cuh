// Insertion without dictionary tools: a hash table finds candidates that already are elements,
// repeated candidates of the batch are dropped, and the rest is inserted in order. One block
// handles a scale, and each of its warps a candidate.
#pragma once

#include "cuda/trees/count.cuh"
#include "cuda/trees/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

constexpr int kModelWarp = kWarps - 1;
constexpr int kLearnWarps = kWarps - 1;

struct LearnMemory {
    alignas(16) uint8_t coded[kFragmentArea];
    alignas(16) uint8_t wide[kWarps][kFragmentArea];
    alignas(16) uint8_t element[kWarps][kFragmentArea];
    uint32_t hash[kWarps];
    uint8_t element_class[kWarps];
    uint8_t fresh[kWarps];  // whether it was not an element before this batch
    uint8_t taken[kWarps];  // whether it also differs from earlier candidates
    Scale models[kScales];  // by scale, for the scales of this block
};

__device__ inline uint32_t mix(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7FEB352Du;
    x ^= x >> 15;
    x *= 0x846CA68Bu;
    return x ^ x >> 16;
}

// Hash of one word of four samples of an element and of its position.
__device__ inline uint32_t mix_word(uint32_t key, uint32_t word, int place) {
    return mix((word ^ key) + 0x9E3779B9u * static_cast<uint32_t>(place + 1));
}

// Hash of an element, computed by one warp. `samples` is aligned to 4 bytes.
__device__ inline uint32_t warp_hash(uint32_t key, const uint8_t* samples, int area) {
    uint32_t sum = 0;
    if (area < 4) {
        if (threadIdx.x % 32 < area) sum = mix(samples[threadIdx.x % 32] + (threadIdx.x % 32 << 8));
    } else {
#pragma unroll 1
        for (int i = threadIdx.x % 32; i < area / 4; i += 32)
            sum += mix_word(key, reinterpret_cast<const uint32_t*>(samples)[i], i);
    }
    return mix(warp_sum(sum));
}

// Hash of an element of a dictionary, computed by one thread.
__device__ inline uint32_t element_hash(uint32_t key, const Dictionary& dictionary, int scale,
                                        uint32_t element) {
    const int area = scale_area(scale);
    const auto* bytes = reinterpret_cast<const uint8_t*>(dictionary.samples);
    uint32_t sum = 0;
    if (area < 4) {
        for (int i = 0; i < area; ++i)
            sum += mix(bytes[element_sample(scale, element, i)] + (i << 8));
    } else {
#pragma unroll 4
        for (int i = 0; i < area / 4; ++i)
            sum += mix_word(key, dictionary.samples[element_word(scale, element, i)], i);
    }
    return mix(sum);
}

__device__ inline bool warp_equal(const Dictionary& dictionary, int scale, uint32_t element,
                                  const uint8_t* samples) {
    const int lane = threadIdx.x % 32, area = scale_area(scale);
    bool equal = true;
    if (area < 4) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(dictionary.samples);
        if (lane < area) equal = bytes[element_sample(scale, element, lane)] == samples[lane];
    } else {
        const auto* words = reinterpret_cast<const uint32_t*>(samples);
#pragma unroll 1
        for (int i = lane; i < area / 4; i += 32)
            equal &= dictionary.samples[element_word(scale, element, i)] == words[i];
    }
    return __all_sync(kAllLanes, equal);
}

// Finds the element with these samples, or kNoElement; probes 32 slots of the table at a time.
__device__ inline uint32_t warp_find(const Picture& picture, const Dictionary& dictionary, int scale,
                                     const uint8_t* samples, uint32_t hash) {
#pragma unroll 1
    for (uint32_t start = hash;; start += 32) {
        // Bypasses the L1 cache, because other blocks write the table.
        const uint64_t entry = __ldcg(reinterpret_cast<const unsigned long long*>(
            &dictionary.table[(start + threadIdx.x % 32) & picture.table_mask]));
        const uint32_t free = __ballot_sync(kAllLanes, entry == 0);
        uint32_t alike = __ballot_sync(kAllLanes, entry && entry >> 32 == hash);
        if (free) alike &= (free & -free) - 1;
#pragma unroll 1
        for (; alike; alike &= alike - 1) {
            const uint32_t number =
                __shfl_sync(kAllLanes, static_cast<uint32_t>(entry), __ffs(alike) - 1);
            if (warp_equal(dictionary, scale, number - 1, samples)) return number - 1;
        }
        if (free) return kNoElement;
    }
}

// Initial class of an element. All lanes of a warp call it.
__device__ inline int first_class(const Picture& picture, const uint8_t* samples, int area,
                                  int origin) {
    bool zero = true;
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < area; i += 32) zero &= samples[i] == kMidLevel;
    zero = __all_sync(kAllLanes, zero);
    return !picture.index_classes ? 0 : zero ? kZeroClass : origin;
}

// Writes the class of a new element to host memory. One warp calls it.
__device__ inline void tell_class(const Picture& picture, int scale, uint32_t place, int c) {
    if (threadIdx.x % 32 == 0)
        picture.first_class[scale * picture.class_room + place] = static_cast<uint8_t>(c);
}

// Adds an element to the hash table. One thread calls it.
__device__ inline void enter(const Picture& picture, const Dictionary& dictionary, uint32_t element,
                             uint32_t hash) {
    const unsigned long long entry = uint64_t{hash} << 32 | (element + 1);
    auto* table = reinterpret_cast<unsigned long long*>(dictionary.table);
#pragma unroll 1
    for (uint32_t slot = hash & picture.table_mask; atomicCAS(&table[slot], 0ull, entry);
         slot = (slot + 1) & picture.table_mask) {
    }
}

// Writes an element at a given index. One warp calls it.
__device__ inline void warp_insert(const Picture& picture, int scale, uint32_t element,
                                   const uint8_t* samples, int element_class, uint32_t hash) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const int lane = threadIdx.x % 32, area = scale_area(scale);
    if (lane == 0) {
        dictionary.element_class[element] = static_cast<uint8_t>(element_class);
        dictionary.count[element] = 1;
        enter(picture, dictionary, element, hash);
    }
    uint32_t norm = 0;
    if (area < 4) {
        auto* bytes = reinterpret_cast<uint8_t*>(dictionary.samples);
        if (lane < area) {
            bytes[element_sample(scale, element, lane)] = samples[lane];
            norm = samples[lane] * samples[lane];
        }
    } else {
        const auto* words = reinterpret_cast<const uint32_t*>(samples);
#pragma unroll 1
        for (int i = lane; i < area / 4; i += 32) {
            dictionary.samples[element_word(scale, element, i)] = words[i];
            norm = __dp4a(words[i], words[i], norm);
        }
    }
    norm = warp_sum(norm);
    // count_cost() of a count of 1 is 0.
    if (lane == 0) dictionary.cost[element] = static_cast<int32_t>(norm << kCostFractionBits);
}

// Inserts the new candidates of this batch, in order, into a dictionary of `size` elements. Returns
// its new size. `here`: this warp has a candidate; its samples and class are in `memory`.
__device__ inline uint32_t insert_batch(const Picture& picture, int scale, uint32_t size,
                                        LearnMemory& memory, bool here) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    const uint8_t* samples = memory.element[warp];
    bool fresh = false;
    uint32_t hash = 0;
    if (here) {
        hash = warp_hash(picture.hash_key, samples, area);
        fresh = warp_find(picture, picture.dictionaries[scale], scale, samples, hash) == kNoElement;
    }
    if (lane == 0) {
        memory.hash[warp] = hash;
        memory.fresh[warp] = fresh;
    }
    __syncthreads();
    bool repeated = false;
    uint32_t alike = __ballot_sync(
        kAllLanes, fresh && lane < warp && memory.fresh[lane] && memory.hash[lane] == hash);
#pragma unroll 1
    for (; alike && !repeated; alike &= alike - 1) {
        bool equal = true;
#pragma unroll 1
        for (int i = lane; i < area; i += 32)
            equal &= memory.element[__ffs(alike) - 1][i] == samples[i];
        repeated = __all_sync(kAllLanes, equal);
    }
    if (lane == 0) memory.taken[warp] = fresh && !repeated;
    __syncthreads();
    const uint32_t taken = __ballot_sync(kAllLanes, memory.taken[lane]);
    const uint32_t grown = min(size + __popc(taken), picture.dictionary_limit);
    if (warp == kModelWarp) {
        const bool added = taken >> lane & 1 && size + __popc(taken & ((1u << lane) - 1)) < grown;
        if (added) {
            atomicAdd(&memory.models[scale].class_size[memory.element_class[lane]], 1u);
            atomicAdd(&memory.models[scale].class_total[memory.element_class[lane]], 1u);
        }
        __syncwarp();
    } else if (taken >> warp & 1) {
        const uint32_t number = size + __popc(taken & ((1u << warp) - 1));
        if (number < grown) {
            tell_class(picture, scale, number, memory.element_class[warp]);
            warp_insert(picture, scale, number, samples, memory.element_class[warp], hash);
        }
    }
    return grown;
}

}  // namespace mmp
