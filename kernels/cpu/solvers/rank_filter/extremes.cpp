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
#include <vector>

#include "cpu/solvers/rank_filter/lanes.h"

namespace mmp {

namespace {

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
        const bool is_low = height <= kLow;
        UnusualSearch<T> nan;
        if (!is_low) {
            lower_.resize(height * padded_);
            upper_.resize(padded_);
        }
        for (int64_t row = first_; row < last_; ++row) {
            const int64_t place = (row - first_) % height;  // in the block
            if (is_low)
                low_column(row, nan);
            else if (place == 0)
                begin_block(row, nan);
            else
                next_of_block(row, place, nan);
            finish(row);
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

    // Computes the suffix extremes of a block, as high as the window, from `row` on; the first are
    // the column extremes of the row.
    MMP_INLINE void begin_block(int64_t row, UnusualSearch<T>& nan) {
        const int height = picture_.window.height;
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
        std::copy_n(lower_.data(), picture_.stride, line_.data() + half());
    }

    // Sets the line to the column extremes of row number `place` of a block: of its suffix, and of
    // the rows that its window has of the next block.
    MMP_INLINE void next_of_block(int64_t row, int64_t place, UnusualSearch<T>& nan) {
        Lane<T>* line = line_.data() + half();
        Lane<T>* upper = upper_.data();
        const Lane<T>* from = lower_.data() + place * padded_;
        const T* here = samples(row + picture_.window.height - 1);
        columns([&](int64_t x, const auto& load) MMP_INLINED {
            const V bits = load(here);
            nan.look(bits);
            V found = turned<T>(bits);
            if (place > 1) found = extreme<kGreatest>(found, loaded<V>(upper + x));
            store(upper + x, found);
            store(line + x, extreme<kGreatest>(found, loaded<V>(from + x)));
        });
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
        if (!to) {
            for (int64_t x = 0; x < count; x += kLanes) store(line + x, at(x));
            return;
        }
        const int64_t whole = count / kLanes * kLanes;
        for (int64_t x = 0; x < whole; x += kLanes) store(to + x, turned<T>(at(x)));
        const V rest = turned<T>(at(whole));
        memcpy(to + whole, &rest, (count - whole) * sizeof(T));
    }

    const BorderedPicture<T>& picture_;
    const int64_t first_, last_;
    T* out_;
    int64_t padded_;  // columns of the samples, padded to whole vectors
    std::vector<Lane<T>> line_, lower_, upper_;
};

#define MMP_EXTREME_BAND(T)                                                                 \
    MMP_SIMD_LEVELS bool least_band(const BorderedPicture<T>& picture, int64_t first,       \
                                    int64_t last, T* out) {                                 \
        return Band<T, false>(picture, first, last, out).filter();                          \
    }                                                                                       \
    MMP_SIMD_LEVELS bool greatest_band(const BorderedPicture<T>& picture, int64_t first,    \
                                       int64_t last, T* out) {                              \
        return Band<T, true>(picture, first, last, out).filter();                           \
    }
MMP_EACH_SAMPLE(MMP_EXTREME_BAND)

}  // namespace

template <class T>
bool extreme_filter(const BorderedPicture<T>& picture, bool greatest, T* out, ThreadTeam& team) {
    return in_bands(picture, team, [&](int64_t first, int64_t last) {
        return greatest ? greatest_band(picture, first, last, out)
                        : least_band(picture, first, last, out);
    });
}

#define MMP_INSTANTIATE(T) \
    template bool extreme_filter(const BorderedPicture<T>&, bool, T*, ThreadTeam&);
MMP_EACH_SAMPLE(MMP_INSTANTIATE)

}  // namespace mmp
