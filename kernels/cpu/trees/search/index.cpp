#include "cpu/trees/search/index.h"

#include <cstring>

namespace mmp {

SearchIndex::SearchIndex(int scale, SampleLayout layout)
    : scale_(scale),
      area_(scale_area(scale)),
      chunks_(std::max(1, area_ / (layout == SampleLayout::kBytes ? 4 : 2))),
      bucket_shift_(area_log2(scale) + 2),
      layout_(layout) {}

uint32_t SearchIndex::free_lane(int bucket) {
    std::vector<uint32_t>& lanes = free_[bucket];
    if (lanes.empty()) {
        const uint32_t group = static_cast<uint32_t>(costs_.size() / kLanes);
        groups_[bucket].push_back(group);
        samples_.resize(samples_.size() + size_t(chunks_) * 64);
        costs_.resize(costs_.size() + kLanes, kEmptyLaneCost);
        classes_.resize(classes_.size() + kLanes);
        elements_.resize(elements_.size() + kLanes, kNoElement);
        for (uint32_t lane = kLanes; lane-- > 0;) lanes.push_back(group * kLanes + lane);
    }
    const uint32_t lane = lanes.back();
    lanes.pop_back();
    return lane;
}

void SearchIndex::put(uint32_t element, const uint8_t* samples, uint8_t element_class,
                      int32_t cost) {
    int sum = 0, norm = 0;
    for (int i = 0; i < area_; ++i) {
        const int centred = samples[i] - kMidLevel;
        sum += samples[i];
        norm += centred * centred;
    }
    if (element < slot_.size()) {
        const Slot old = slot_[element];
        costs_[old.lane] = kEmptyLaneCost;
        elements_[old.lane] = kNoElement;
        free_[old.bucket].push_back(old.lane);
    } else {
        slot_.emplace_back();
        norm_.emplace_back();
    }
    const int bucket = bucket_of(sum);
    const uint32_t place = free_lane(bucket);
    const uint32_t group = place / kLanes, lane = place % kLanes;
    uint8_t* chunk = &samples_[size_t{group} * chunks_ * 64];
    for (int i = 0; i < area_; ++i) {
        if (layout_ == SampleLayout::kBytes) {
            chunk[(i / 4) * 64 + lane * 4 + i % 4] = samples[i];
        } else {
            const int16_t centred = static_cast<int16_t>(samples[i] - kMidLevel);
            std::memcpy(chunk + (i / 2) * 64 + lane * 4 + (i % 2) * 2, &centred, 2);
        }
    }
    slot_[element] = {place, bucket};
    norm_[element] = norm << kCostFractionBits;
    elements_[place] = element;
    update(element, element_class, cost);
}

void SearchIndex::update(uint32_t element, uint8_t element_class, int32_t cost) {
    classes_[slot_[element].lane] = element_class;
    costs_[slot_[element].lane] = norm_[element] + cost;
}

void SearchIndex::prepare(const uint8_t* segment, int stride, Query& query) const {
    const int height = scale_height(scale_), width = scale_width(scale_);
    int sum = 0, norm = 0;
    std::memset(query.samples, 0, 4);
    for (int row = 0, i = 0; row < height; ++row) {
        for (int column = 0; column < width; ++column, ++i) {
            const int sample = segment[row * stride + column];
            const int centred = sample - kMidLevel;
            sum += sample;
            norm += centred * centred;
            if (layout_ == SampleLayout::kBytes) {
                query.samples[i] = static_cast<uint8_t>(centred);
            } else {
                const int16_t wide = static_cast<int16_t>(centred);
                std::memcpy(query.samples + 2 * i, &wide, 2);
            }
        }
    }
    // For unsigned elements d, the dot product with centred samples is q.d - 128 * sum(q).
    const int unsigned_part =
        layout_ == SampleLayout::kBytes ? 2 * kMidLevel * (sum - kMidLevel * area_) : 0;
    query.sum = sum;
    query.offset = (norm + unsigned_part) * (1 << kCostFractionBits);
}

}  // namespace mmp
