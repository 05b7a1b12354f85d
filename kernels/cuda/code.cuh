// From the chosen tree to symbols: the models give each its interval and count it.
//
// Models of different scales do not meet, so one warp codes all nodes of a scale, in coding order.
// Other blocks may insert elements meanwhile: they add to the totals of blocks of elements, and leave
// those of classes until coding has ended.
#pragma once

#include "state.cuh"
#include "warp.cuh"

namespace mmp {

__device__ inline int32_t count_cost(const Picture& picture, uint32_t count) {
    if (picture.log2_rates) return 0;
    return static_cast<int32_t>(lagrangian(__ldg(picture.rates + count), picture.lambda_fixed));
}

// Halves the counts of a class, rounding up, and keeps all sums.
__device__ inline void halve_class(const Picture& picture, const Dictionary& dictionary,
                                   Scale& scale, int c) {
    // One lane: this happens once in tens of thousands of symbols.
    if (threadIdx.x % 32 == 0)
        for (uint32_t i = 0; i < scale.size; ++i) {
            if (dictionary.element_class[i] != c) continue;
            const uint32_t old = dictionary.count[i], half = (old + 1) / 2;
            dictionary.count[i] = half;
            dictionary.cost[i] += count_cost(picture, old) - count_cost(picture, half);
            scale.class_total[c] -= old - half;
            atomicSub(&dictionary.block_total[c * picture.count_blocks + i / kCountBlock],
                      old - half);
        }
    __syncwarp();
}

using FlagFrequencies = uint32_t[kFlagContexts][kScales][kFlags];

__device__ inline void code_flag(FlagFrequencies& frequencies, const Node& node,
                                 uint64_t* symbols) {
    if (node.scale == kPixelScale) return;
    if (threadIdx.x % 32 == 0) {
        uint32_t* frequency = frequencies[node.context][node.scale];
        const uint32_t total = frequency[0] + frequency[1] + frequency[2];
        uint32_t cumulative = 0;
        for (int flag = 0; flag < node.flag; ++flag) cumulative += frequency[flag];
        symbols[0] = pack_symbol(cumulative, frequency[node.flag], total, kFlagSyntax);
        frequency[node.flag] += 1;
        if (total + 1 > kMaxTotal)
            for (int flag = 0; flag < kFlags; ++flag) frequency[flag] = (frequency[flag] + 1) / 2;
    }
    __syncwarp();
}

// Codes a leaf's index, class then element, and counts its use: the element moves to its used
// class and its count grows. Loads go in two rounds, for each costs the way to the L2 cache.
__device__ inline void code_index(const Picture& picture, const Dictionary& dictionary, Scale& scale,
                                  uint32_t element, uint64_t* symbols) {
    const int lane = threadIdx.x % 32, other = lane + 32;
    const bool has_other = other < kClasses;
    const uint32_t block = element / kCountBlock;
    const int c = dictionary.element_class[element];
    const uint32_t count = dictionary.count[element];
    const int32_t cost = dictionary.cost[element];
    const uint32_t frequency[2] = {scale.class_frequency[lane],
                                   has_other ? scale.class_frequency[other] : 0};
    const uint32_t size[2] = {scale.class_size[lane],
                              has_other ? scale.class_size[other] : 0};
    const uint32_t in_block = block * kCountBlock + 4 * lane;
    const uchar4 classes = *reinterpret_cast<const uchar4*>(dictionary.element_class + in_block);
    const uint4 counts = *reinterpret_cast<const uint4*>(dictionary.count + in_block);

    const bool moves = picture.index_classes && c < kScales;
    const int target = moves ? c + kScales : c;
    const uint32_t increment = picture.index_classes ? 2 : 1;
    uint32_t* old_block = dictionary.block_total + c * picture.count_blocks;
    uint32_t* new_block = dictionary.block_total + target * picture.count_blocks;
    const uint32_t old_total = scale.class_total[c];
    const uint32_t new_total = scale.class_total[target];
    const int32_t lighter = count_cost(picture, count) - count_cost(picture, count + increment);
    uint32_t sum = 0;
    for (uint32_t b = lane; b < block; b += 32) sum += old_block[b];
    sum += in_block + 0 < element && classes.x == c ? counts.x : 0;
    sum += in_block + 1 < element && classes.y == c ? counts.y : 0;
    sum += in_block + 2 < element && classes.z == c ? counts.z : 0;
    sum += in_block + 3 < element && classes.w == c ? counts.w : 0;
    const uint32_t cumulative = warp_sum(sum);

    uint32_t class_total = 0, class_cumulative = 0;
    if (picture.index_classes) {
        const uint32_t shown[2] = {size[0] ? frequency[0] : 0, size[1] ? frequency[1] : 0};
        class_total = warp_sum(shown[0] + shown[1]);
        class_cumulative = warp_sum((lane < c ? shown[0] : 0) + (other < c ? shown[1] : 0));
    }
    const uint32_t class_frequency =
        __shfl_sync(kAllLanes, c < 32 ? frequency[0] : frequency[1], c % 32);
    const uint32_t old_size = __shfl_sync(kAllLanes, c < 32 ? size[0] : size[1], c % 32);
    const uint32_t new_size = __shfl_sync(kAllLanes, target < 32 ? size[0] : size[1], target % 32);
    if (lane == 0) {
        if (picture.index_classes) {
            *symbols++ = pack_symbol(class_cumulative, class_frequency, class_total, kClassSyntax);
            scale.class_frequency[c] = class_frequency + 1;
        }
        *symbols = pack_symbol(cumulative, count, old_total, kElementSyntax);
        if (moves) {
            dictionary.element_class[element] = static_cast<uint8_t>(target);
            scale.class_size[c] = old_size - 1;
            scale.class_size[target] = new_size + 1;
            scale.class_total[c] = old_total - count;
            atomicSub(&old_block[block], count);
        }
        const uint32_t arriving = increment + (moves ? count : 0);
        scale.class_total[target] = new_total + arriving;
        atomicAdd(&new_block[block], arriving);
        dictionary.count[element] = count + increment;
        dictionary.cost[element] = cost + lighter;
    }
    __syncwarp();
    if (class_total + 1 > kMaxTotal) {
        for (int i = lane; i < kClasses; i += 32)
            scale.class_frequency[i] = (scale.class_frequency[i] + 1) / 2;
        __syncwarp();
    }
    if (new_total + increment + (moves ? count : 0) > kMaxTotal)
        halve_class(picture, dictionary, scale, target);
}

// Codes the nodes of a fragment into `out`. At least 25 warps take part.
__device__ inline void code_nodes(const Picture& picture, State& state, const Node* nodes,
                                  uint32_t node_count, FlagFrequencies& frequencies,
                                  uint64_t* out) {
    const int scale = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (scale < kScales && scale_reachable(scale, picture.partition)) {
        for (uint32_t first = 0; first < node_count; first += 32) {
            const uint32_t mine = first + lane;
            const bool here = mine < node_count && nodes[mine].scale == scale;
            for (uint32_t lanes = __ballot_sync(kAllLanes, here); lanes; lanes &= lanes - 1) {
                const Node node = nodes[first + __ffs(lanes) - 1];
                uint64_t* symbols = out + node.symbol;
                code_flag(frequencies, node, symbols);
                if (node.flag == kLeaf)
                    code_index(picture, picture.dictionaries[scale], state.scales[scale],
                               node.index, symbols + (scale != kPixelScale));
            }
        }
    }
    __syncthreads();
}

}  // namespace mmp
