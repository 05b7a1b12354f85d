// Device state of a picture while it is encoded by trees.
//
// mmpcodec/backends/cuda/trees_state.py defines the same layouts; a test compares the sizes.
#pragma once

#include "shared/trees/classes.h"
#include "shared/trees/node.h"
#include "shared/entropy/rate.h"
#include "shared/trees/rescale.h"
#include "shared/trees/scales.h"
#include "shared/tools.h"

namespace mmp {

constexpr int kThreads = 1024;  // threads of every block
constexpr int kWarps = kThreads / 32;
constexpr int kClassSlots = 64;
constexpr int kMaxNodes = 511;
constexpr uint64_t kNoKey = ~uint64_t{0};
constexpr uint32_t kNoElement = ~uint32_t{0};
constexpr int64_t kNoCost = int64_t{1} << 60;

// Arrays of the dictionary of one scale.
struct Dictionary {
    uint32_t* samples;  // four per word, see element_word
    int32_t* cost;      // per element: squared norm - count_cost, in 1/16 squared error
    uint8_t* element_class;
    uint32_t* count;
    uint64_t* table;  // open addressing: hash << 32 | element + 1; 0: free
    uint64_t* cells;  // with a redundancy radius: members of each cell, see CellMember
    uint32_t* insertion;  // with radius and replacement: insertion number of each element
};

// Constant while a picture is encoded. Each block keeps a copy in shared memory.
struct Picture {
    Dictionary dictionaries[kScales];
    const uint8_t* source;
    uint8_t* samples;     // decoded, padded
    int8_t* leaf_scales;  // padded
    const int32_t* rates;  // log2_rate of every total frequency of a model
    // In host memory, two slots of `chunk` fragments each:
    uint32_t* nodes;        // all fragments in coding order, see pack_node
    uint32_t* node_counts;  // by fragment
    uint32_t* insertions;   // before each fragment, by scale
    uint8_t* first_class;   // class of each insertion, by scale; one ring, no slots
    int64_t lambda_fixed;
    int32_t height, width, padded_height, padded_width;
    MMP_TREE_TOOLS(MMP_TOOL_MEMBER)
    uint32_t class_room;  // entries per scale in the ring first_class
    uint32_t hash_key;  // random, so that no picture can be crafted to cause collisions
    uint32_t table_mask, chunk, log2_rates;
};

// Index models of one scale, and the state of replacement.
struct Scale {
    uint32_t class_frequency[kClasses];
    uint32_t class_total[kClasses];
    uint32_t class_size[kClasses];
    uint32_t start, hand;  // permanent elements; next element that replacement tests
    uint32_t entries;      // used slots of the table, including replaced elements
};

struct Node {
    uint16_t index;  // index of a leaf's element
    uint8_t scale, k, l, flag, context, unused;
};

using FlagFrequencies = uint32_t[kFlagContexts][kScales][kFlags];

// Table of log2_rate for every total frequency; the rates of small totals are in shared memory.
struct Rates {
    static constexpr uint32_t kNear = 3968;  // entries; with LearnMemory they fit 48 KiB
    const int32_t* all;
    int32_t near[kNear];

#ifdef __CUDACC__
    __device__ int32_t operator()(uint32_t value) const {
        return value < kNear ? near[value] : __ldg(all + value);
    }
    // All threads of the block must call it.
    __device__ void start(const Picture& picture) {
        if (threadIdx.x == 0) all = picture.rates;
        for (uint32_t i = threadIdx.x; i < kNear; i += kThreads) near[i] = __ldg(picture.rates + i);
    }
#endif
};

enum Phase { kLearnWait, kSearch, kPrepare, kSearchWait, kTree, kRebuild, kLearn, kPublish };
constexpr int kPhases = 8;

struct State {
    Picture picture;
    uint64_t learnt[kScales];  // fragments that a scale has learnt << 32 | insertions
    uint64_t key[2][kSegments];  // cost maps of even and odd fragments, see Best::key
    uint32_t searched;  // searches that blocks have finished, over all fragments
    uint32_t rebuilt;   // fragments that learning blocks have rebuilt, if they synchronise
    int32_t class_cost[kScales][kClassSlots];
    // Kept between launches:
    Scale scales[kScales];
    FlagFrequencies flag_frequency;
    uint64_t phase_cycles[kPhases];  // cycles of block MMP_PROFILE, if defined
};

// Number of elements of a dictionary. Insertions into a full dictionary replace elements, so it
// does not grow.
MMP_HD uint32_t dictionary_size(const State& state, int scale) {
    const uint32_t insertions = static_cast<uint32_t>(state.learnt[scale]);
    const uint32_t limit = state.picture.dictionary_limit;
    return insertions < limit ? insertions : limit;
}

// Index of a word of an element in Dictionary::samples. Elements of at least 16 samples are stored
// in the operand layout of the tensor cores: in tiles of 16 elements (32 for elements of 16
// samples), divided into pieces of 32 samples, with the words of a lane side by side.
MMP_HD constexpr uint64_t element_word(int scale, uint32_t element, int word) {
    const int area = scale_area(scale);
    if (area < 16) return uint64_t{element} * area / 4 + word;
    if (area == 16) {
        const uint32_t row = element % 32;
        return uint64_t{element / 32} * 128 + (row % 8 * 4 + word) * 4 + row / 8;
    }
    const uint32_t row = element % 16;
    return uint64_t{element / 16} * 4 * area + word / 8 * 128 + (row % 8 * 4 + word % 4) * 4 +
           word % 8 / 4 * 2 + row / 8;
}

// Byte offset of a sample of an element in Dictionary::samples.
MMP_HD constexpr uint64_t element_sample(int scale, uint32_t element, int sample) {
    if (scale_area(scale) < 4) return uint64_t{element} * scale_area(scale) + sample;
    return element_word(scale, element, sample / 4) * 4 + sample % 4;
}

// Position of the first segment of a scale in the cost map. Segments are sorted by depth in the
// tree, then scale, then row and column.
MMP_HD constexpr int scale_start(int scale) {
    const int depth = scale_n(scale) + scale_m(scale);
    int start = 0;
    for (int other = 0; other < kScales; ++other) {
        const int its_depth = scale_n(other) + scale_m(other);
        if (its_depth < depth || (its_depth == depth && other < scale)) start += 1 << its_depth;
    }
    return start;
}

MMP_HD constexpr int segment_place(int scale, int k, int l) {
    return scale_start(scale) + (k << scale_m(scale)) + l;
}

}  // namespace mmp
