#include "cpu/entropy/logistic_mixing.h"

#include <math.h>

namespace mmp {

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

template <int Models, int LineBits>
LogisticMixing<Models, LineBits>::LogisticMixing(const Decisions& decisions,
                                                 const std::array<int, Models>& contexts,
                                                 const std::array<int, kMostSets>& rows)
    : decisions_((decisions.count + kLineDecisions - 1) / kLineDecisions * kLineDecisions),
      lines_(decisions, contexts),
      weights_([&] {
          set_start_[0] = 0;
          for (int set = 0; set < kSets; ++set)
              set_start_[set + 1] = set_start_[set] + size_t(rows[set]) * decisions_;
          return set_start_[kSets] * Models;
      }()),
      seen_(zeroed<uint16_t>(set_start_[kSets])) {
    if (!kHasLastStage) return;
    shares_ = zeroed<int32_t>(size_t(decisions_) * kMostSets);
    const size_t places = size_t(rows[0]) * decisions_;
    stages_ = zeroed<uint16_t>(places * kStages);
    uint16_t first[kStages];
    for (int i = 0; i < kStages; ++i)
        first[i] = kMix.squash[std::clamp(128 * (i - 16), -kMostMixed, kMostMixed) + kMostMixed];
    for (size_t place = 0; place < places; ++place)
        std::copy_n(first, kStages, &stages_[place * kStages]);
}

template class LogisticMixing<8>;
template class LogisticMixing<24>;
template class LogisticMixing<24, 11>;

}  // namespace mmp
