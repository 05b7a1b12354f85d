// What the device holds of a picture while it is encoded.
//
// mmpcodec/backends/device_state.py lays the same structures out; a test compares the sizes.
#pragma once

#include "../shared/rate.h"
#include "../shared/rescale.h"
#include "../shared/scales.h"

namespace mmp {

constexpr int kClasses = 2 * kScales + 1;
constexpr int kZeroClass = kClasses - 1;
constexpr int kClassSlots = 64;
constexpr int kCountBlock = 128;  // elements whose counts are summed together
constexpr int kMaxNodes = 511;
constexpr uint64_t kNoKey = ~uint64_t{0};
constexpr int64_t kNoCost = int64_t{1} << 60;

// Where the dictionary of one scale lies. Samples lie in chunks of 16 bytes, see element_chunk.
struct Dictionary {
    uint8_t* samples;
    int32_t* cost;          // of each element: norm less its count's part, in 1/16 squared error
    uint8_t* element_class;
    uint32_t* count;
    uint32_t* block_total;  // counts by class, then by block of elements
    uint64_t* table;        // open addressing: hash << 32 | element + 1, 0 where free
};

// What stays the same while a picture is encoded. Each block keeps a copy at hand.
struct Picture {
    Dictionary dictionaries[kScales];
    const uint8_t* source;
    uint8_t* samples;        // decoded, padded
    int8_t* leaf_scales;     // padded
    const int32_t* rates;    // log2 in 2^-12 bit
    uint64_t* symbols;       // two slots in host memory, see pack_symbol
    uint32_t* symbol_count;  // of each slot
    int64_t lambda_fixed;
    int32_t height, width, padded_height, padded_width;
    int32_t partition, index_classes, flag_contexts, copy_radius;
    uint32_t dictionary_limit, table_mask, count_blocks, log2_rates;
};

// What one scale has learnt.
struct Scale {
    uint32_t size;
    uint32_t class_frequency[kClasses];
    uint32_t class_total[kClasses];
    uint32_t class_size[kClasses];
    int32_t class_cost[kClassSlots];
};

struct Node {
    uint32_t index;  // of a leaf's element
    uint16_t symbol;  // place of the node's first symbol within the fragment
    uint8_t scale, k, l, flag, context;
    uint8_t unused;
};

enum Phase { kPlan, kSearch, kSearchWait, kTree, kCode, kTreeWait, kLearn, kLearnWait };
constexpr int kPhases = 8;

struct State {
    Picture picture;
    Scale scales[kScales];
    uint32_t flag_frequency[kFlagContexts][kScales][kFlags];
    uint32_t searched;  // blocks that have searched, over all fragments
    uint32_t learnt;    // blocks that have learnt, over all fragments
    uint32_t chosen;    // fragments whose tree is there to learn from
    uint32_t counted;   // fragments whose symbols the models have counted
    uint32_t node_count;
    uint32_t unused;
    Node nodes[kMaxNodes];         // of the current fragment, in coding order
    uint8_t coded[kFragmentArea];  // residual that they build
    uint64_t key[kSegments];       // cost map: smallest cost and its element
    uint64_t phase_cycles[kPhases];  // of block MMP_PROFILE of the picture, if that is defined
};

enum Syntax { kFlagSyntax, kClassSyntax, kElementSyntax };

// A symbol for the range coder: cumulative, frequency and total in 18 bits each, then its syntax
// element.
MMP_HD uint64_t pack_symbol(uint32_t cumulative, uint32_t frequency, uint32_t total, int syntax) {
    return uint64_t{cumulative} | uint64_t{frequency} << 18 | uint64_t{total} << 36 |
           static_cast<uint64_t>(syntax) << 54;
}

// Of 16 samples and more: a warp compares this many elements at a time, so their chunks lie side
// by side.
MMP_HD constexpr int tile_elements(int scale) {
    return scale_area(scale) / 8;
}

// Byte offset of 16-byte chunk `chunk` of an element; elements below 16 samples share chunks.
MMP_HD constexpr uint64_t element_chunk(int scale, uint32_t element, int chunk) {
    const int area = scale_area(scale);
    if (area < 16) return uint64_t{element} * area;
    const int tile = tile_elements(scale), chunks = area / 16;
    return (uint64_t{element / tile} * chunks * tile + uint64_t(chunk) * tile + element % tile) * 16;
}

MMP_HD constexpr uint64_t element_sample(int scale, uint32_t element, int sample) {
    return element_chunk(scale, element, sample / 16) + sample % 16;
}

struct Segment {
    int scale, k, l;
};

// The segment at an address of the cost map.
MMP_HD Segment segment_at(int address) {
    const int row = address / kMapSize + 1, column = address % kMapSize + 1;
    int n = 0, m = 0;
    while (row >> (n + 1)) ++n;
    while (column >> (m + 1)) ++m;
    return {scale_number(n, m), row - (1 << n), column - (1 << m)};
}

MMP_HD int child_address(int scale, int k, int l, int flag, int half) {
    const int child = child_scale(scale, flag);
    return flag == kColumns ? segment_address(child, k, 2 * l + half)
                            : segment_address(child, 2 * k + half, l);
}

}  // namespace mmp
