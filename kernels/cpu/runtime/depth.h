// The depth of samples in bits, and the types and constants that follow from it.
#pragma once

#include <stdint.h>

#include <type_traits>

namespace mmp {

template <class Sample>
constexpr bool kIsByte = sizeof(Sample) == 1;

// A depth: 8 bits, a compile-time constant, for byte samples; 9 to 16 bits otherwise.
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

// The type of sums of a few samples with small weights.
template <class Sample>
using Wide = std::conditional_t<kIsByte<Sample>, int16_t, int32_t>;

// Most bits of samples for which sums of two second differences fit 16 bits.
constexpr int kShortDepth = 13;

// Calls `work` with a value of the type of such sums, which depends on the depth.
template <class Sample, class Work>
void with_lanes(Depth<Sample> depth, const Work& work) {
    if (kIsByte<Sample> || depth.bits() <= kShortDepth)
        work(int16_t{});
    else
        work(int32_t{});
}

// The type of the cost of a coefficient, which has a finer unit for deeper samples.
template <class Sample>
using LevelCost = std::conditional_t<kIsByte<Sample>, int32_t, int64_t>;

}  // namespace mmp
