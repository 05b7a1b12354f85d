// Sample depth in bits, and the types and constants that depend on it.
#pragma once

#include <stdint.h>

#include <type_traits>

namespace mmp {

template <class Sample>
constexpr bool kIsByte = sizeof(Sample) == 1;

// Depth of samples: 8 bits, a compile-time constant, for 8-bit samples; 9 to 16 bits otherwise.
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

// Type for sums of a few samples with small weights.
template <class Sample>
using Wide = std::conditional_t<kIsByte<Sample>, int16_t, int32_t>;

// Largest depth at which the sum of two second differences fits 16 bits.
constexpr int kShortDepth = 13;

// Calls `work` with a value of the lane type for sums of second differences, which depends on the
// depth.
template <class Sample, class Work>
void with_lanes(Depth<Sample> depth, const Work& work) {
    if (kIsByte<Sample> || depth.bits() <= kShortDepth)
        work(int16_t{});
    else
        work(int32_t{});
}

// Type of the cost of a coefficient; deeper samples use a finer unit.
template <class Sample>
using LevelCost = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;

}  // namespace mmp
