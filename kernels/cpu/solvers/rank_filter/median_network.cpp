// Medians of small square windows by a comparison network (branchless selection), one pixel per
// lane.
//
// The columns of a window are sorted, then its rows, which keeps the columns sorted. Then at least
// a * b - 1 values are not above the value in row a and column b, counted from 1. So values that
// are certainly too large to be the median are removed, with equally many that are too small. The
// median of the rest is the median of the window: minimum and maximum are removed together until
// one value is left.
//
// Sources: dropping out by A. W. Paeth, "Median finding on a 3x3 grid", Graphics Gems, 1990; sorted
// columns and rows by J. L. Smith, "Implementing median filters in XC4000E FPGAs", 1996.
#include "cpu/solvers/rank_filter/median_network.h"

#include <algorithm>
#include <vector>

#include "cpu/solvers/rank_filter/lanes.h"

namespace mmp {

namespace {

template <class V>
MMP_INLINE void order(V& low, V& high) {
    const V lower = least(low, high);
    high = greatest(low, high);
    low = lower;
}

// The compiler eliminates unused results, so rows are sorted only as far as the median needs.
template <class V>
MMP_INLINE void sort3(V& a, V& b, V& c) {
    order(a, b);
    order(b, c);
    order(a, b);
}

template <int K, class V>
MMP_INLINE void sort(V* v) {
    if constexpr (K == 2) {
        order(v[0], v[1]);
    } else if constexpr (K == 3) {
        sort3(v[0], v[1], v[2]);
    } else if constexpr (K == 4) {
        order(v[0], v[1]);
        order(v[2], v[3]);
        order(v[0], v[2]);
        order(v[1], v[3]);
        order(v[1], v[2]);
    } else {
        static_assert(K == 5);
        order(v[0], v[1]);
        order(v[3], v[4]);
        order(v[2], v[4]);
        order(v[2], v[3]);
        order(v[1], v[4]);
        order(v[0], v[3]);
        order(v[0], v[2]);
        order(v[1], v[3]);
        order(v[1], v[2]);
    }
}

// Moves the minimum of v to the front and the maximum to the end.
template <int N, class V>
MMP_INLINE void extremes(V* v) {
#pragma GCC unroll 32
    for (int i = 0; i < N / 2; ++i) order(v[i], v[N - 1 - i]);
#pragma GCC unroll 32
    for (int i = 1; i < (N + 1) / 2; ++i) order(v[0], v[i]);
#pragma GCC unroll 32
    for (int i = N / 2; i < N - 1; ++i) order(v[i], v[N - 1]);
}

// Finds the median of the N values at v and the N - 3 values at `waiting`.
template <int N, class V>
MMP_INLINE void median_of(V* v, const V* waiting, V& median) {
    extremes<N>(v);
    if constexpr (N == 3) {
        median = v[1];
    } else {
        v[N - 1] = *waiting;
        median_of<N - 1>(v + 1, waiting + 1, median);
    }
}

constexpr bool may_be_median(int k, int a, int b) {
    return a * b <= k * k / 2 + 1 && (k + 1 - a) * (k + 1 - b) <= k * k / 2 + 1;
}

constexpr int candidates(int k) {
    int count = 0;
    for (int a = 1; a <= k; ++a)
        for (int b = 1; b <= k; ++b) count += may_be_median(k, a, b);
    return count;
}

// Finds the median of a window; rows[i][j] is value i of sorted column j.
template <int K, class V>
MMP_INLINE void median_of_sorted_columns(V (*rows)[K], V& median) {
    constexpr int kLeft = candidates(K), kFirst = kLeft / 2 + 2;
    V left[kLeft];
    int count = 0;
#pragma GCC unroll 8
    for (int a = 1; a <= K; ++a) {
        sort<K>(rows[a - 1]);
#pragma GCC unroll 8
        for (int b = 1; b <= K; ++b)
            if (may_be_median(K, a, b)) left[count++] = rows[a - 1][b - 1];
    }
    median_of<kFirst>(left, left + kFirst, median);
}

// Filters two rows at a time; their windows share all but one row of samples each.
//
// Columns are sorted in strips that fit the L1 cache. Each strip also sorts the first vector of
// columns of the next strip.
template <int K, class T, class Order>
class MedianRows {
public:
    using Bits = LaneVector<T>;
    using V = typename Order::V;
    using Lane = typename Order::Lane;
    static constexpr int kLanes = kLanesOf<T>, kHalf = K / 2;
    static constexpr int64_t kStrip = 2048 / sizeof(T), kLine = kStrip + 3 * kLanes;

    MMP_INLINE MedianRows(const BorderedPicture<T>& picture, T* out)
        : picture_(picture), out_(out), memory_(2 * K * kLine + 2 * kLanes) {
        // Aligned so that the first column of a strip, after its left border, begins a cache line.
        const auto at = reinterpret_cast<uintptr_t>(memory_.data() + kHalf);
        lines_ = memory_.data() + (-at & (kVectorBytes - 1)) / sizeof(T);
    }

    // Filters rows first to last - 1. Returns the special values found in their samples.
    MMP_INLINE Unusual filter(int64_t first, int64_t last) {
        const int64_t columns = picture_.columns;
        UnusualSearch<T, !Order::kExact> search;
        for (int64_t row = first; row < last; row += 2) {
            const T* samples[K + 1];
            for (int i = 0; i <= K; ++i) {
                const int64_t at = std::min(row + i, picture_.rows + K - 2);
                samples[i] = picture_.samples + picture_.row_of[at] * picture_.stride;
            }
            sort_border(samples, search);
            for (int64_t left = 0; left < columns; left += kStrip) {
                const int64_t right = std::min(left + kStrip, columns);
                sort_strip(samples, left, right, search);
                for (int which = 0; which < 2 && row + which < last; ++which)
                    find(lines_ + which * K * kLine, right - left,
                         out_ + (row + which) * columns + left);
            }
        }
        return search.found();
    }

private:
    // Sorts a vector of columns for both rows; load(i) returns row i of the first row's windows.
    // Value i of the sorted columns is written to to + i * kLine, for the second row K * kLine
    // further.
    template <class Load, class Search>
    MMP_INLINE void sort_columns(const Load& load, Lane* to, Search& search) {
        V shared[K - 1];
#pragma GCC unroll 8
        for (int i = 1; i < K; ++i) {
            const Bits bits = load(i);
            // Each row of the picture is the middle row of one window, so each sample is checked
            // once.
            if (i == kHalf || i == kHalf + 1) search.look(bits);
            shared[i - 1] = Order::lanes(bits);
        }
        sort<K - 1>(shared);
#pragma GCC unroll 2
        for (int which = 0; which < 2; ++which) {
            V inserted = Order::lanes(load(which ? K : 0));
            Lane* line = to + which * K * kLine;
#pragma GCC unroll 8
            for (int i = 0; i < K - 1; ++i) {
                store(line + i * kLine, least(shared[i], inserted));
                inserted = greatest(shared[i], inserted);
            }
            store(line + (K - 1) * kLine, inserted);
        }
    }

    // Sorts the columns beyond the left and the right edge into `border_`.
    template <class Search>
    MMP_INLINE void sort_border(const T* const* samples, Search& search) {
        T gathered[K + 1][kLanes] = {};
        for (int i = 0; i <= K; ++i)
            for (int j = 0; j < 2 * kHalf; ++j) {
                const int64_t x = j < kHalf ? j : picture_.columns + j;
                gathered[i][j] = samples[i][picture_.column_of[x]];
            }
        sort_columns([&](int i) MMP_INLINED { return loaded<Bits>(gathered[i]); }, lines_,
                     search);
        for (int i = 0; i < 2 * K; ++i)
            std::copy_n(lines_ + i * kLine, 2 * kHalf, border_[i]);
    }

    // Sorts the columns of all windows of a strip.
    template <class Search>
    MMP_INLINE void sort_strip(const T* const* samples, int64_t left, int64_t right,
                               Search& search) {
        const int64_t columns = picture_.columns;
        for (int i = 0; i < 2 * K; ++i) {
            Lane* line = lines_ + i * kLine;
            std::copy_n(left == 0 ? border_[i] : line + kStrip, kHalf, line);
        }
        const int64_t end = std::min(right + kHalf, columns);
        for (int64_t x = left; x < end; x += kLanes) {
            Lane* to = lines_ + kHalf + x - left;
            if (x + kLanes <= columns) {
                sort_columns([&](int i) MMP_INLINED { return loaded<Bits>(samples[i] + x); }, to,
                             search);
            } else {
                sort_columns(
                    [&](int i) MMP_INLINED {
                        Bits rest{};
                        memcpy(&rest, samples[i] + x, (columns - x) * sizeof(T));
                        return rest;
                    },
                    to, search);
            }
        }
        for (int i = 0; i < 2 * K; ++i)
            for (int64_t x = std::max(columns, left - kHalf); x < right + kHalf; ++x)
                lines_[i * kLine + kHalf + x - left] = border_[i][kHalf + x - columns];
    }

    // Writes the medians of `count` windows from the lines of sorted columns.
    MMP_INLINE void find(const Lane* lines, int64_t count, T* to) const {
        const auto median_at = [&](int64_t x) MMP_INLINED {
            V rows[K][K];
#pragma GCC unroll 8
            for (int i = 0; i < K; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < K; ++j) rows[i][j] = loaded<V>(lines + i * kLine + x + j);
            V median;
            median_of_sorted_columns<K>(rows, median);
            return Order::bits(median);
        };
        for (int64_t x = 0; x < count; x += kLanes) store_some(to + x, median_at(x), count - x);
    }

    const BorderedPicture<T>& picture_;
    T* out_;
    std::vector<Lane> memory_;
    Lane* lines_;
    Lane border_[2 * K][2 * kHalf];
};

#define MMP_MEDIAN_ROWS(K, T)                                                               \
    MMP_SIMD_LEVELS bool median_rows_##K(const BorderedPicture<T>& picture, int64_t first,  \
                                         int64_t last, T* out) {                            \
        return exactly<T>([&](auto order) MMP_INLINED {                                     \
            return MedianRows<K, T, decltype(order)>(picture, out).filter(first, last);     \
        });                                                                                 \
    }
#define MMP_BOTH_MEDIAN_ROWS(T) MMP_MEDIAN_ROWS(3, T) MMP_MEDIAN_ROWS(5, T)
MMP_EACH_SAMPLE(MMP_BOTH_MEDIAN_ROWS)

}  // namespace

template <class T>
bool median_filter(const BorderedPicture<T>& picture, T* out, ThreadTeam& team) {
    return in_bands(picture, team, [&](int64_t first, int64_t last) {
        return picture.window.width == 3 ? median_rows_3(picture, first, last, out)
                                         : median_rows_5(picture, first, last, out);
    });
}

#define MMP_INSTANTIATE(T) template bool median_filter(const BorderedPicture<T>&, T*, ThreadTeam&);
MMP_EACH_SAMPLE(MMP_INSTANTIATE)

}  // namespace mmp
