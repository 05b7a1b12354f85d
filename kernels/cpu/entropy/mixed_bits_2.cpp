#include "cpu/entropy/mixed_bits_2.h"

namespace mmp {

template <int Models>
MixedBits2<Models>::MixedBits2(int decisions, const std::array<int, Models>& contexts,
                               const std::array<int, kMostSets>& rows, bool last_stage)
    : decisions_((decisions + kLineDecisions - 1) / kLineDecisions * kLineDecisions),
      sets_(int(std::count_if(rows.begin(), rows.end(), [](int count) { return count > 0; }))),
      lines_(decisions, contexts),
      weights_([&] {
          size_t all = 0;
          for (const int count : rows) all += size_t(count) * decisions_;
          return all * Models;
      }()),
      shares_(zeroed<int32_t>(size_t(decisions_) * kMostSets)) {
    set_start_[0] = 0;
    for (int set = 0; set < kMostSets; ++set)
        set_start_[set + 1] = set_start_[set] + size_t(rows[set]) * decisions_;
    seen_ = zeroed<uint16_t>(set_start_[kMostSets]);
    if (!last_stage) return;
    const size_t places = size_t(rows[0]) * decisions_;
    stages_ = zeroed<uint16_t>(places * kStages);
    uint16_t first[kStages];
    for (int i = 0; i < kStages; ++i)
        first[i] = kMix.squash[std::clamp(128 * (i - 16), -kMostMixed, kMostMixed) + kMostMixed];
    for (size_t place = 0; place < places; ++place)
        std::copy_n(first, kStages, &stages_[place * kStages]);
}

template class MixedBits2<8>;
template class MixedBits2<16>;

}  // namespace mmp
