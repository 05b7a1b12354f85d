// Prediction of the rows of a block by an angular mode, in a header so that each SIMD level
// compiles it. Rows are those of the vertical family of angles; blocks of the horizontal family are
// transposed.
#pragma once

#include <string.h>

#include "cpu/blocks/prediction.h"
#include "cpu/runtime/simd.h"

namespace mmp {

struct AngleTables {
    int8_t taps[32][4];
    // beside[angle][k]: index of the side reference that is projected to place -k of the reference
    // line.
    uint8_t beside[kAngles][kMaxSide + 3];

    AngleTables();
};
const AngleTables& angle_tables();

// The reference line of an angle: place 0 is the corner, places from 1 on are the main side (above,
// for vertical angles), places below 0 are projected samples of the other side.
template <class Sample>
class AngleLine {
public:
    // Number of places after the last one that vector loads may read; their values do not matter.
    static constexpr int kReadBeyond = 16;

    MMP_INLINE void set_main(const Wide<Sample>* main, int corner, int length) {
        Wide<Sample>* r = at_zero();
        r[0] = Wide<Sample>(corner);
        memcpy(r + 1, main, length * sizeof *r);
        for (int i = length + 1; i < length + 4; ++i) r[i] = main[length - 1];
    }
    // Projects the samples of the other side to the places below 0 that blocks of this height use.
    MMP_INLINE void set_side(int angle, const Wide<Sample>* side, int height, int length,
                             const AngleTables& tables) {
        const int slope = angle_slope(angle);
        if (slope >= 0) return;
        const uint8_t* beside = tables.beside[angle];
        for (int k = 1; k <= ((height * -slope) >> 5) + 2; ++k)
            at_zero()[-k] = side[smaller(beside[k], length - 1)];
    }
    MMP_INLINE const Wide<Sample>* places() const { return places_ + kBefore; }

private:
    static constexpr int kBefore = kMaxSide + 8;
    MMP_INLINE Wide<Sample>* at_zero() { return places_ + kBefore; }

    Wide<Sample> places_[kBefore + 2 * kMaxSide + 4 + kReadBeyond];
};

// Predicts Count samples of row i; `places` points to place 0 of a reference line. For 8-bit
// samples, the weighted sums fit 16 bits.
template <int Count, class Sample>
MMP_INLINE typename Row<Sample, Count>::Lanes predicted_row(const Wide<Sample>* places, int slope,
                                                            int i, Depth<Sample> depth,
                                                            const AngleTables& tables) {
    using Lanes = typename Row<Sample, Count>::Lanes;
    const int position = (i + 1) * slope;
    const Wide<Sample>* from = places + (position >> 5);
    const int8_t* taps = tables.taps[position & 31];
    Lanes sum = Lanes{} + Wide<Sample>{32};
    for (int tap = 0; tap < 4; ++tap) {
        Lanes samples;
        memcpy(&samples, from + tap, sizeof samples);
        sum += samples * Wide<Sample>{taps[tap]};
    }
    sum >>= 6;
    const Wide<Sample> most = Wide<Sample>(depth.most());
    sum = sum < 0 ? Lanes{} : sum;
    return sum > most ? Lanes{} + most : sum;
}

}  // namespace mmp
