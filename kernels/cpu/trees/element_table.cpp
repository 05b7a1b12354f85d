#include "cpu/trees/element_table.h"

namespace mmp {

namespace {

// Number of buckets of a new table, and by how much a full one grows.
constexpr size_t kFirstBuckets = 64, kGrowth = 4;

}  // namespace

ElementTable::ElementTable(Arena& arena)
    : arena_(arena), mask_(kFirstBuckets - 1), buckets_(arena.zeros<Bucket>(kFirstBuckets)) {}

void ElementTable::grow() {
    mask_ = kGrowth * (mask_ + 1) - 1;
    buckets_ = arena_.zeros<Bucket>(mask_ + 1);
    for (uint32_t index = 0; index + 1 < hashes_.size(); ++index) put(index, hashes_[index]);
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
