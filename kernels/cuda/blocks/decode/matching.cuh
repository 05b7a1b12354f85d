// Template matching: predicts a block by the average of the places whose surroundings resemble
// those of the block. All threads of a CUDA block call each function. Source: section "Templates" of
// docs/format/format.md.
#pragma once

#include "cuda/blocks/decode/memory.cuh"

namespace mmp {

class MatchingPrediction {
public:
    __device__ MatchingPrediction(BuildMemory& memory, const BlockPlace& block,
                                  const DecodedBefore& decoded)
        : memory_(memory.matching),
          plane_(memory.plane),
          block_(block),
          row_(first_place(block.row, kTemplateRows)),
          column_(first_place(block.column, kTemplateColumns)) {
        count_places(decoded);
        load();
        search();
        if (threadIdx.x < 32) choose(plane_.tools.templates);
        __syncthreads();
    }

    __device__ int operator()(int i, int j) const {
        int sum = memory_.taken / 2;
        for (int n = 0; n < memory_.taken; ++n) {
            const int place = memory_.places[n];
            sum += sample_at(plane_, row_ + place / kPlaceColumns + i,
                             column_ + place % kPlaceColumns + j);
        }
        return sum / memory_.taken;
    }

private:
    static constexpr int kPlaceRows = kTemplateRows + 1, kPlaceColumns = 2 * kTemplateColumns;
    static constexpr uint32_t kNone = ~uint32_t{0};

    // Finds how many places each row has: the places in it are decoded as a whole.
    __device__ void count_places(const DecodedBefore& decoded) {
        const int height = block_.height(), width = block_.width();
        for (int n = threadIdx.x; n < kPlaceRows; n += kBuildThreads) {
            const int row = row_ + n;
            int count = 0;
            if (row <= block_.row) {
                int end = smaller(block_.column + kTemplateColumns + width, plane_.width);
                while (end > column_ && !decoded(row + height - 1, end - 1)) end -= kUnit;
                count = smaller(end - width + 1, block_.column + kTemplateColumns) - column_;
            }
            memory_.counts[n] = count;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            for (int n = 0, ended = 0; n < kPlaceRows; ++n) {
                ended |= memory_.counts[n] <= 0;
                if (ended) memory_.counts[n] = 0;
            }
    }

    // Index in the window of a sample, by its offset from the first place.
    __device__ static int at(int i, int j) {
        return (i + kTemplateWidth) * kWindowColumns + j + kTemplateWidth;
    }

    // Loads the eight most significant bits of the samples around the places, and lists the samples
    // of a template.
    __device__ void load() {
        const int height = block_.height(), width = block_.width();
        const int rows = block_.row - row_ + height + kTemplateWidth;
        const int columns =
            smaller(block_.column - column_ + kTemplateColumns + width, plane_.width - column_) +
            kTemplateWidth;
        for (int i = threadIdx.x; i < rows * columns; i += kBuildThreads) {
            const int y = i / columns, x = i % columns;
            memory_.window[y * kWindowColumns + x] = uint8_t(
                sample_at(plane_, row_ - kTemplateWidth + y, column_ - kTemplateWidth + x) >>
                (plane_.depth - 8));
        }
        const int down = template_step(height), across = template_step(width);
        const int above = width / across, beside = height / down;
        const int each = kTemplateWidth + above + beside;  // samples of one row and one column
        for (int n = threadIdx.x; n < kTemplateWidth * each; n += kBuildThreads) {
            const int i = n / each - kTemplateWidth, k = n % each;
            memory_.offsets[n] =
                k < kTemplateWidth           ? i * kWindowColumns + k - kTemplateWidth
                : k < kTemplateWidth + above ? i * kWindowColumns + (k - kTemplateWidth) * across
                                             : (k - kTemplateWidth - above) * down * kWindowColumns + i;
        }
        for (int i = threadIdx.x; i < kPlaceColumns; i += kBuildThreads) memory_.best[i] = kNone;
        __syncthreads();
        const int own = at(block_.row - row_, block_.column - column_);
        for (int n = threadIdx.x; n < kTemplateWidth * each; n += kBuildThreads)
            memory_.wanted[n] = memory_.window[own + memory_.offsets[n]];
        __syncthreads();
        samples_ = kTemplateWidth * each;
    }

    __device__ void search() {
        for (int place = threadIdx.x; place < kPlaceRows * kPlaceColumns; place += kBuildThreads) {
            const int i = place / kPlaceColumns, j = place % kPlaceColumns;
            if (j >= memory_.counts[i]) continue;
            const uint8_t* window = memory_.window + at(i, j);
            uint32_t error = 0;
            for (int n = 0; n < samples_; ++n) {
                const int apart = int(window[memory_.offsets[n]]) - memory_.wanted[n];
                error += uint32_t(apart < 0 ? -apart : apart);
            }
            atomicMin(&memory_.best[j], error * kPlaceRows + uint32_t(i));
        }
        __syncthreads();
    }

    // Takes the best of the columns that have a place. Among equal errors, the first in coding order
    // wins. One warp calls it.
    __device__ void choose(int most) {
        const int lane = threadIdx.x;
        uint32_t keys[kPlaceColumns / 32];
        for (int n = 0; n < kPlaceColumns / 32; ++n) {
            const int column = n * 32 + lane;
            const uint32_t best = memory_.best[column];
            keys[n] = best == kNone ? kNone : best * kPlaceColumns + uint32_t(column);
        }
        uint32_t furthest = 0;
        for (int n = 0; n < kMostTemplates; ++n) {
            const uint32_t least =
                __reduce_min_sync(kAllLanes, keys[0] < keys[1] ? keys[0] : keys[1]);
            for (uint32_t& key : keys)
                if (key == least) key = kNone;
            const uint32_t error = least / (kPlaceRows * kPlaceColumns);
            if (n == 0)
                furthest = uint32_t(
                    furthest_template(int32_t(error), block_.height(), block_.width()));
            if (n == most || least == kNone || error > furthest) {
                if (lane == 0) memory_.taken = n;
                return;
            }
            if (lane == 0)
                memory_.places[n] = int(least % (kPlaceRows * kPlaceColumns)),
                memory_.taken = n + 1;
        }
    }

    MatchingMemory& memory_;
    const CodedPlane& plane_;
    const BlockPlace block_;
    const int row_, column_;  // the first place
    int samples_ = 0;         // of a template
};

}  // namespace mmp
