#include "cpu/blocks/templates.h"

#include <algorithm>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

constexpr int kLanes = sizeof(Words16);  // number of adjacent places compared at once
typedef uint32_t Sums __attribute__((vector_size(sizeof(Words16))));
typedef int32_t Signed __attribute__((vector_size(sizeof(Words16))));  // signed compares faster

static_assert(BlockPicture<uint8_t>::kReadBeyond >= kLanes - 1);

// First row or column of the search area: `reach` before `at`, but inside the picture.
int first_of(int at, int reach) { return std::max(kTemplateWidth, at - reach); }

// Samples of a template: the rows above the block, then the pairs to its left.
struct Template {
    int height, width;
    ptrdiff_t stride;
    uint16_t above[kTemplateWidth * (kMaxSide + kTemplateWidth)];
    uint16_t left[kTemplateWidth * kMaxSide];

    Template(const uint8_t* block, ptrdiff_t stride, int height, int width)
        : height(height), width(width), stride(stride) {
        uint16_t* out = above;
        for (int i = -kTemplateWidth; i < 0; ++i)
            out = std::copy_n(block + i * stride - kTemplateWidth, width + kTemplateWidth, out);
        out = left;
        for (int i = 0; i < height; ++i)
            out = std::copy_n(block + i * stride - kTemplateWidth, kTemplateWidth, out);
    }
};

// Sums of squared differences. A square fills 16 bits, and two squares share a 32-bit lane. `all`
// sums the whole lanes and `high` their upper halves, so all - (high << 16) sums the lower halves.
struct Squares {
    Sums all[2] = {}, high[2] = {};  // of even and odd places

    MMP_INLINE void add(const uint8_t* samples, const uint16_t* wanted, int count) {
        for (int k = 0; k < count; ++k) {
            Words16 pairs;
            __builtin_memcpy(&pairs, samples + k, sizeof pairs);
            const Words16 differences[2] = {(pairs & 255) - wanted[k], (pairs >> 8) - wanted[k]};
            for (int odd = 0; odd < 2; ++odd) {
                const Words16 squares = differences[odd] * differences[odd];
                all[odd] += Sums(squares);
                high[odd] += Sums(squares) >> 16;
            }
        }
    }
    // Calls visit(which, sums) with the sums of places which, which + 4, which + 8, ...
    template <class Visit>
    MMP_INLINE void each(const Visit& visit) const {
        for (int odd = 0; odd < 2; ++odd) {
            visit(odd, Signed(all[odd] - (high[odd] << 16)));
            visit(odd + 2, Signed(high[odd]));
        }
    }
    MMP_INLINE bool any_below(int32_t limit) const {
        Signed below = {};
        each([&](int, const Signed& sums) { below |= sums < limit; });
        uint64_t parts[4];
        __builtin_memcpy(parts, &below, sizeof parts);
        return (parts[0] | parts[1] | parts[2] | parts[3]) != 0;
    }
    MMP_INLINE void store(int32_t* out) const {
        each([&](int which, const Signed& sums) {
            for (int j = 0; j < kLanes / 4; ++j) out[4 * j + which] = sums[j];
        });
    }
};

// Compares the kLanes places that begin at `place`. Returns false if no sum is below the limit.
MMP_INLINE bool compare(const Template& t, const uint8_t* place, int32_t limit, int32_t* sums) {
    Squares squares;
    const int across = t.width + kTemplateWidth;
    for (int i = kTemplateWidth; i-- > 0;) {
        squares.add(place + (i - kTemplateWidth) * t.stride - kTemplateWidth,
                    t.above + i * across, across);
        if (!squares.any_below(limit)) return false;
    }
    for (int i = 0; i < t.height; ++i)
        squares.add(place + i * t.stride - kTemplateWidth, t.left + i * kTemplateWidth,
                    kTemplateWidth);
    if (!squares.any_below(limit)) return false;
    squares.store(sums);
    return true;
}

// The best places so far. Among equal sums, the first place in coding order wins.
struct Best {
    const int most;
    const int32_t slack;
    int count = 0;
    int32_t sums[kMostTemplates];
    ptrdiff_t places[kMostTemplates];  // offsets relative to the block

    Best(int most, const BlockPlace& block)
        : most(most), slack(kTemplateSlack * (block.height() + block.width())) {}

    // A place whose sum reaches this value cannot become one of the best.
    int32_t limit() const {
        if (!count) return INT32_MAX;
        const int32_t beyond = 2 * sums[0] + slack + 1;
        return count < most ? beyond : std::min(beyond, sums[count - 1]);
    }
    // The sum is below the limit.
    void take(int32_t sum, ptrdiff_t place) {
        count = std::min(count + 1, most);
        int at = count - 1;
        for (; at > 0 && sums[at - 1] > sum; --at)
            sums[at] = sums[at - 1], places[at] = places[at - 1];
        sums[at] = sum, places[at] = place;
    }
    void drop_far() {
        while (sums[count - 1] > 2 * sums[0] + slack) --count;
    }
};

// Compares `count` adjacent places that begin at `first`; `place` is the offset of the first one.
MMP_SIMD_LEVELS void search_row(const Template& t, const uint8_t* first, int count,
                                ptrdiff_t place, Best& best) {
    int32_t limit = best.limit();
    for (int j = 0; j < count; j += kLanes) {
        int32_t sums[kLanes];
        if (!compare(t, first + j, limit, sums)) continue;
        for (int k = 0; k < std::min(kLanes, count - j); ++k) {
            if (sums[k] >= limit) continue;
            best.take(sums[k], place + j + k);
            limit = best.limit();
        }
    }
}

template <class Sample>
MMP_SIMD_LEVELS void average(const Best& best, const Sample* block, ptrdiff_t stride, int height,
                             int width, Sample* out) {
    const int round = best.count / 2;
    for (int i = 0; i < height; ++i) {
        std::make_unsigned_t<Wide<Sample>> sums[kMaxSide] = {};
        for (int k = 0; k < best.count; ++k)
            for (int j = 0; j < width; ++j) sums[j] += block[best.places[k] + i * stride + j];
        for (int j = 0; j < width; ++j)
            out[i * width + j] = Sample((sums[j] + round) / best.count);
    }
}

// The most significant eight bits of deep samples: a copy of the search area.
template <class Sample>
class Bytes {
public:
    static constexpr ptrdiff_t kStride =
        2 * kTemplateColumns + 2 * kMaxSide + kTemplateWidth + BlockPicture<Sample>::kReadBeyond;

    // Copies `rows` x `columns` samples from (row, column) on.
    Bytes(const BlockPicture<Sample>& picture, int row, int column, int rows, int columns)
        : row_(row), column_(column) {
        for (int i = 0; i < rows; ++i)
            shift(picture.at(row + i, column), columns, picture.depth.extra(),
                  values_ + i * kStride);
    }
    const uint8_t* at(int row, int column) const {
        return values_ + (row - row_) * kStride + column - column_;
    }
    ptrdiff_t stride() const { return kStride; }

private:
    static MMP_SIMD_LEVELS void shift(const Sample* from, int count, int extra, uint8_t* out) {
        for (int i = 0; i < count; ++i) out[i] = uint8_t(from[i] >> extra);
    }

    const int row_, column_;
    uint8_t values_[(kTemplateWidth + kTemplateRows + kMaxSide) * kStride];
};

// Samples of eight bits need no copy.
template <>
class Bytes<uint8_t> {
public:
    Bytes(const BlockPicture<uint8_t>& picture, int, int, int, int) : picture_(picture) {}
    const uint8_t* at(int row, int column) const { return picture_.at(row, column); }
    ptrdiff_t stride() const { return picture_.stride(); }

private:
    const BlockPicture<uint8_t>& picture_;
};

}  // namespace

bool templates_allowed(const BlockPlace& block, const Decoded& decoded) {
    if (std::min(block.row, block.column) < kTemplateWidth) return false;
    return decoded(first_of(block.row, kTemplateRows) + block.height() - 1,
                   first_of(block.column, kTemplateColumns) + block.width() - 1);
}

template <class Sample>
void predict_templates(const BlockPicture<Sample>& picture, const BlockPlace& block, int most,
                       const Decoded& decoded, Sample* out) {
    const int height = block.height(), width = block.width();
    const int first = first_of(block.column, kTemplateColumns);
    const int first_row = first_of(block.row, kTemplateRows);
    // Exclusive end of the decoded columns in the last row of the search area.
    int end = std::min(block.column + kTemplateColumns + width, picture.width);
    while (end > first && !decoded(first_row + height - 1, end - 1)) end -= kUnit;
    const int last_column = std::max(end, block.column + width);
    const Bytes<Sample> bytes(picture, first_row - kTemplateWidth, first - kTemplateWidth,
                              block.row + height - first_row + kTemplateWidth,
                              last_column - first + kTemplateWidth);
    const ptrdiff_t stride = bytes.stride();
    const Template wanted(bytes.at(block.row, block.column), stride, height, width);
    Best best(most, block);
    for (int row = first_row; row <= block.row; ++row) {
        while (end > first && !decoded(row + height - 1, end - 1)) end -= kUnit;
        const int count = std::min(end - width + 1, block.column + kTemplateColumns) - first;
        if (count <= 0) break;
        search_row(wanted, bytes.at(row, first), count,
                   (row - block.row) * picture.stride() + first - block.column, best);
    }
    best.drop_far();
    average(best, picture.at(block.row, block.column), picture.stride(), height, width, out);
}

template void predict_templates(const BlockPicture<uint8_t>&, const BlockPlace&, int,
                                const Decoded&, uint8_t*);
template void predict_templates(const BlockPicture<uint16_t>&, const BlockPlace&, int,
                                const Decoded&, uint16_t*);

}  // namespace mmp
