#include "cpu/blocks/search/differences.h"

#include "cpu/runtime/hadamard.h"

namespace mmp {

namespace {

constexpr uint64_t kHorizontalFamily = (uint64_t{1} << kFirstVertical) - 1;

template <int Count, class Sample>
MMP_INLINE typename Row<Sample, Count>::Lanes samples_at(const Sample* from) {
    typename Row<Sample, Count>::Samples samples;
    memcpy(&samples, from, sizeof samples);
    return __builtin_convertvector(samples, typename Row<Sample, Count>::Lanes);
}

template <int Width, class Sample>
MMP_INLINE int32_t angle_difference(const Sample* source, const Wide<Sample>* places, int slope,
                                    int height, int width, Depth<Sample> depth,
                                    const AngleTables& tables) {
    using Lanes = typename Row<Sample, 16>::Lanes;
    using Part = typename Row<Sample, Width>::Lanes;
    Ints16 sums{};
    for (int i = 0; i < height; i += 4) {
        if constexpr (Width == 16) {
            for (int j = 0; j < width; j += 16) {
                Lanes rows[4];
                for (int k = 0; k < 4; ++k)
                    rows[k] = samples_at<16>(source + (i + k) * width + j) -
                              predicted_row<16>(places + j, slope, i + k, depth, tables);
                sums += __builtin_convertvector(hadamard_sizes_16(rows), Ints16);
            }
        } else if constexpr (Width == 8) {
            Part rows[4];
            for (int k = 0; k < 4; ++k)
                rows[k] = predicted_row<8>(places, slope, i + k, depth, tables);
            const Lanes upper = samples_at<16>(source + i * 8) - joined<Lanes>(rows[0], rows[1]);
            const Lanes lower =
                samples_at<16>(source + (i + 2) * 8) - joined<Lanes>(rows[2], rows[3]);
            sums += __builtin_convertvector(hadamard_sizes_8(upper, lower), Ints16);
        } else {
            using Pair = typename Row<Sample, 8>::Lanes;
            Part rows[4];
            for (int k = 0; k < 4; ++k)
                rows[k] = predicted_row<4>(places, slope, i + k, depth, tables);
            const Lanes all = joined<Lanes>(joined<Pair>(rows[0], rows[1]),
                                            joined<Pair>(rows[2], rows[3]));
            sums += __builtin_convertvector(
                hadamard_sizes_4(samples_at<16>(source + i * 4) - all), Ints16);
        }
    }
    return sum_of_lanes(sums) >> 1;
}

// Writes the differences of the angles of one family.
template <class Sample>
MMP_SIMD_LEVELS void family_differences(uint64_t angles, const Sample* source,
                                        AngleLine<Sample>& line, const Wide<Sample>* side,
                                        const Wide<Sample>* straight, int height, int width,
                                        Depth<Sample> depth, const AngleTables& tables,
                                        int32_t* differences) {
    for (; angles; angles &= angles - 1) {
        const int angle = __builtin_ctzll(angles), slope = angle_slope(angle);
        line.set_side(angle, side, height, height + width, tables);
        AngleLine<Sample> raw;
        // A straight angle never smooths its references.
        if (!slope) raw.set_main(straight, 0, height + width);
        const Wide<Sample>* places = slope ? line.places() : raw.places();
        differences[angle] =
            width == 4 ? angle_difference<4>(source, places, slope, height, width, depth, tables)
            : width == 8
                ? angle_difference<8>(source, places, slope, height, width, depth, tables)
                : angle_difference<16>(source, places, slope, height, width, depth, tables);
    }
}

}  // namespace

template <class Sample>
ModeDifferences<Sample>::ModeDifferences(const Sample* source,
                                         const References<Sample>& references,
                                         const References<Sample>& smooth, int a, int b,
                                         Depth<Sample> depth)
    : source_(source), references_(references), smooth_(smooth), a_(a), b_(b), depth_(depth) {}

template <class Sample>
void ModeDifferences<Sample>::prepare(bool vertical) {
    if (ready_[vertical]) return;
    ready_[vertical] = true;
    const int height = 1 << a_, width = 1 << b_, length = height + width;
    const auto& r = length < kSmoothedFrom ? references_ : smooth_;
    lines_[vertical].set_main(vertical ? r.above : r.left, r.corner, length);
    if (!vertical) transpose(source_, height, width, turned_);
}

template <class Sample>
void ModeDifferences<Sample>::of_angles(uint64_t angles, int32_t* differences) {
    const int height = 1 << a_, width = 1 << b_;
    const auto& r = height + width < kSmoothedFrom ? references_ : smooth_;
    if (const uint64_t across = angles & kHorizontalFamily) {
        prepare(false);
        family_differences(across, turned_, lines_[0], r.above, references_.left, width, height,
                           depth_, angle_tables(), differences);
    }
    if (const uint64_t down = angles & ~kHorizontalFamily) {
        prepare(true);
        family_differences(down, source_, lines_[1], r.left, references_.above, height, width,
                           depth_, angle_tables(), differences);
    }
}

template class ModeDifferences<uint8_t>;
template class ModeDifferences<uint16_t>;

}  // namespace mmp
