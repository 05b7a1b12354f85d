#include "cpu/blocks/trained_transforms.h"

#include <algorithm>
#include <utility>

#include "cpu/blocks/levels.h"
#include "cpu/runtime/simd.h"
#include "shared/tables.h"

namespace mmp {

namespace {

constexpr int kLowSide = 6;  // maximum number of rows or columns of low frequencies
constexpr int kMostLow = kLowSide * kLowSide, kLowStride = 40;
constexpr int kGroups = 5;  // number of groups of modes
constexpr int kEntryBits = 7;  // fixed point: 128 represents 1

int group_of(int mode) {
    if (mode >= kTemplates) return 1;
    if (mode < kFirstAngle) return 0;
    const int apart = std::abs(angle_of(mode) - kFirstVertical);  // distance from the diagonal
    return apart < 6 ? 2 : apart < 11 ? 3 : 4;
}

// Whether the mode uses the transform of its mirror image: rows and columns are swapped.
bool is_turned(int a, int b, int mode) {
    return angle_of(mode) < 0 ? a > b : angle_of(mode) < kFirstVertical;
}

// Transform matrix: a row for each low frequency and, in `turned` (its transpose), a row for each
// transformed value.
struct TrainedTransform {
    alignas(64) int16_t rows[kMostLow][kLowStride] = {}, turned[kMostLow][kLowStride] = {};
};

// Indices of the low frequencies of a block shape: row by row, and in scan order.
struct LowPlaces {
    int count;
    uint16_t by_row[kMostLow], scanned[kMostLow];
};

struct TrainedTables {
    // Indexed by group, and by whether there are six rows, and six columns, of low frequencies.
    TrainedTransform transforms[kGroups][2][2];
    LowPlaces places[2][kShapes];  // [0]: block as it is; [1]: rows and columns swapped

    TrainedTables() {
        const uint8_t* entry = kTrainedTransforms;
        for (int group = 0; group < kGroups; ++group)
            for (const auto& [high, wide] : {std::pair{0, 0}, {0, 1}, {1, 0}, {1, 1}}) {
                if (group < 2 && high > wide) continue;  // only the mirror image is used
                auto& [rows, turned] = transforms[group][high][wide];
                const int count = (high ? kLowSide : 4) * (wide ? kLowSide : 4);
                for (int k = 0; k < count; ++k)
                    for (int m = 0; m < count; ++m) rows[k][m] = turned[m][k] = int8_t(*entry++);
            }
        for (int a = kMinSideLog2; a <= kMaxSideLog2; ++a)
            for (int b = kMinSideLog2; b <= kMaxSideLog2; ++b)
                for (const int turned : {0, 1})
                    find_places(a, b, turned, places[turned][shape_number(a, b)]);
    }

    static void find_places(int a, int b, bool turned, LowPlaces& low) {
        const int columns = scan_of(a, b).columns;
        const int high = smaller(1 << (turned ? b : a), kLowSide);
        const int wide = smaller(1 << (turned ? a : b), kLowSide);
        const auto place = [&](int i, int j) { return turned ? j * columns + i : i * columns + j; };
        std::pair<int, int> order[kMostLow];
        low.count = 0;
        for (int i = 0; i < high; ++i)
            for (int j = 0; j < wide; ++j) {
                const int frequency = turned ? (i << a) + (j << b) : (i << b) + (j << a);
                order[low.count] = {frequency, low.count};
                low.by_row[low.count++] = uint16_t(place(i, j));
            }
        std::sort(order, order + low.count);
        for (int k = 0; k < low.count; ++k) low.scanned[k] = low.by_row[order[k].second];
    }
};

const TrainedTables& tables() {
    static const TrainedTables made;
    return made;
}

// Writes the first 8 * Parts columns of values * rows (vector times matrix). Sums fit 32 bits.
template <int Parts>
MMP_INLINE void combine_columns(const int16_t (*rows)[kLowStride], const int16_t* values, int count,
                                int16_t* out) {
    Ints8 sums[Parts];
    for (Ints8& sum : sums) sum = Ints8{} + (1 << (kEntryBits - 1));
    while (count && !values[count - 1]) --count;
    for (int i = 0; i < count; ++i)
        for (int part = 0; part < Parts; ++part)
            sums[part] +=
                __builtin_convertvector(loaded<Shorts8>(rows[i] + 8 * part), Ints8) * values[i];
    for (int part = 0; part < Parts; ++part) {
        const Ints8 most = Ints8{} + kMaxCoefficient;
        Ints8 value = sums[part] >> kEntryBits;
        value = value > -most ? value : -most;
        store(out + 8 * part, __builtin_convertvector(value < most ? value : most, Shorts8));
    }
}

MMP_SIMD_LEVELS void combine(const int16_t (*rows)[kLowStride], const int16_t* values, int count,
                             int16_t* out) {
    if (count <= 16)
        combine_columns<2>(rows, values, count, out);
    else
        combine_columns<kLowStride / 8>(rows, values, count, out);
}

void transform(int16_t* coefficients, int a, int b, int mode, bool back) {
    const bool turned = is_turned(a, b, mode);
    const LowPlaces& low = tables().places[turned][shape_number(a, b)];
    const bool high = (turned ? b : a) > kMinSideLog2, wide = (turned ? a : b) > kMinSideLog2;
    const TrainedTransform& trained = tables().transforms[group_of(mode)][high][wide];
    const uint16_t *from = back ? low.scanned : low.by_row, *to = back ? low.by_row : low.scanned;
    int16_t values[kMostLow], results[kLowStride];
    for (int k = 0; k < low.count; ++k) values[k] = coefficients[from[k]];
    combine(back ? trained.rows : trained.turned, values, low.count, results);
    for (int k = 0; k < low.count; ++k) coefficients[to[k]] = results[k];
}

}  // namespace

void trained_forward(int16_t* coefficients, int a, int b, int mode) {
    transform(coefficients, a, b, mode, false);
}

void trained_inverse(int16_t* coefficients, int a, int b, int mode) {
    transform(coefficients, a, b, mode, true);
}

}  // namespace mmp
