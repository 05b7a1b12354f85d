#include "cpu/blocks/search/differences.h"

#include "cpu/runtime/hadamard.h"

namespace mmp {

namespace {

constexpr uint64_t kHorizontalFamily = (uint64_t{1} << kFirstVertical) - 1;

// 16 source samples as a vector.
template <class Lanes, class Sample>
MMP_INLINE Lanes samples_at(const Sample* from) {
    return __builtin_convertvector(loaded<typename Row<Sample, 16>::Samples>(from), Lanes);
}

// Count predicted samples of row i as a vector with elements of type Lane.
template <int Count, class Lane, class Sample>
MMP_INLINE typename Vector<Lane, Count>::Type row_at(const Wide<Sample>* places, int slope, int i,
                                                     Depth<Sample> depth,
                                                     const AngleTables& tables) {
    using Lanes = typename Vector<Lane, Count>::Type;
    if constexpr (Count == 16 && !kIsByte<Sample>)  // a register has eight 32-bit lanes
        return joined<Lanes>(row_at<8, Lane>(places, slope, i, depth, tables),
                             row_at<8, Lane>(places + 8, slope, i, depth, tables));
    else
        return __builtin_convertvector(predicted_row<Count>(places, slope, i, depth, tables), Lanes);
}

// Sum of absolute Hadamard coefficients of source minus prediction by one angle, in lanes of type
// Lane.
template <int Width, class Lane, class Sample>
MMP_INLINE int32_t angle_difference(const Sample* source, const Wide<Sample>* places, int slope,
                                    int height, int width, Depth<Sample> depth,
                                    const AngleTables& tables) {
    using Lanes = typename Vector<Lane, 16>::Type;
    using Half = typename Vector<Lane, 8>::Type;
    const auto row = [&](int i, int j) MMP_INLINED {
        return row_at<Width, Lane>(places + j, slope, i, depth, tables);
    };
    Ints8 sums{};
    for (int i = 0; i < height; i += 4) {
        if constexpr (Width == 16) {
            for (int j = 0; j < width; j += 16) {
                Lanes rows[4];
                for (int k = 0; k < 4; ++k)
                    rows[k] = samples_at<Lanes>(source + (i + k) * width + j) - row(i + k, j);
                sums += sums_of_two(hadamard_sizes_16(rows));
            }
        } else if constexpr (Width == 8) {
            const Lanes upper =
                samples_at<Lanes>(source + i * 8) - joined<Lanes>(row(i, 0), row(i + 1, 0));
            const Lanes lower = samples_at<Lanes>(source + (i + 2) * 8) -
                                joined<Lanes>(row(i + 2, 0), row(i + 3, 0));
            sums += sums_of_two(hadamard_sizes_8(upper, lower));
        } else {
            const Lanes all = joined<Lanes>(joined<Half>(row(i, 0), row(i + 1, 0)),
                                            joined<Half>(row(i + 2, 0), row(i + 3, 0)));
            sums += sums_of_two(hadamard_sizes_4(samples_at<Lanes>(source + i * 4) - all));
        }
    }
    return sum_of_lanes(sums) >> 1;
}

template <class Lane, class Sample>
MMP_INLINE int32_t angle_difference(const Sample* source, const Wide<Sample>* places, int slope,
                                    int height, int width, Depth<Sample> depth,
                                    const AngleTables& tables) {
    const auto of = [&]<int Width>() MMP_INLINED {
        return angle_difference<Width, Lane>(source, places, slope, height, width, depth, tables);
    };
    return width == 4   ? of.template operator()<4>()
           : width == 8 ? of.template operator()<8>()
                        : of.template operator()<16>();
}

// Writes the Hadamard differences of the angles of one family (horizontal or vertical).
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
        // The straight angles (horizontal, vertical) never use smoothed references.
        if (!slope) raw.set_main(straight, 0, height + width);
        const Wide<Sample>* places = slope ? line.places() : raw.places();
        differences[angle] =
            depth.bits() <= kShortSizes
                ? angle_difference<int16_t>(source, places, slope, height, width, depth, tables)
                : angle_difference<Wide<Sample>>(source, places, slope, height, width, depth,
                                                 tables);
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
