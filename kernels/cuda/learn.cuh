// Learning: split segments brought to a scale, duplicates left out, the rest inserted in order.
//
// One block serves a scale. Its warps take one split segment each; equal candidates are found
// among themselves first, then in a hash table of the whole dictionary. The last warp keeps the
// models meanwhile.
#pragma once

#include "count.cuh"
#include "state.cuh"
#include "warp.cuh"

namespace mmp {

constexpr int kModelWarp = kWarps - 1;
constexpr int kLearnWarps = kWarps - 1;

// A line of samples, and a place in what it is resized to.
struct LinePlace {
    const uint8_t* first;
    int place;
};

struct LearnMemory {
    alignas(16) uint8_t coded[kFragmentArea];
    alignas(16) uint8_t wide[kWarps][kFragmentArea];
    alignas(16) uint8_t element[kWarps][kFragmentArea];
    uint32_t hash[kWarps];
    uint8_t element_class[kWarps];
    uint8_t fresh[kWarps];  // not known before this batch
    uint8_t taken[kWarps];  // nor equal to an earlier one of it
    Scale models[kScales];  // of the scales that this block serves
};

// Means of 1 << RatioLog2 samples; a known number is read all at once.
template <int RatioLog2, class Line>
__device__ inline void warp_shrink(const Line& line, int step, int count, uint8_t* out) {
    for (int i = threadIdx.x % 32; i < count; i += 32) {
        const LinePlace p = line(i);
        out[i] = mean_of(p.first + (p.place << RatioLog2) * step, step, RatioLog2);
    }
}

// One pass of the scale transform by one warp: lines of 1 << from_log2 samples, `step` apart, to
// 1 << to_log2 samples. line(i) gives the line and place of output i.
template <class Line>
__device__ inline void warp_resize(const Line& line, int step, int from_log2, int to_log2, int count,
                                   uint8_t* out) {
    switch (from_log2 - to_log2) {
        case 0: warp_shrink<0>(line, step, count, out); break;
        case 1: warp_shrink<1>(line, step, count, out); break;
        case 2: warp_shrink<2>(line, step, count, out); break;
        case 3: warp_shrink<3>(line, step, count, out); break;
        case 4: warp_shrink<4>(line, step, count, out); break;
        default:
            for (int i = threadIdx.x % 32; i < count; i += 32) {
                const LinePlace line_place = line(i);
                const uint8_t* first = line_place.first;
                const GrowPosition p = grow_position(line_place.place, 1 << from_log2, to_log2);
                out[i] = between(first[p.left * step], first[p.right * step], p.weight, to_log2);
            }
    }
    __syncwarp();
}

// The scale transform of a block whose rows are kFragmentSize apart. One warp.
__device__ inline void warp_rescale(const uint8_t* block, int from, int to, uint8_t* wide,
                                    uint8_t* out) {
    const int h0 = kFragmentLog2 - scale_n(from), w0 = kFragmentLog2 - scale_m(from);
    const int h1 = kFragmentLog2 - scale_n(to), w1 = kFragmentLog2 - scale_m(to);
    const auto row = [&](int i) {
        return LinePlace{block + (i >> w1) * kFragmentSize, i & ((1 << w1) - 1)};
    };
    if (h0 == h1) return warp_resize(row, 1, w0, w1, 1 << (h1 + w1), out);
    // Where the width stays, the first pass would only copy.
    const int stride = w0 == w1 ? kFragmentSize : 1 << w1;
    const uint8_t* narrowed = w0 == w1 ? block : wide;
    const auto column = [&](int i) {
        return LinePlace{narrowed + (i & ((1 << w1) - 1)), i >> w1};
    };
    if (w0 != w1) warp_resize(row, 1, w0, w1, 1 << (h0 + w1), wide);
    warp_resize(column, stride, h0, h1, 1 << (h1 + w1), out);
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
#pragma unroll 1
        for (int i = threadIdx.x % 32; i < area / 4; i += 32)
            sum += mix(reinterpret_cast<const uint32_t*>(samples)[i] +
                       0x9E3779B9u * static_cast<uint32_t>(i + 1));
    }
    return mix(warp_sum(sum));
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

// Whether the dictionary has an element with these samples. Looks at 32 places of the table at once.
__device__ inline bool warp_known(const Picture& picture, const Dictionary& dictionary, int scale,
                                  const uint8_t* samples, uint32_t hash) {
#pragma unroll 1
    for (uint32_t start = hash;; start += 32) {
        // Insertion goes past the L1 cache.
        const uint64_t entry = __ldcg(reinterpret_cast<const unsigned long long*>(
            &dictionary.table[(start + threadIdx.x % 32) & picture.table_mask]));
        const uint32_t free = __ballot_sync(kAllLanes, entry == 0);
        uint32_t alike = __ballot_sync(kAllLanes, entry && entry >> 32 == hash);
        if (free) alike &= (free & -free) - 1;
#pragma unroll 1
        for (; alike; alike &= alike - 1) {
            const uint32_t number =
                __shfl_sync(kAllLanes, static_cast<uint32_t>(entry), __ffs(alike) - 1);
            if (warp_equal(dictionary, scale, number - 1, samples)) return true;
        }
        if (free) return false;
    }
}

// The class that an element starts in. All lanes of a warp.
__device__ inline int first_class(const Picture& picture, const uint8_t* samples, int area,
                                  int origin) {
    bool zero = true;
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < area; i += 32) zero &= samples[i] == kMidLevel;
    zero = __all_sync(kAllLanes, zero);
    return !picture.index_classes ? 0 : zero ? kZeroClass : origin;
}

// Writes an element whose number is settled. One warp.
__device__ inline void warp_insert(const Picture& picture, int scale, uint32_t element,
                                   const uint8_t* samples, int element_class, uint32_t hash) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const int lane = threadIdx.x % 32, area = scale_area(scale);
    if (lane == 0) {
        dictionary.element_class[element] = static_cast<uint8_t>(element_class);
        dictionary.count[element] = 1;
        picture.first_class[scale * picture.dictionary_limit + element] =
            static_cast<uint8_t>(element_class);
        const unsigned long long entry = uint64_t{hash} << 32 | (element + 1);
        auto* table = reinterpret_cast<unsigned long long*>(dictionary.table);
#pragma unroll 1
        for (uint32_t slot = hash & picture.table_mask; atomicCAS(&table[slot], 0ull, entry);
             slot = (slot + 1) & picture.table_mask) {
        }
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
    // A count of 1 takes nothing from the cost.
    if (lane == 0) dictionary.cost[element] = static_cast<int32_t>(norm << kCostFractionBits);
}

// Inserts the candidates of this batch that are new, in order, into a dictionary of `size`
// elements; gives its new size. `here` says whether this warp has a candidate; its samples and
// class lie in memory.
__device__ inline uint32_t insert_batch(const Picture& picture, int scale, uint32_t size,
                                        LearnMemory& memory, bool here) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    const uint8_t* samples = memory.element[warp];
    bool fresh = false;
    uint32_t hash = 0;
    if (here) {
        hash = warp_hash(samples, area);
        fresh = !warp_known(picture, picture.dictionaries[scale], scale, samples, hash);
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
        if (number < grown)
            warp_insert(picture, scale, number, samples, memory.element_class[warp], hash);
    }
    return grown;
}

// Counts the split segments within reach of a scale; the one at place `wanted` among them goes to
// `found`. One warp, all lanes alike.
__device__ inline uint32_t find_split(const Node* nodes, uint32_t node_count, int radius, int scale,
                                      uint32_t wanted, Node& found) {
    const int lane = threadIdx.x % 32;
    uint32_t splits = 0;
    // All 256 single samples are known from the start.
    if (scale == kPixelScale) return 0;
#pragma unroll 1
    for (uint32_t first = 0; first < node_count; first += 32) {
        const Node node = nodes[min(first + lane, kMaxNodes - 1)];
        const bool taken = first + lane < node_count && node.flag != kLeaf &&
                           scale_distance(node.scale, scale) <= radius;
        const uint32_t lanes = __ballot_sync(kAllLanes, taken);
        const uint32_t before = splits + __popc(lanes & ((1u << lane) - 1));
        const uint32_t owner = __ballot_sync(kAllLanes, taken && before == wanted);
        if (owner) found = nodes[first + __ffs(owner) - 1];
        splits += __popc(lanes);
    }
    return splits;
}

// Teaches one scale of `size` elements the fragment just chosen, whose residual lies in memory;
// gives the new size. All threads of the block.
__device__ inline uint32_t learn_scale(const Picture& picture, int scale, uint32_t size,
                                       const Node* nodes, uint32_t node_count,
                                       const Rates& rates, LearnMemory& memory,
                                       int32_t* class_cost) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Scale& models = memory.models[scale];
    Node node{};
    const uint32_t splits = find_split(nodes, node_count, picture.copy_radius, scale, warp, node);
    if (warp == kModelWarp) count_leaves(picture, rates, models, scale, size, nodes, node_count);
#pragma unroll 1
    for (uint32_t first = 0; first < splits && size < picture.dictionary_limit;
         first += kLearnWarps) {
        if (first) {
            __syncthreads();
            find_split(nodes, node_count, picture.copy_radius, scale, first + warp, node);
        }
        const bool here = warp < kLearnWarps && first + warp < splits;
        if (here) {
            const uint8_t* block =
                memory.coded + node.k * scale_height(node.scale) * kFragmentSize +
                node.l * scale_width(node.scale);
            warp_rescale(block, node.scale, scale, memory.wide[warp], memory.element[warp]);
            const int c = first_class(picture, memory.element[warp], scale_area(scale), node.scale);
            if (lane == 0) memory.element_class[warp] = static_cast<uint8_t>(c);
        }
        size = insert_batch(picture, scale, size, memory, here);
    }
    if (warp == kModelWarp) price_classes(picture, rates, models, size, class_cost);
    return size;
}

// The dictionary at the start of a picture: every grey level. All threads of the block.
__device__ inline void start_scale(const Picture& picture, int scale, const Rates& rates,
                                   LearnMemory& memory, int32_t* class_cost) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    Scale& models = memory.models[scale];
    for (int c = threadIdx.x; c < kClasses; c += kThreads) {
        models.class_frequency[c] = 1;
        models.class_size[c] = models.class_total[c] = 0;
    }
    __syncthreads();
    uint8_t* element = memory.element[warp];
    for (int level = warp; level < kGreyLevels; level += kWarps) {
        for (int i = lane; i < area; i += 32) element[i] = static_cast<uint8_t>(level);
        __syncwarp();
        const int c = first_class(picture, element, area, kPixelScale);
        warp_insert(picture, scale, level, element, c, warp_hash(element, area));
        if (lane == 0) {
            atomicAdd(&models.class_size[c], 1u);
            atomicAdd(&models.class_total[c], 1u);
        }
        __syncwarp();
    }
    __syncthreads();
    if (warp == 0) price_classes(picture, rates, models, kGreyLevels, class_cost);
}

}  // namespace mmp
