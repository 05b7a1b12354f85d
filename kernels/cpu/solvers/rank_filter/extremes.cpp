// Minimum and maximum filters: separable, columns first, then rows.
//
// Along columns, low windows compare their rows directly. For higher windows, blocks of as many
// rows as the window has get suffix extremes (from the last row up) and prefix extremes (from the
// first row down); a window combines the suffix of one block with the prefix of the next: three
// comparisons per pixel. Along rows, the extremes of 4, 16, 64, ... neighbours are combined from
// four results of the previous step.
//
// Sources: M. van Herk, "A fast algorithm for local minimum and maximum filters on rectangular and
// octagonal kernels", 1992; J. Gil and M. Werman, "Computing 2-D min, median, and max filters",
// 1993.
#include "cpu/solvers/rank_filter/extremes.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "cpu/solvers/rank_filter/lanes.h"

namespace mmp {

namespace {

constexpr int64_t kTasks = 64;
constexpr int kLow = 8;  // largest window height that is compared row by row

template <bool kGreatest, class V>
MMP_INLINE V extreme(const V& a, const V& b) {
    return kGreatest ? greatest(a, b) : least(a, b);
}

template <class T, bool kGreatest>
class Band {
public:
    using V = LaneVector<T>;
    static constexpr int kLanes = kLanesOf<T>;

    MMP_INLINE Band(const BorderedPicture<T>& picture, int64_t first, int64_t last, T* out)
        : picture_(picture), first_(first), last_(last), out_(out) {
        padded_ = (picture.stride + kLanes - 1) / kLanes * kLanes;
        line_.resize(std::max(picture.columns + picture.window.width, padded_ + half()) + kLanes);
    }

    // Returns whether any sample is NaN.
    MMP_INLINE bool filter() {
        const int height = picture_.window.height;
        UnusualSearch<T> nan;
        if (height <= kLow) {
            for (int64_t row = first_; row < last_; ++row) {
                low_column(row, nan);
                finish(row);
            }
        } else {
            lower_.resize(height * padded_);
            upper_.resize(padded_);
            for (int64_t row = first_; row < last_; row += height) block(row, nan);
        }
        return nan.found().nan;
    }

private:
    int half() const { return picture_.window.width / 2; }

    // Calls work(x, load) for each vector of columns; load(row) returns the bits of the samples of
    // a row there.
    template <class Work>
    MMP_INLINE void columns(const Work& work) const {
        const int64_t stride = picture_.stride;
        int64_t x = 0;
        for (; x + kLanes <= stride; x += kLanes)
            work(x, [&](const T* row) MMP_INLINED { return loaded<V>(row + x); });
        if (x == stride) return;
        work(x, [&](const T* row) MMP_INLINED {
            V rest{};
            memcpy(&rest, row + x, (stride - x) * sizeof(T));
            return rest;
        });
    }
    MMP_INLINE const T* samples(int64_t row) const {
        return picture_.samples + picture_.row_of[row] * picture_.stride;
    }

    // Sets the line to the column extremes of one row of windows, row by row.
    MMP_INLINE void low_column(int64_t row, UnusualSearch<T>& nan) {
        const int height = picture_.window.height;
        Lane<T>* line = line_.data() + half();
        const T* rows[kLow];
        for (int i = 0; i < height; ++i) rows[i] = samples(row + i);
        columns([&](int64_t x, const auto& load) MMP_INLINED {
            nan.look(load(rows[height / 2]));  // each row is the centre of one window row
            V found = turned<T>(load(rows[0]));
            for (int i = 1; i < height; ++i)
                found = extreme<kGreatest>(found, turned<T>(load(rows[i])));
            store(line + x, found);
        });
    }

    // Filters a block of as many rows as the window has, from `row` on.
    MMP_INLINE void block(int64_t row, UnusualSearch<T>& nan) {
        const int height = picture_.window.height;
        Lane<T>* line = line_.data() + half();
        Lane<T>* upper = upper_.data();
        for (int i = height - 1; i >= 0; --i) {
            const T* here = samples(row + i);
            Lane<T>* to = lower_.data() + i * padded_;
            const Lane<T>* below = to + padded_;
            columns([&](int64_t x, const auto& load) MMP_INLINED {
                const V bits = load(here);
                nan.look(bits);
                V found = turned<T>(bits);
                if (i < height - 1) found = extreme<kGreatest>(found, loaded<V>(below + x));
                store(to + x, found);
            });
        }
        for (int i = 0; i < height && row + i < last_; ++i) {
            const Lane<T>* from = lower_.data() + i * padded_;
            if (i == 0) {
                std::copy(from, from + picture_.stride, line);
            } else {
                const T* here = samples(row + height - 1 + i);
                columns([&](int64_t x, const auto& load) MMP_INLINED {
                    const V bits = load(here);
                    nan.look(bits);
                    V found = turned<T>(bits);
                    if (i > 1) found = extreme<kGreatest>(found, loaded<V>(upper + x));
                    store(upper + x, found);
                    found = extreme<kGreatest>(found, loaded<V>(from + x));
                    store(line + x, found);
                });
            }
            finish(row + i);
        }
    }

    // Writes a row of the result: the extremes along the line.
    MMP_INLINE void finish(int64_t row) {
        const int width = picture_.window.width;
        Lane<T>* line = line_.data();
        // A column of the border equals the column that it repeats.
        for (int64_t x = 0; x < half(); ++x) line[x] = line[half() + picture_.column_of[x]];
        for (int64_t x = half() + picture_.columns; x < picture_.columns + width - 1; ++x)
            line[x] = line[half() + picture_.column_of[x]];
        int reach = 1;  // line[x] is the extreme of `reach` neighbours
        for (; 4 * reach < width; reach *= 4)
            along<4>(picture_.columns + width - reach - 3 * reach, reach, 3 * reach, nullptr);
        T* to = out_ + row * picture_.columns;
        const int pieces = (width + reach - 1) / reach, last = width - reach;
        if (pieces == 1) along<1>(picture_.columns, reach, last, to);
        if (pieces == 2) along<2>(picture_.columns, reach, last, to);
        if (pieces == 3) along<3>(picture_.columns, reach, last, to);
        if (pieces == 4) along<4>(picture_.columns, reach, last, to);
    }

    // Combines kPieces values of the line, at distances 0, reach, 2 reach, ..., with the last one
    // at `last`, into each of the first `count` values. Writes to `to` instead of the line if it is
    // not null.
    template <int kPieces>
    MMP_INLINE void along(int64_t count, int64_t reach, int64_t last, T* to) {
        Lane<T>* line = line_.data();
        const auto at = [&](int64_t x) MMP_INLINED {
            V found = loaded<V>(line + x);
#pragma GCC unroll 4
            for (int i = 1; i < kPieces - 1; ++i)
                found = extreme<kGreatest>(found, loaded<V>(line + x + i * reach));
            return kPieces == 1 ? found
                                : extreme<kGreatest>(found, loaded<V>(line + x + last));
        };
        int64_t x = 0;
        if (!to) {
            for (; x < count; x += kLanes) store(line + x, at(x));
            return;
        }
        for (; x + kLanes <= count; x += kLanes) store(to + x, turned<T>(at(x)));
        if (x == count) return;
        const V rest = turned<T>(at(x));
        memcpy(to + x, &rest, (count - x) * sizeof(T));
    }

    const BorderedPicture<T>& picture_;
    const int64_t first_, last_;
    T* out_;
    int64_t padded_;  // columns of the samples, padded to whole vectors
    std::vector<Lane<T>> line_, lower_, upper_;
};

#define MMP_EXTREME_BAND(T)                                                              \
    MMP_SIMD_LEVELS bool least_##T(const BorderedPicture<T>& picture, int64_t first,     \
                                   int64_t last, T* out) {                               \
        return Band<T, false>(picture, first, last, out).filter();                       \
    }                                                                                    \
    MMP_SIMD_LEVELS bool greatest_##T(const BorderedPicture<T>& picture, int64_t first,  \
                                      int64_t last, T* out) {                            \
        return Band<T, true>(picture, first, last, out).filter();                        \
    }                                                                                    \
    bool extreme_band(const BorderedPicture<T>& picture, bool greatest, int64_t first,   \
                      int64_t last, T* out) {                                            \
        return greatest ? greatest_##T(picture, first, last, out)                        \
                        : least_##T(picture, first, last, out);                          \
    }
MMP_EXTREME_BAND(uint8_t)
MMP_EXTREME_BAND(uint16_t)
MMP_EXTREME_BAND(int16_t)
MMP_EXTREME_BAND(float)
MMP_EXTREME_BAND(double)

}  // namespace

template <class T>
bool extreme_filter(const BorderedPicture<T>& picture, bool greatest, T* out, ThreadTeam& team) {
    // Bands are high, because adjacent bands both process the rows that their windows share.
    const int64_t high = std::max<int64_t>(4 * picture.window.height, 32);
    const int64_t tasks = std::clamp<int64_t>(picture.rows / high, 1, kTasks);
    std::atomic<bool> nan = false;
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        if (extreme_band(picture, greatest, picture.rows * task / tasks,
                         picture.rows * (task + 1) / tasks, out))
            nan = true;
    });
    return nan;
}

#define MMP_INSTANTIATE(T) \
    template bool extreme_filter(const BorderedPicture<T>&, bool, T*, ThreadTeam&);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)
MMP_INSTANTIATE(int16_t)
MMP_INSTANTIATE(float)
MMP_INSTANTIATE(double)

}  // namespace mmp
