// Depth: the bits of a sample, and what follows from them.
#pragma once

#include <stdint.h>

#include <type_traits>

namespace mmp {

template <class Sample>
constexpr bool kIsByte = sizeof(Sample) == 1;

// 8 bits where samples are bytes, so that all of it is constant there; else 9 to 16.
template <class Sample>
class Depth {
public:
    explicit constexpr Depth(int bits = 8) : bits_(bits) {}
    constexpr int bits() const { return kIsByte<Sample> ? 8 : bits_; }
    constexpr int extra() const { return bits() - 8; }
    constexpr int middle() const { return 1 << (bits() - 1); }
    constexpr int most() const { return (1 << bits()) - 1; }

private:
    int bits_;
};

// What holds sums of a few samples with small weights.
template <class Sample>
using Wide = std::conditional_t<kIsByte<Sample>, int16_t, int32_t>;

// What holds the cost of a coefficient, which is finer for deeper samples.
template <class Sample>
using LevelCost = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;

}  // namespace mmp
