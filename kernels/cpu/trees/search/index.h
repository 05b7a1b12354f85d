// Elements of one scale in the layout of the search kernels: groups of 16 elements, one per SIMD
// lane, in buckets by mean, so that a segment is compared only with elements near its own mean.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <vector>

#include "shared/entropy/rate.h"
#include "shared/trees/scales.h"

namespace mmp {

constexpr int kLanes = 16;
constexpr int kClassSlots = 64;
constexpr uint32_t kNoElement = UINT32_MAX;

// Cost of an empty lane. Lambda is at most 2^20 and a rate at most 36 bits, so every real cost is
// lower, and adding a class cost does not overflow.
constexpr int32_t kEmptyLaneCost = 1 << 30;

// Sample layout of a kernel: per lane four unsigned bytes, or two centred 16-bit integers.
enum class SampleLayout { kBytes, kPairs };

template <class T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};
    CacheLineAllocator() = default;
    template <class U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}
    T* allocate(size_t n) { return static_cast<T*>(operator new(n * sizeof(T), alignment)); }
    void deallocate(T* p, size_t) { operator delete(p, alignment); }
    bool operator==(const CacheLineAllocator&) const { return true; }
};

template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

// A segment in the layout of a kernel, with the best cost so far. `bound` excludes `offset`, the
// part of the cost that all elements share.
struct Query {
    alignas(64) uint8_t samples[2 * kFragmentArea];
    int sum = 0;         // sum of the samples (0 to 255 each)
    int32_t offset = 0;  // in 1/16 squared error
    int32_t bound = 0;   // best cost so far; at equal costs, the lower index wins
    uint32_t index = kNoElement;

    // Restricts the search to costs, offset included, of at most `most`.
    void start(int64_t most) {
        bound = static_cast<int32_t>(std::min<int64_t>(most - offset, kEmptyLaneCost - 1));
        index = kNoElement;
    }
    int64_t cost() const { return int64_t{bound} + offset; }
};

class SearchIndex {
public:
    static constexpr int kBuckets = 64;

    SearchIndex(int scale, SampleLayout layout);

    int chunks() const { return chunks_; }
    int scale_area_log2() const { return area_log2(scale_); }
    int bucket_of(int sum) const { return sum >> bucket_shift_; }
    int first_sum(int bucket) const { return bucket << bucket_shift_; }
    int last_sum(int bucket) const { return ((bucket + 1) << bucket_shift_) - 1; }
    const std::vector<uint32_t>& groups(int bucket) const { return groups_[bucket]; }

    const uint8_t* samples(uint32_t group) const { return &samples_[size_t{group} * chunks_ * 64]; }
    const int32_t* costs(uint32_t group) const { return &costs_[size_t{group} * kLanes]; }
    const uint8_t* classes(uint32_t group) const { return &classes_[size_t{group} * kLanes]; }
    const uint32_t* elements(uint32_t group) const { return &elements_[size_t{group} * kLanes]; }

    // Stores an element: the next one, or a replacement. `cost` is the part of its cost that does
    // not depend on its class.
    void put(uint32_t element, const uint8_t* samples, uint8_t element_class, int32_t cost);
    void update(uint32_t element, uint8_t element_class, int32_t cost);

    // Sets the query's samples, sum and offset from a segment whose rows are `stride` apart.
    void prepare(const uint8_t* segment, int stride, Query& query) const;

    // Dot products are shifted left by this amount before they are subtracted from costs().
    static constexpr int kDotShift = kCostFractionBits + 1;

private:
    struct Slot {
        uint32_t lane;  // lane number over all groups
        int bucket;
    };

    uint32_t free_lane(int bucket);

    int scale_, area_, chunks_, bucket_shift_;
    SampleLayout layout_;
    AlignedVector<uint8_t> samples_;
    AlignedVector<int32_t> costs_;
    AlignedVector<uint8_t> classes_;
    AlignedVector<uint32_t> elements_;
    std::array<std::vector<uint32_t>, kBuckets> groups_;
    std::array<std::vector<uint32_t>, kBuckets> free_;  // free lanes by bucket
    std::vector<Slot> slot_;  // by element
    std::vector<int32_t> norm_;   // squared norm by element, in 1/16 squared error
};

// Costs that the search adds to elements by their class.
struct ClassCosts {
    bool uniform = true;  // whether all classes cost class_cost[0]
    int32_t smallest = 0;  // lower bound of the cost of any index, the element's own cost included
    alignas(64) std::array<int32_t, kClassSlots> class_cost{};
};

struct SearchKernel {
    const char* name;
    SampleLayout layout;
    bool (*supported)();
    // Lowers query.bound to the least cost and sets query.index to the lowest index with this cost.
    void (*search)(const SearchIndex& index, const ClassCosts& costs, Query& query);
};

// The kernels compiled into this build, fastest first.
const std::vector<SearchKernel>& search_kernels();

}  // namespace mmp
