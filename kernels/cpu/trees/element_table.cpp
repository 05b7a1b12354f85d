#include "cpu/trees/element_table.h"

#include <algorithm>
#include <bit>

namespace mmp {

namespace {

// Number of buckets of a new table: small enough to save memory, large enough to double at most
// twice before its dictionary is full.
size_t first_buckets(size_t capacity, size_t lanes) {
    return std::bit_ceil(std::max<size_t>(2 * capacity / lanes / 4, 16));
}

}  // namespace

ElementTable::ElementTable(size_t capacity, Arena& arena)
    : arena_(arena),
      mask_(first_buckets(capacity, kLanes) - 1),
      buckets_(arena.zeros<Bucket>(mask_ + 1)),
      hashes_(arena.zeros<uint32_t>(capacity)) {}

void ElementTable::grow() {
    mask_ = 2 * mask_ + 1;
    buckets_ = arena_.zeros<Bucket>(mask_ + 1);
    for (uint32_t index = 0; index + 1 < size_; ++index) put(index, hashes_[index]);
}

void ElementTable::fill(size_t gap, int lane) {
    bool full = true;
    for (size_t bucket = next(gap); full; bucket = next(bucket)) {
        full = !lanes_with(bucket, kFree);
        for (int other = 0; other < kLanes; ++other) {
            if (buckets_[bucket].tags[other] == kFree) continue;
            // The element can move to the gap only if the gap lies between its home bucket and its
            // present one.
            const size_t start = home(hashes_[buckets_[bucket].indices[other]]);
            if (((bucket - start) & mask_) < ((bucket - gap) & mask_)) continue;
            buckets_[gap].tags[lane] = buckets_[bucket].tags[other];
            buckets_[gap].indices[lane] = buckets_[bucket].indices[other];
            buckets_[bucket].tags[other] = kFree;
            gap = bucket, lane = other;
            break;
        }
    }
}

}  // namespace mmp
