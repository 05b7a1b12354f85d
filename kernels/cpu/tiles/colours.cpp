#include "cpu/tiles/colours.h"

#include <string.h>

#include <algorithm>
#include <array>

#include "cpu/runtime/simd.h"
#include "cpu/tiles/checksum.h"

namespace mmp {

namespace {

constexpr int kAxes[3][3] = {{28, 35, -20}, {28, 0, 40}, {28, -35, -20}};
constexpr int kScale = 28, kReal = 128;
constexpr int kMatrixBits = 18;
constexpr int kShortDepth = 11;  // largest depth of a plane at which all sums fit int32_t
constexpr int kChunk = 512;      // pixels whose colours are converted at once

// Red, green and blue of one unit of each plane of fine luma, in 1/2^18.
using ColourMatrix = std::array<std::array<int32_t, 3>, 3>;

int64_t rounded(int64_t number, int64_t divisor) {
    const int64_t twice = 2 * number + divisor, by = 2 * divisor;
    return twice / by - (twice % by < 0);
}

ColourMatrix matrix_of(const int (&rotation)[3]) {
    const int64_t w = kReal, x = rotation[0], y = rotation[1], z = rotation[2];
    const int64_t turned[3][3] = {
        {w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
        {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
        {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
    const int64_t size = w * w + x * x + y * y + z * z;
    ColourMatrix found;
    for (int colour = 0; colour < 3; ++colour)
        for (int plane = 0; plane < 3; ++plane) {
            int64_t sum = 0;
            for (int i = 0; i < 3; ++i) sum += turned[colour][i] * kAxes[i][plane];
            found[colour][plane] = int32_t(rounded(sum * (1 << kMatrixBits), kScale * size));
        }
    return found;
}

// How colours of `depth` bits follow from three planes.
struct Conversion {
    Layout layout;
    int depth, of_planes;
    ColourMatrix matrix;
};

template <class Level>
using Colours = Level[3][kChunk];

template <class Sample, class Level>
MMP_INLINE void from_luma(const Sample* const (&planes)[3], int count, int depth,
                          Colours<Level>& out) {
    const int mid = 1 << (depth - 1), most = (1 << depth) - 1;
    for (int i = 0; i < count; ++i) {
        const int luma = planes[0][i], co = planes[1][i] - mid, cg = planes[2][i] - mid;
        const int mean = luma - cg;
        out[0][i] = Level(std::clamp(mean + co, 0, most));
        out[1][i] = Level(std::clamp(luma + cg, 0, most));
        out[2][i] = Level(std::clamp(mean - co, 0, most));
    }
}

template <class Sum, class Sample, class Level>
MMP_INLINE void from_fine_luma(const Sample* const (&planes)[3], int count, const Conversion& how,
                               Colours<Level>& out) {
    const int shift = kMatrixBits + how.of_planes - how.depth;
    const Sum most = (1 << how.depth) - 1, mid = Sum{1} << (how.of_planes - 1);
    for (int colour = 0; colour < 3; ++colour) {
        const Sum a = how.matrix[colour][0], b = how.matrix[colour][1], c = how.matrix[colour][2];
        const Sum more = Sum(int64_t{mid} * ((1 << kMatrixBits) - (a + b + c)) +
                             (int64_t{1} << (shift - 1)));
        for (int i = 0; i < count; ++i) {
            const Sum sum = a * planes[0][i] + b * planes[1][i] + c * planes[2][i] + more;
            out[colour][i] = Level(std::clamp<Sum>(sum >> shift, 0, most));
        }
    }
}

template <int Count, class Sample, class Level>
MMP_INLINE void interleave(const Sample* const (&planes)[kMostSamples], int count, Level* out) {
    for (int i = 0; i < count; ++i)
        for (int plane = 0; plane < Count; ++plane)
            out[i * Count + plane] = Level(planes[plane][i]);
}

template <class Sample, class Level>
MMP_INLINE void interleave_all(const Sample* const (&planes)[kMostSamples], int of_pixel, int count,
                               Level* out) {
    if (of_pixel == 4) return interleave<4>(planes, count, out);
    if (of_pixel == 3) return interleave<3>(planes, count, out);
    if (of_pixel == 2) return interleave<2>(planes, count, out);
    return interleave<1>(planes, count, out);
}

// Converts a row of three planes, and interleaves the colours with alpha, which may be null.
template <class Sample, class Level>
MMP_INLINE void convert_row(const Sample* const (&planes)[3], const Level* alpha, int width,
                            const Conversion& how, Level* out) {
    const int of_pixel = 3 + (alpha != nullptr);
    Colours<Level> colours;
    for (int start = 0; start < width; start += kChunk) {
        const int count = std::min(kChunk, width - start);
        const Sample* const own[3] = {planes[0] + start, planes[1] + start, planes[2] + start};
        if (how.layout == Layout::kLuma)
            from_luma(own, count, how.depth, colours);
        else if (how.of_planes <= kShortDepth)
            from_fine_luma<int32_t>(own, count, how, colours);
        else
            from_fine_luma<int64_t>(own, count, how, colours);
        const Level* const all[kMostSamples] = {colours[0], colours[1], colours[2],
                                                alpha ? alpha + start : nullptr};
        interleave_all(all, of_pixel, count, out + size_t(start) * of_pixel);
    }
}

// Template functions cannot be compiled for several SIMD levels.
#define MMP_CONVERT_ROW(Sample, Level)                                                           \
    MMP_SIMD_LEVELS void row_of(const Sample* const (&planes)[3], const Level* alpha, int width, \
                                const Conversion& how, Level* out) {                             \
        convert_row(planes, alpha, width, how, out);                                             \
    }
MMP_CONVERT_ROW(uint8_t, uint8_t)
MMP_CONVERT_ROW(uint16_t, uint8_t)
MMP_CONVERT_ROW(uint16_t, uint16_t)

#define MMP_INTERLEAVE_ROW(Sample, Level)                                                     \
    MMP_SIMD_LEVELS void row_of(const Sample* const (&planes)[kMostSamples], int of_pixel,    \
                                int width, Level* out) {                                      \
        interleave_all(planes, of_pixel, width, out);                                         \
    }
MMP_INTERLEAVE_ROW(uint8_t, uint8_t)
MMP_INTERLEAVE_ROW(uint16_t, uint8_t)
MMP_INTERLEAVE_ROW(uint16_t, uint16_t)

// Samples of fewer than 8 bits from samples of 8 bits.
std::array<uint8_t, 256> narrowing_to(int depth) {
    std::array<uint8_t, 256> found;
    const int white = (1 << depth) - 1;
    for (int sample = 0; sample < 256; ++sample) found[sample] = (sample * white + 127) / 255;
    return found;
}

template <class Level>
uint32_t crc_of(uint32_t crc, const Level* row, int count, std::vector<uint16_t>& swapped) {
    if constexpr (sizeof(Level) == 1) return crc32(crc, row, size_t(count));
    swapped.resize(size_t(count));
    for (int i = 0; i < count; ++i) swapped[i] = uint16_t(row[i] << 8 | row[i] >> 8);
    return crc32(crc, swapped.data(), 2 * size_t(count));
}

// Makes rows of coded levels, the samples of a pixel side by side.
template <class Level>
class RowJoiner {
public:
    RowJoiner(const PictureForm& form, const CodedTile& tile, const TilePlanes& planes)
        : form_(form),
          tile_(tile),
          planes_(planes),
          how_{tile.layout, form.coded_depth(), 0, {}},
          is_narrowed_(form.level_depth < 8 &&
                       !(tile.layout == Layout::kTogether && !tile.layers.empty() &&
                         tile.layers[0].is_lossless())),
          narrowed_(narrowing_to(std::min(form.level_depth, 8))) {
        if (!tile.layers.empty()) how_.of_planes = tile.layer_depth(form, 0);
        if (tile.layout == Layout::kFineLuma) how_.matrix = matrix_of(tile.rotation);
        if (planes.palette)
            colours_.assign(planes.palette->colours.begin(), planes.palette->colours.end());
    }

    void operator()(int64_t row, Level* out) const {
        const size_t start = size_t(row) * tile_.width;
        if (!planes_.palette) return of_layers(start, out);
        const uint16_t* numbers = planes_.palette->numbers.data() + start;
        if (tile_.palette->transparent) {
            of_layers(start, out);
        } else if (form_.has_alpha) {
            const Level* alpha = static_cast<const Level*>(planes_.layers[0]) + start;
            for (int i = 0; i < tile_.width; ++i)
                out[(i + 1) * form_.planes() - 1] = narrowed(alpha[i]);
        }
        if (form_.colours == 1)
            draw<1>(numbers, out);
        else
            draw<3>(numbers, out);
    }

private:
    void of_layers(size_t start, Level* out) const {
        const int planes = form_.planes();
        if (tile_.is_together(form_)) {
            const uint16_t* all[kMostSamples] = {};
            for (int plane = 0; plane < planes; ++plane) {
                // Lossless samples have green before red.
                const int from = planes >= 3 && plane < 2 ? 1 - plane : plane;
                all[plane] = static_cast<const uint16_t*>(planes_.layers[from]) + start;
            }
            return row_of(all, planes, tile_.width, out);
        }
        if (tile_.layout == Layout::kFineLuma) {
            converted<uint16_t>(start, out);
        } else if (tile_.layout == Layout::kLuma) {
            converted<Level>(start, out);
        } else {
            const Level* all[kMostSamples] = {};
            for (int plane = 0; plane < planes; ++plane)
                all[plane] = static_cast<const Level*>(planes_.layers[plane]) + start;
            row_of(all, planes, tile_.width, out);
        }
        if (is_narrowed_)
            for (int i = 0; i < tile_.width * planes; ++i) out[i] = narrowed(out[i]);
    }

    template <class Sample>
    void converted(size_t start, Level* out) const {
        const Sample* colours[3];
        for (int plane = 0; plane < 3; ++plane)
            colours[plane] = static_cast<const Sample*>(planes_.layers[plane]) + start;
        const auto* alpha = form_.has_alpha ? static_cast<const Level*>(planes_.layers[3]) + start
                                            : static_cast<const Level*>(nullptr);
        row_of(colours, alpha, tile_.width, how_, out);
    }

    template <int Count>
    void draw(const uint16_t* numbers, Level* out) const {
        const int step = form_.planes(), entries = tile_.palette->entries;
        for (int i = 0; i < tile_.width; ++i, out += step)
            if (numbers[i] < entries)
                memcpy(out, &colours_[size_t(numbers[i]) * Count], Count * sizeof(Level));
    }

    Level narrowed(Level sample) const {
        return is_narrowed_ ? Level(narrowed_[sample & 255]) : sample;
    }

    const PictureForm& form_;
    const CodedTile& tile_;
    const TilePlanes& planes_;
    Conversion how_;
    const bool is_narrowed_;
    const std::array<uint8_t, 256> narrowed_;
    std::vector<Level> colours_;
};

template <class Level, class Sample>
uint32_t join(const PictureForm& form, const CodedTile& tile, const TilePlanes& planes,
              const TilePlace& place, RowRange rows) {
    const RowJoiner<Level> joiner(form, tile, planes);
    const int of_pixel = form.planes(), of_row = tile.width * of_pixel;
    const bool is_direct = sizeof(Level) == sizeof(Sample) && form.first == 0 &&
                           place.width == tile.width && place.pixel_stride == of_pixel;
    std::vector<Level> line(of_row);
    std::vector<uint16_t> swapped;
    uint32_t crc = 0;
    for (int64_t row = rows.first; row < rows.last; ++row) {
        const bool is_shown = row >= place.row && row < place.row + place.height;
        Sample* to = static_cast<Sample*>(place.samples) + (row - place.row) * place.row_stride;
        Level* const from = is_shown && is_direct ? reinterpret_cast<Level*>(to) : line.data();
        joiner(row, from);
        crc = crc_of(crc, from, of_row, swapped);
        if (!is_shown || is_direct) continue;
        const Level* pixel = from + size_t(place.column) * of_pixel;
        for (int i = 0; i < place.width; ++i, pixel += of_pixel, to += place.pixel_stride)
            for (int plane = 0; plane < of_pixel; ++plane)
                to[plane] = Sample(pixel[plane] + form.first);
    }
    return crc;
}

template <class Sample>
void clear_samples(const PictureForm& form, const TilePlace& place) {
    for (int row = 0; row < place.height; ++row) {
        Sample* pixel = static_cast<Sample*>(place.samples) + row * place.row_stride;
        for (int i = 0; i < place.width; ++i, pixel += place.pixel_stride)
            std::fill_n(pixel, form.planes(), Sample{});
    }
}

}  // namespace

uint32_t join_rows(const PictureForm& form, const CodedTile& tile, const TilePlanes& planes,
                   const TilePlace& place, RowRange rows) {
    if (form.depth <= 8) return join<uint8_t, uint8_t>(form, tile, planes, place, rows);
    if (form.level_depth <= 8) return join<uint8_t, uint16_t>(form, tile, planes, place, rows);
    return join<uint16_t, uint16_t>(form, tile, planes, place, rows);
}

void clear(const PictureForm& form, const TilePlace& place) {
    if (form.depth <= 8)
        clear_samples<uint8_t>(form, place);
    else
        clear_samples<uint16_t>(form, place);
}

}  // namespace mmp
