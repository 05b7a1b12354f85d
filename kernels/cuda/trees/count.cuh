// Index models of one scale: adaptation to the leaves of a fragment, and costs of classes.
#pragma once

#include "cuda/trees/state.cuh"
#include "cuda/device/warp.cuh"

namespace mmp {

// Amount by which an element's use count lowers its cost, in 1/16 squared error.
__device__ inline int32_t count_cost(const Picture& picture, const Rates& rates,
                                     uint32_t count) {
    if (picture.log2_rates) return 0;
    return static_cast<int32_t>(lagrangian(rates(count), picture.lambda_fixed));
}

// Halves the counts of the elements of a class, rounding up. One warp calls it. It is needed once
// in tens of thousands of symbols, so it is not inlined and does not occupy the instruction cache.
static __device__ __noinline__ void halve_class(const Picture& picture, const Rates& rates,
                                   const Dictionary& dictionary, Scale& models, int c,
                                   uint32_t size) {
    uint32_t less = 0;
#pragma unroll 1
    for (uint32_t i = threadIdx.x % 32; i < size; i += 32) {
        if (dictionary.element_class[i] != c) continue;
        const uint32_t old = dictionary.count[i], half = (old + 1) / 2;
        dictionary.count[i] = half;
        dictionary.cost[i] += count_cost(picture, rates, old) - count_cost(picture, rates, half);
        less += old - half;
    }
    less = warp_sum(less);
    if (threadIdx.x % 32 == 0) models.class_total[c] -= less;
    __syncwarp();
}

// Adds 1 to the frequency of the class of a coded index. One warp calls it.
__device__ inline void count_class(Scale& models, int c) {
    const int lane = threadIdx.x % 32;
    uint32_t shown = 0;
    for (int i = lane; i < kClasses; i += 32)
        if (models.class_size[i]) shown += models.class_frequency[i];
    const uint32_t total = warp_sum(shown);
    if (lane == 0) models.class_frequency[c] += 1;
    __syncwarp();
    if (total + 1 <= kMaxTotal) return;
    for (int i = lane; i < kClasses; i += 32)
        models.class_frequency[i] = (models.class_frequency[i] + 1) / 2;
    __syncwarp();
}

// Counts the leaves of a scale in coding order: an element moves to its used class, and its count
// increases. The dictionary has `size` elements. One warp calls it.
__device__ inline void count_leaves(const Picture& picture, const Rates& rates, Scale& models,
                                    int scale, uint32_t size, const Node* nodes,
                                    uint32_t node_count) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const int lane = threadIdx.x % 32;
    const uint32_t increment = picture.index_classes ? 2 : 1;
#pragma unroll 1
    for (uint32_t first = 0; first < node_count; first += 32) {
        const Node node = nodes[min(first + lane, kMaxNodes - 1)];
        const bool mine = first + lane < node_count && node.scale == scale && node.flag == kLeaf;
        uint32_t leaves = __ballot_sync(kAllLanes, mine);
        if (!leaves) continue;
        // Each lane holds class, count and cost of its leaf's element; several leaves may use the
        // same element.
        int c = 0;
        uint32_t count = 0, old_count = 0;
        int32_t cost = 0;
        const auto load = [&] {
            if (!mine) return;
            c = dictionary.element_class[node.index];
            count = old_count = dictionary.count[node.index];
            cost = dictionary.cost[node.index];
        };
        const auto store = [&] {
            if (!mine || count == old_count) return;
            dictionary.element_class[node.index] = static_cast<uint8_t>(c);
            dictionary.count[node.index] = count;
            dictionary.cost[node.index] =
                cost + count_cost(picture, rates, old_count) - count_cost(picture, rates, count);
        };
        load();
#pragma unroll 1
        for (; leaves; leaves &= leaves - 1) {
            const int leaf = __ffs(leaves) - 1;
            const int element = __shfl_sync(kAllLanes, int{node.index}, leaf);
            const int from = __shfl_sync(kAllLanes, c, leaf);
            const uint32_t uses = __shfl_sync(kAllLanes, count, leaf);
            const int to = picture.index_classes ? used_class(from) : from;
            if (picture.index_classes) count_class(models, from);
            if (lane == 0) {
                if (to != from) {
                    models.class_size[from] -= 1;
                    models.class_size[to] += 1;
                    models.class_total[from] -= uses;
                    models.class_total[to] += uses;
                }
                models.class_total[to] += increment;
            }
            __syncwarp();
            if (mine && node.index == element) {
                c = to;
                count = uses + increment;
            }
            if (models.class_total[to] > kMaxTotal) {
                store();
                __syncwarp();
                halve_class(picture, rates, dictionary, models, to, size);
                load();
            }
        }
        store();
        __syncwarp();
    }
}

// Computes the cost of each class of a dictionary of `size` elements. One warp calls it.
__device__ inline void price_classes(const Picture& picture, const Rates& rates,
                                     const Scale& models, uint32_t size, int32_t* class_cost) {
    const int lane = threadIdx.x % 32;
    if (picture.log2_rates) {
        const int64_t cost = lagrangian(rates(size), picture.lambda_fixed);
        for (int c = lane; c < kClassSlots; c += 32) class_cost[c] = static_cast<int32_t>(cost);
        return;
    }
    uint32_t frequency[2], class_total[2];
    for (int half = 0; half < 2; ++half) {
        const int c = lane + 32 * half;
        const bool occupied = c < kClasses && models.class_size[c];
        frequency[half] = occupied ? models.class_frequency[c] : 0;
        class_total[half] = occupied ? models.class_total[c] : 0;
    }
    const uint32_t total = warp_sum(frequency[0] + frequency[1]);
    const int64_t total_rate = rates(total);
    for (int half = 0; half < 2; ++half) {
        if (!frequency[half]) continue;
        const int64_t rate = total_rate - rates(frequency[half]) + rates(class_total[half]);
        class_cost[lane + 32 * half] = static_cast<int32_t>(lagrangian(rate, picture.lambda_fixed));
    }
}

}  // namespace mmp
