#include "cpu/entropy/mixed_bits.h"

#include <math.h>

#include <algorithm>
#include <numeric>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int kLeastProbability = 32, kMostUses = 255;
constexpr int32_t kStartWeight = 10650, kMostWeight = (1 << 17) - 1;

}  // namespace

const MixTables kMix;

MixTables::MixTables() {
    for (int x = -kMostMixed; x <= kMostMixed; ++x)
        squash[x + kMostMixed] =
            uint16_t(std::clamp(lround(65536 / (1 + exp(-x / 256.0))), 1l, 65535l));
    int x = -kMostStretch;
    for (int i = 0; i < 4096; ++i) {
        while (x < kMostStretch && squash[x + kMostMixed] < 16 * i + 8) ++x;
        stretch[i] = int16_t(x);
    }
    for (int n = 0; n < 256; ++n) rate[n] = uint16_t(131072 / (2 * n + 3));
}

MixedBits::MixedBits(int decisions, const std::array<int, kMixedModels>& contexts)
    : decisions_(decisions),
      models_(size_t(decisions) * std::accumulate(contexts.begin(), contexts.end(), 0),
              Model{32768, 0}) {
    Model* next = models_.data();
    for (int i = 0; i < kMixedModels; ++i) {
        start_[i] = row_[i] = next;
        next += size_t(decisions) * contexts[i];
    }
    Weights start;
    start.fill(kStartWeight);
    for (auto& weights : weights_) weights.assign(size_t(decisions) * kMixerRows, start);
}

MMP_SIMD_LEVELS uint32_t MixedBits::predict(int decision) {
    const Weights& a = weights_[0][decision * kMixerRows + first_];
    const Weights& b = weights_[1][decision * kMixerRows + second_];
    for (int i = 0; i < kMixedModels; ++i)
        stretched_[i] = kMix.stretch[row_[i][decision].probability >> 4];
    int32_t x = 0, y = 0;
    for (int i = 0; i < kMixedModels; ++i) x += a[i] * stretched_[i], y += b[i] * stretched_[i];
    x = std::clamp(x >> 16, -kMostMixed, kMostMixed);
    y = std::clamp(y >> 16, -kMostMixed, kMostMixed);
    single_[0] = kMix.squash[x + kMostMixed];
    single_[1] = kMix.squash[y + kMostMixed];
    return kMix.squash[((x + y) >> 1) + kMostMixed];
}

MMP_SIMD_LEVELS int MixedBits::learn(int decision, int bit) {
    const int32_t target = bit << 16;
    const int rows[2] = {first_, second_};
    for (int set = 0; set < 2; ++set) {
        Weights& w = weights_[set][decision * kMixerRows + rows[set]];
        const int32_t error = 5 * (target - int32_t(single_[set]));
        for (int i = 0; i < kMixedModels; ++i)
            w[i] = std::clamp(w[i] + ((stretched_[i] * error + (1 << 16)) >> 17), -kMostWeight,
                              kMostWeight);
    }
    for (int i = 0; i < kMixedModels; ++i) {
        Model& model = row_[i][decision];
        const int32_t p = model.probability;
        const int32_t moved = p + int32_t((int64_t{target - p} * kMix.rate[model.uses]) >> 16);
        model.probability = uint16_t(std::clamp(moved, kLeastProbability, 65536 - kLeastProbability));
        if (model.uses < kMostUses) ++model.uses;
    }
    return bit;
}

}  // namespace mmp
