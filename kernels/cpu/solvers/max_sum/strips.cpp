#include "cpu/solvers/max_sum/strips.h"

#include <cstdlib>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

template <class T>
using LanesOf = typename Vector<T, kLanesOf<T>>::Type;

// Writes the best sum of each strip from one of kTops top rows to a bottom row of a panel (Kadane,
// one strip per lane).
template <class T>
MMP_INLINE void search_strips(const T* const* tops, const T* bottoms, int64_t columns, T* out) {
    using Lanes = LanesOf<T>;
    constexpr int kLanes = kLanesOf<T>;
    Lanes current[kTops], best[kTops];
    for (int i = 0; i < kTops; ++i)
        for (int lane = 0; lane < kLanes; ++lane) {
            current[i][lane] = 0;
            best[i][lane] = std::numeric_limits<T>::min();
        }
    for (int64_t column = 0; column < columns; ++column) {
        Lanes sums;
        __builtin_memcpy(&sums, bottoms + column * kLanes, sizeof sums);
        for (int i = 0; i < kTops; ++i) {
            const Lanes strip = sums - tops[i][column * kLanes];
            current[i] = (current[i] > 0 ? current[i] : Lanes{}) + strip;
            best[i] = best[i] > current[i] ? best[i] : current[i];
        }
    }
    __builtin_memcpy(out, best, sizeof best);
}

// best_of_strips() for one top row and intervals of limited length. The allowed starts of a stop
// form a window of running sums, whose minimum is needed (sliding-window minimum). Starts are
// divided into blocks of the window's size, so a window covers the end of one block and the
// beginning of the next. `block` holds a vector for each start of a block. Source: M. van Herk, "A
// fast algorithm for local minimum and maximum filters", 1992.
template <class T>
MMP_INLINE void search_limited(const T* top, const T* bottoms, int64_t columns, Lengths widths,
                               LanesOf<T>* block, T* out) {
    using Lanes = LanesOf<T>;
    constexpr int kLanes = kLanesOf<T>;
    const auto smaller = [](const Lanes& a, const Lanes& b) { return a < b ? a : b; };
    const int64_t window = std::min(widths.most, columns) - widths.least + 1;
    Lanes best, sum{}, start_sum{}, so_far{};
    for (int lane = 0; lane < kLanes; ++lane) best[lane] = std::numeric_limits<T>::min();
    const auto strip = [&](int64_t column) {
        Lanes sums;
        __builtin_memcpy(&sums, bottoms + column * kLanes, sizeof sums);
        return sums - top[column * kLanes];
    };
    int64_t place = 0;  // index of the start in its block
    for (int64_t stop = 1; stop <= columns; ++stop) {
        sum += strip(stop - 1);
        const int64_t start = stop - widths.least;
        if (start < 0) continue;
        if (start > 0) start_sum += strip(start - 1);
        so_far = place == 0 ? start_sum : smaller(so_far, start_sum);
        block[place] = start_sum;
        // Beyond this index, `block` still holds the suffix minima of the previous block.
        const bool reaches_back = start >= window && place + 1 < window;
        const Lanes least = reaches_back ? smaller(so_far, block[place + 1]) : so_far;
        const Lanes gain = sum - least;
        best = best > gain ? best : gain;
        if (++place < window) continue;
        for (int64_t i = window - 2; i >= 0; --i) block[i] = smaller(block[i], block[i + 1]);
        place = 0;
    }
    __builtin_memcpy(out, &best, sizeof best);
}

}  // namespace

#define MMP_BEST_OF(T)                                                                        \
    MMP_SIMD_LEVELS void best_of_strips(const T* const* tops, const T* bottoms, int64_t columns,  \
                                        T* out) {                                             \
        search_strips(tops, bottoms, columns, out);                                           \
    }                                                                                         \
    MMP_SIMD_LEVELS void best_of_limited(const T* top, const T* bottoms, int64_t columns,     \
                                         Lengths widths, void* block, T* out) {               \
        search_limited(top, bottoms, columns, widths, static_cast<LanesOf<T>*>(block), out);  \
    }
MMP_BEST_OF(int32_t)
MMP_BEST_OF(int64_t)

bool fits_32_bits(const int64_t* values, int64_t count) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += static_cast<uint64_t>(std::abs(values[i]));
    return sum <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
}

}  // namespace mmp
