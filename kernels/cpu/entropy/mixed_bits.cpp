#include "cpu/entropy/mixed_bits.h"

#include <math.h>

#include <numeric>

namespace mmp {

namespace {

constexpr int32_t kStartWeight = 10650;
constexpr int kLine = 16;  // models of a cache line

}  // namespace

const MixTables kMix;

MixTables::MixTables() {
    // Every exp() gives this table, however it rounds: no value is within 3 / 10000 of the middle
    // between two integers.
    for (int x = -kMostMixed; x <= kMostMixed; ++x)
        squash[x + kMostMixed] =
            uint16_t(std::clamp(lround(65536 / (1 + exp(-x / 256.0))), 1l, 65535l));
    int x = -kMostStretch;
    for (int i = 0; i < 4096; ++i) {
        while (x < kMostStretch && squash[x + kMostMixed] < 16 * i + 8) ++x;
        stretch[i ^ 2048] = int16_t(x);
    }
    for (int n = 0; n < 256; ++n) rate[n] = uint16_t(131072 / (2 * n + 3));
}

MixedBits::MixedBits(int decisions, const std::array<int, kMixedModels>& contexts)
    : stride_((decisions + kLine - 1) / kLine * kLine),
      models_(size_t(stride_) * std::accumulate(contexts.begin(), contexts.end(), 0)),
      weights_{ZeroedLines<int32_t>(weights_count()), ZeroedLines<int32_t>(weights_count())} {
    Model* next = models_.get();
    for (int i = 0; i < kMixedModels; ++i) {
        start_[i] = row_[i] = next;
        next += size_t(stride_) * contexts[i];
    }
    for (int set = 0; set < 2; ++set) {
        weights_of_[set] = weights_[set].get();
        std::fill_n(weights_of_[set], weights_count(), kStartWeight);
    }
}

}  // namespace mmp
