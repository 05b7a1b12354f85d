#include "cpu/blocks/templates.h"

#include <algorithm>

#include "cpu/runtime/simd.h"

namespace mmp {

namespace {

typedef uint8_t Bytes32 __attribute__((vector_size(32)));
constexpr int kLanes = sizeof(Bytes32);  // number of adjacent columns searched at once
constexpr int kPlaceColumns = 2 * kTemplateColumns, kPlaceRows = kTemplateRows + 1;  // of places
constexpr int16_t kNone = INT16_MAX;  // above every error

static_assert(BlockPicture<uint8_t>::kReadBeyond >= kLanes - 1);

// First row or column of the search area: `reach` before `at`, but inside the picture.
int first_of(int at, int reach) { return std::max(kTemplateWidth, at - reach); }

// Samples of a template: offsets from the block or place, and the values around the block.
struct Template {
    int count = 0;
    ptrdiff_t offsets[kTemplateSamples];
    uint8_t values[kTemplateSamples];

    Template(const uint8_t* block, ptrdiff_t stride, int height, int width) {
        const int down = template_step(height), across = template_step(width);
        for (int i = -kTemplateWidth; i < 0; ++i) {
            for (int j = -kTemplateWidth; j < 0; ++j) take(block, i * stride + j);
            for (int k = 0; k < width; k += across) take(block, i * stride + k);
            for (int k = 0; k < height; k += down) take(block, k * stride + i);
        }
    }

private:
    void take(const uint8_t* block, ptrdiff_t offset) {
        offsets[count] = offset;
        values[count++] = block[offset];
    }
};

// The least error of each column of places, and the number of its row, counted from the first row.
struct Columns {
    int16_t errors[2][kPlaceColumns / 2], rows[2][kPlaceColumns / 2];  // of even and odd columns
};

// Finds the best place of each of kLanes columns from `first` on. `place` points to the first place
// of the search area; row i has counts[i] places.
MMP_SIMD_LEVELS void search(const Template& t, const uint8_t* place, ptrdiff_t stride,
                            const int16_t* counts, int first, Columns& columns) {
    const Shorts16 even = 2 * Shorts16{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    Shorts16 least[2], rows[2] = {};
    for (Shorts16& errors : least) errors = Shorts16{} + kNone;
    for (int16_t row = 0; row < kPlaceRows && counts[row] > first; ++row) {
        const uint8_t* const from = place + row * stride + first;
        // A lane of `both` sums the differences of an odd column times 256 and of the even one.
        Words16 both = {}, odd = {};
        for (int k = 0; k < t.count; ++k) {
            const auto there = loaded<Bytes32>(from + t.offsets[k]);
            const Bytes32 here = Bytes32{} + t.values[k];
            const auto pairs = reinterpret_cast<Words16>((there > here ? there : here) -
                                                         (there < here ? there : here));
            both += pairs;
            odd += pairs >> 8;
        }
        const Shorts16 sums[2] = {reinterpret_cast<Shorts16>(both - (odd << 8)),
                                  reinterpret_cast<Shorts16>(odd)};
        for (int which = 0; which < 2; ++which) {
            const Shorts16 there = even + int16_t(which + first) < Shorts16{} + counts[row];
            const Shorts16 better = there & (sums[which] < least[which]);
            least[which] = better ? sums[which] : least[which];
            rows[which] = better ? Shorts16{} + row : rows[which];
        }
    }
    for (int which = 0; which < 2; ++which) {
        store(columns.errors[which] + first / 2, least[which]);
        store(columns.rows[which] + first / 2, rows[which]);
    }
}

// The places that are averaged, as offsets relative to the block.
struct Places {
    int count = 0;
    ptrdiff_t offsets[kMostTemplates];
};

// Takes the best of the columns that have a place. Among equal errors, the first in coding order
// wins. `first` is the offset of the first place of the search area.
Places best_places(const Columns& columns, int most, const BlockPlace& block, ptrdiff_t first,
                   ptrdiff_t stride) {
    uint32_t best[kMostTemplates];  // error, row, column
    int count = 0;
    for (uint32_t column = 0; column < kPlaceColumns; ++column) {
        const uint32_t error = columns.errors[column % 2][column / 2];
        const uint32_t row = columns.rows[column % 2][column / 2];
        const uint32_t key = (error * kPlaceRows + row) * kPlaceColumns + column;
        if (error == kNone || (count == most && key > best[count - 1])) continue;
        count = std::min(count + 1, most);
        int at = count - 1;
        for (; at > 0 && best[at - 1] > key; --at) best[at] = best[at - 1];
        best[at] = key;
    }
    const auto error_of = [](uint32_t key) { return int32_t(key / (kPlaceRows * kPlaceColumns)); };
    const int32_t furthest =
        furthest_template(error_of(best[0]), block.height(), block.width());
    Places places;
    while (places.count < count && error_of(best[places.count]) <= furthest) {
        const uint32_t key = best[places.count];
        places.offsets[places.count++] =
            first + ptrdiff_t(key / kPlaceColumns % kPlaceRows) * stride + key % kPlaceColumns;
    }
    return places;
}

template <class Sample>
MMP_SIMD_LEVELS void average(const Places& places, const Sample* block, ptrdiff_t stride, int height,
                             int width, Sample* out) {
    const int round = places.count / 2;
    for (int i = 0; i < height; ++i) {
        std::make_unsigned_t<Wide<Sample>> sums[kMaxSide] = {};
        for (int k = 0; k < places.count; ++k)
            for (int j = 0; j < width; ++j) sums[j] += block[places.offsets[k] + i * stride + j];
        for (int j = 0; j < width; ++j)
            out[i * width + j] = Sample((sums[j] + round) / places.count);
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
    const uint8_t* const place = bytes.at(first_row, first);
    const Template wanted(bytes.at(block.row, block.column), bytes.stride(), height, width);
    int16_t counts[kPlaceRows] = {};
    for (int row = first_row; row <= block.row; ++row) {
        while (end > first && !decoded(row + height - 1, end - 1)) end -= kUnit;
        const int count = std::min(end - width + 1, block.column + kTemplateColumns) - first;
        if (count <= 0) break;
        counts[row - first_row] = int16_t(count);
    }
    Columns columns;
    for (int from = 0; from < kPlaceColumns; from += kLanes)
        search(wanted, place, bytes.stride(), counts, from, columns);
    const ptrdiff_t offset = (first_row - block.row) * picture.stride() + first - block.column;
    const Places best = best_places(columns, most, block, offset, picture.stride());
    average(best, picture.at(block.row, block.column), picture.stride(), height, width, out);
}

template void predict_templates(const BlockPicture<uint8_t>&, const BlockPlace&, int,
                                const Decoded&, uint8_t*);
template void predict_templates(const BlockPicture<uint16_t>&, const BlockPlace&, int,
                                const Decoded&, uint16_t*);

}  // namespace mmp
