// Rates of symbols, and the code length of each syntax element.
#pragma once

#include <stdint.h>

#include <array>
#include <vector>

#include "shared/entropy/rate.h"

namespace mmp {

enum Syntax {
    kFlagSyntax,
    kClassSyntax,
    kElementSyntax,
    kSplitSyntax,
    kModeSyntax,
    kKindSyntax,
    kLevelSyntax,
    kTreeSyntax
};
constexpr int kSyntaxElements = 8;

// log2_rate of every total that a model can have, in 2^-12 bit.
class RateTable {
public:
    static const RateTable& get();
    int32_t operator[](uint32_t total) const { return rate_[total]; }

private:
    RateTable();
    std::vector<int32_t> rate_;
};

// Ideal code length by syntax element, in 2^-12 bit.
struct Tally {
    const RateTable& rates = RateTable::get();
    std::array<int64_t, kSyntaxElements> rate{};

    void add(Syntax syntax, uint32_t frequency, uint32_t total) {
        rate[syntax] += rates[total] - rates[frequency];
    }
};

}  // namespace mmp
