// Results of the search over blocks, and the memory of a worker that holds them.
#pragma once

#include "cuda/blocks/state.cuh"

namespace mmp {

// The best plan of a block: a leaf, or a split with a plan for each part. Places are those of an
// arena; 0: none.
struct Outcome {
    int64_t cost;
    uint32_t parts[kMostParts];  // 0 for leaves and for parts outside the picture
    uint32_t samples;            // decoded samples of a leaf, row by row
    uint32_t levels;             // of a leaf with a residual, in scan order
    uint32_t number;             // unique among the leaves of the fragment
    uint16_t node;
    uint16_t unused[3];
};

// Result of a search over a block, with the leaf numbers around it that the result depends on.
// `outcome` is 0 if no plan costs less than `bound`.
struct Finding {
    int64_t bound;
    uint32_t around, outcome;
};
// The latest findings of each block of a fragment: a ring.
constexpr int kMostFindings = 6;

// Result of the latest search over a block of the fragment, whatever its neighbours were then: the
// least cost, and the cost with each flag. If no plan was below the bound, the bound is stored. 0:
// not searched.
struct Latest {
    int64_t least, with_flag[kBlockFlags];
};

// Estimated costs of the blocks of a fragment.
struct RoughCosts {
    int64_t of_modes[kBlocks][kMostRough];
    int64_t whole[kBlocks], least[kBlocks];
};

// What the search over a fragment finds, in global memory.
struct FoundMemory {
    static constexpr int kUnit16 = 16;  // places are in 16 bytes
    static constexpr uint32_t kArenaBytes = 16u << 20;
    // So much of the arena is left for one plan, if the search has filled the rest.
    static constexpr uint32_t kReserveBytes = 1u << 20;

    RoughCosts rough;
    Latest latest[kBlocks];
    Finding findings[kBlocks][kMostFindings];
    uint32_t counts[kBlocks];  // number of findings ever added
    alignas(16) uint8_t arena[kArenaBytes];
};

// Pieces of an arena. All threads of a worker call take() alike.
class Arena {
public:
    __device__ explicit Arena(uint8_t* memory) : memory_(memory) {}

    __device__ void clear() { end_ = 1; }
    // Whether only the reserve is left.
    __device__ bool is_full() const {
        return end_ > (FoundMemory::kArenaBytes - FoundMemory::kReserveBytes) / FoundMemory::kUnit16;
    }
    // Returns the place of a new piece, or 0.
    __device__ uint32_t take(uint32_t bytes) {
        const uint32_t units = (bytes + FoundMemory::kUnit16 - 1) / FoundMemory::kUnit16;
        if (end_ + units > FoundMemory::kArenaBytes / FoundMemory::kUnit16) return 0;
        end_ += units;
        return end_ - units;
    }
    template <class T>
    __device__ T* at(uint32_t place) const {
        return reinterpret_cast<T*>(memory_ + int64_t{place} * FoundMemory::kUnit16);
    }

private:
    uint8_t* const memory_;
    uint32_t end_ = 1;
};

}  // namespace mmp
