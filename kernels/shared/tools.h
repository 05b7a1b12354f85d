// The tools of a layer in native code: name, least value and largest value.
//
// The table of mmpcodec/tools.py holds the same rows in the order of the format; a test compares
// the two. These lists generate the structures below, the code that reads them from Python, members
// of the CUDA structures, and the inputs of the fuzzer.
#pragma once

#include "shared/integers.h"

#define MMP_TREE_TOOLS(TOOL)           \
    TOOL(partition, 0, 1)              \
    TOOL(index_classes, 0, 1)          \
    TOOL(flag_contexts, 0, 1)          \
    TOOL(copy_radius, 0, 8)            \
    TOOL(dictionary_limit, 256, 65536) \
    TOOL(displaced_blocks, 0, 4)       \
    TOOL(redundancy_radius, 0, 65535)  \
    TOOL(replacement, 0, 1)

#define MMP_BLOCK_TOOLS(TOOL)      \
    TOOL(fragment_size, 16, 64)    \
    TOOL(templates, 0, 4)          \
    TOOL(step, 1, 65535)           \
    TOOL(dictionary, 0, 1)         \
    TOOL(pdpc, 0, 1)               \
    TOOL(initial_states, 0, 1)     \
    TOOL(cross_component, 0, 2)    \
    TOOL(fixed_filters, 0, 16383)  \
    TOOL(dependent, 0, 1)          \
    TOOL(ternary, 0, 1)            \
    TOOL(fine_contexts, 0, 1)      \
    TOOL(delta_step, 0, 1)         \
    TOOL(trained_transforms, 0, 1) \
    TOOL(border_sines, 0, 1)       \
    TOOL(transform_skip, 0, 1)     \
    TOOL(quantisation_matrix, 0, 15)

#define MMP_TOOL_MEMBER(name, low, high) int32_t name;

namespace mmp {

struct Tools {
    MMP_TREE_TOOLS(MMP_TOOL_MEMBER)
};

struct BlockTools {
    MMP_BLOCK_TOOLS(MMP_TOOL_MEMBER)
    int32_t fragment_log2;  // of fragment_size
};

}  // namespace mmp
