// Hash table of the elements of one dictionary, keyed by their samples. A bucket is one cache line,
// so a lookup has one cache miss.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/runtime/arena.h"
#include "cpu/runtime/simd.h"

namespace mmp {

class ElementTable {
public:
    explicit ElementTable(Arena& arena);

    MMP_INLINE void prefetch(uint32_t hash) const { __builtin_prefetch(&buckets_[home(hash)]); }

    // Calls matches(index) for each element whose hash may be equal, until it returns true. Returns
    // whether it did.
    template <class Matches>
    MMP_INLINE bool any(uint32_t hash, const Matches& matches) const {
        for (size_t bucket = home(hash);; bucket = next(bucket)) {
            for (uint32_t lanes = lanes_with(bucket, tag(hash)); lanes; lanes &= lanes - 1)
                if (matches(uint32_t{buckets_[bucket].indices[__builtin_ctz(lanes)]})) return true;
            if (lanes_with(bucket, kFree)) return false;
        }
    }

    // Branchless lookup: returns the first element of the home bucket whose hash may be equal, or
    // `otherwise`.
    MMP_INLINE uint32_t likely(uint32_t hash, uint32_t otherwise) const {
        const size_t bucket = home(hash);
        const uint32_t lanes = lanes_with(bucket, tag(hash));
        const uint32_t index = buckets_[bucket].indices[__builtin_ctz(lanes | 1u << (kLanes - 1))];
        return lanes ? index : otherwise;
    }

    // Adds an element with index below 2^16: the next index, or one that was removed.
    MMP_INLINE void add(uint32_t index, uint32_t hash) {
        if (index == hashes_.size()) hashes_.emplace_back();
        hashes_[index] = hash;
        if (2 * hashes_.size() > kLanes * (mask_ + 1)) grow();
        put(index, hash);
    }
    MMP_INLINE void remove(uint32_t index) {
        const uint16_t sought = tag(hashes_[index]);
        for (size_t bucket = home(hashes_[index]);; bucket = next(bucket))
            for (uint32_t lanes = lanes_with(bucket, sought); lanes; lanes &= lanes - 1) {
                const int lane = __builtin_ctz(lanes);
                if (buckets_[bucket].indices[lane] != index) continue;
                const bool full = !lanes_with(bucket, kFree);
                buckets_[bucket].tags[lane] = kFree;
                return full ? fill(bucket, lane) : void();
            }
    }
    // Prefetches the memory that the removal of an element reads.
    MMP_INLINE void prefetch_element(uint32_t index) const { prefetch(hashes_[index]); }

private:
    static constexpr int kLanes = 16;
    static constexpr uint16_t kFree = 0;

    // Linear probing: an element is in the bucket of its hash or, if that is full, in a following
    // one.
    struct alignas(64) Bucket {
        uint16_t tags[kLanes];  // upper half of the hash, never kFree; kFree: empty lane
        uint16_t indices[kLanes];
    };

    static uint16_t tag(uint32_t hash) {
        return static_cast<uint16_t>(hash >> 16 ? hash >> 16 : 1);
    }
    size_t home(uint32_t hash) const { return hash & mask_; }
    size_t next(size_t bucket) const { return (bucket + 1) & mask_; }
    // Returns a bit mask of the lanes of a bucket that hold the tag.
    MMP_INLINE uint32_t lanes_with(size_t bucket, uint16_t tag) const {
        Words8 first, second;
        __builtin_memcpy(&first, buckets_[bucket].tags, sizeof first);
        __builtin_memcpy(&second, buckets_[bucket].tags + 8, sizeof second);
        return lane_bits(first == tag, second == tag);
    }
    MMP_INLINE void put(uint32_t index, uint32_t hash) {
        size_t bucket = home(hash);
        uint32_t lanes;
        while (!(lanes = lanes_with(bucket, kFree))) bucket = next(bucket);
        const int lane = __builtin_ctz(lanes);
        buckets_[bucket].tags[lane] = tag(hash);
        buckets_[bucket].indices[lane] = static_cast<uint16_t>(index);
    }
    // After a removal, moves an element from a following bucket to the free lane if it belongs
    // there.
    void fill(size_t bucket, int lane);
    // Makes the table larger and inserts all elements again except the last one.
    void grow();

    Arena& arena_;
    size_t mask_;  // number of buckets, a power of 2, - 1
    Bucket* buckets_;
    std::vector<uint32_t> hashes_;  // by index
};

}  // namespace mmp
