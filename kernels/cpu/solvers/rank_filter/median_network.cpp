// Medians of small square windows by comparisons in a fixed order, for a vector of pixels at once.
//
// The columns of a window are sorted, then its rows, which keeps the columns sorted. Then at least
// a * b - 1 values are not above the value in row a and column b, counted from 1. Values that are
// too large to be the median are removed, and equally many that are too small. The median of the
// rest is the median of the window: minimum and maximum are removed together until one value is
// left.
//
// Sources: dropping out by A. W. Paeth, "Median finding on a 3x3 grid", Graphics Gems, 1990; sorted
// columns and rows by J. L. Smith, "Implementing median filters in XC4000E FPGAs", 1996.
#include <algorithm>
#include <vector>

#include "cpu/solvers/rank_filter/median_network.h"
#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int kVectorBytes = 64;
constexpr int64_t kTasks = 64;

template <class T>
constexpr int kLanesOf = kVectorBytes / sizeof(T);

template <class V>
MMP_INLINE void order(V& low, V& high) {
    const V least = low < high ? low : high;
    high = low < high ? high : low;
    low = least;
}

// The compiler removes unused results, so rows are sorted only as far as the median needs.
template <class V>
MMP_INLINE void sort3(V& a, V& b, V& c) {
    order(a, b);
    order(b, c);
    order(a, b);
}

template <int K, class V>
MMP_INLINE void sort(V* v) {
    if constexpr (K == 3) {
        sort3(v[0], v[1], v[2]);
    } else if constexpr (K == 5) {
        order(v[0], v[1]);
        order(v[3], v[4]);
        order(v[2], v[4]);
        order(v[2], v[3]);
        order(v[1], v[4]);
        order(v[0], v[3]);
        order(v[0], v[2]);
        order(v[1], v[3]);
        order(v[1], v[2]);
    } else {
#pragma GCC unroll 8
        for (int last = K - 1; last > 0; --last)
#pragma GCC unroll 8
            for (int i = 0; i < last; ++i) order(v[i], v[i + 1]);
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

// Finds the median of a window; rows[i][j] is value i of the sorted column j.
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

// Filters rows first to last - 1. The last vector of a row is moved left to end with the row.
template <int K, class T>
MMP_INLINE void median_rows(const BorderedPicture<T>& picture, int64_t first, int64_t last, T* out) {
    typedef T V __attribute__((vector_size(kVectorBytes)));
    constexpr int kLanes = kLanesOf<T>, kHalf = K / 2;
    const int64_t columns = picture.columns, stride = columns + K - 1;
    std::vector<T> sorted(K * stride);
    for (int64_t row = first; row < last; ++row) {
        const T* samples[K];
        for (int i = 0; i < K; ++i)
            samples[i] = picture.samples + picture.row_of[row + i] * picture.stride;
        for (int64_t x = 0; x < picture.stride; x += kLanes) {
            const int64_t at = std::min(x, picture.stride - kLanes);
            V column[K];
#pragma GCC unroll 8
            for (int i = 0; i < K; ++i) __builtin_memcpy(&column[i], samples[i] + at, sizeof(V));
            sort<K>(column);
#pragma GCC unroll 8
            for (int i = 0; i < K; ++i)
                __builtin_memcpy(&sorted[i * stride + kHalf + at], &column[i], sizeof(V));
        }
        // A sorted column beyond the border equals the sorted column of the picture that it
        // repeats.
        for (int i = 0; i < K; ++i)
            for (int j = 0; j < kHalf; ++j)
                for (const int64_t x : {int64_t{j}, kHalf + columns + j})
                    sorted[i * stride + x] = sorted[i * stride + kHalf + picture.column_of[x]];
        for (int64_t x = 0; x < columns; x += kLanes) {
            const int64_t at = std::min(x, columns - kLanes);
            V rows[K][K];
#pragma GCC unroll 8
            for (int i = 0; i < K; ++i)
#pragma GCC unroll 8
                for (int j = 0; j < K; ++j)
                    __builtin_memcpy(&rows[i][j], &sorted[i * stride + at + j], sizeof(V));
            V median;
            median_of_sorted_columns<K>(rows, median);
            __builtin_memcpy(out + row * columns + at, &median, sizeof(V));
        }
    }
}

#define MMP_MEDIAN_ROWS(K, T)                                                               \
    MMP_SIMD_LEVELS void median_rows_##K(const BorderedPicture<T>& picture, int64_t first,  \
                                         int64_t last, T* out) {                            \
        median_rows<K>(picture, first, last, out);                                          \
    }
MMP_MEDIAN_ROWS(3, uint8_t)
MMP_MEDIAN_ROWS(3, uint16_t)
MMP_MEDIAN_ROWS(3, uint32_t)
MMP_MEDIAN_ROWS(5, uint8_t)
MMP_MEDIAN_ROWS(5, uint16_t)
MMP_MEDIAN_ROWS(5, uint32_t)
MMP_MEDIAN_ROWS(7, uint8_t)
MMP_MEDIAN_ROWS(7, uint16_t)
MMP_MEDIAN_ROWS(7, uint32_t)

}  // namespace

template <class T>
bool has_median_network(const BorderedPicture<T>& picture) {
    const auto [height, width] = picture.window;
    return height == width && (width == 3 || width == 5 || width == 7) &&
           picture.columns >= kLanesOf<T>;
}

template <class T>
void median_filter(const BorderedPicture<T>& picture, T* out, ThreadTeam& team) {
    const int64_t tasks = std::min(picture.rows, kTasks);
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        const int64_t first = picture.rows * task / tasks;
        const int64_t last = picture.rows * (task + 1) / tasks;
        if (picture.window.width == 3) median_rows_3(picture, first, last, out);
        if (picture.window.width == 5) median_rows_5(picture, first, last, out);
        if (picture.window.width == 7) median_rows_7(picture, first, last, out);
    });
}

#define MMP_INSTANTIATE(T)                                           \
    template bool has_median_network(const BorderedPicture<T>&);     \
    template void median_filter(const BorderedPicture<T>&, T*, ThreadTeam&);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)
MMP_INSTANTIATE(uint32_t)

}  // namespace mmp
