// Adaptive models of what blocks code, and the costs that follow from them.
// Source: sections "Binary models" and "Modes" of docs/format.md.
#pragma once

#include <stdint.h>

#include <array>

#include "../shared/block.h"
#include "../shared/rate.h"
#include "models.h"

namespace mmp {

// Probability of a 1 in 1/65536, learnt fast at first.
struct BitModel {
    uint16_t one = 1 << 15;
    uint8_t seen = 0;

    void count(int bit);
};
constexpr int kBitTotalLog2 = 16;
constexpr uint32_t kBitTotal = 1 << kBitTotalLog2;

struct BlockModels {
    std::array<BitModel, kBitModels> bits;
    std::array<std::array<uint16_t, kModes>, kSizes> modes;  // frequencies

    BlockModels();
    void count_mode(int size, int mode);
    // Frequencies of the modes that are neither of the likely ones, and their sum. Bit m of
    // `allowed` says whether mode m may be.
    uint32_t weigh_modes(int size, int left, int above, uint64_t allowed, uint32_t* weights) const;
};

// Costs in 1/16 squared error of what a block may code, from the models at one moment.
struct BlockCosts {
    int64_t lambda_fixed = 0;
    int32_t bit[kBitModels][2];
    int32_t plain;                             // a bit of probability 1/2
    int32_t level[kAreas][kPlaces][kSums][4];  // 0, 1, 2, more; with the sign

    void refresh(const BlockModels& models, int64_t lambda_fixed);
    int64_t of_remainder(int area, int value) const {
        return value < kRemainderTable ? remainder_[area >= 2][value] : sum_remainder(area, value);
    }
    int32_t of_last(int a, int b, int last) const;
    // Of each mode; -1 for those that are not allowed.
    void of_modes(const BlockModels& models, int size, int left, int above, uint64_t allowed,
                  int32_t* costs) const;

private:
    static constexpr int kRemainderTable = 64;
    int32_t of_rate(int64_t rate) const { return int32_t(lagrangian(rate, lambda_fixed)); }
    int64_t sum_remainder(int area, int value) const;
    int64_t remainder_[2][kRemainderTable];
};

}  // namespace mmp
