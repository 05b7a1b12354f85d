// The probability of a pixel, mixed from templates and from places that look alike. Source: section
// "Two values", "Contexts" and "Mixing", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/lossless/two_values/places.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kLeastOfPixel = 2;  // least probability of a bit, in 1/65536
constexpr int kMostSlowUses = 250;
constexpr int kMostPixelWeight = 448000;
constexpr int kPixelStates = 256;  // of history: how many zeros and ones a state saw lately

// A slow model: probability xor 32768, then its uses. So one that never learned is 0.
struct SlowModel {
    uint16_t stored = 0;
    uint16_t uses = 0;

    MMP_INLINE int one() const { return stored ^ 0x8000; }
    MMP_INLINE int odds() const { return kMix.stretch[stored >> 4]; }
    static SlowModel of(int one) { return {uint16_t(one ^ 0x8000), 0}; }
    MMP_INLINE void learn(int bit);
};

struct PixelTables {
    PixelTables();
    uint16_t slow_rates[256];             // of slow models, by their uses
    uint16_t weight_rates[kRates];        // by the number of bits that the weights saw
    uint16_t history[kPixelStates];       // probability that a slow model of history starts from
    uint8_t next[2][kPixelStates];        // history after a bit
};
extern const PixelTables kPixel;

MMP_INLINE void SlowModel::learn(int bit) {
    const int now = one();
    const int64_t moved = now + ((int64_t{(bit << 16) - now} * kPixel.slow_rates[uses]) >> 16);
    stored = uint16_t(std::clamp<int64_t>(moved, 1, 65535) ^ 0x8000);
    uses += uses < kMostSlowUses;
}

// Returns the step of weights in 1/2048 for an input of 1.
MMP_INLINE int weight_gain(uint16_t& seen, int bit, int mixed) {
    const int gain =
        (kPixel.weight_rates[seen] * ((bit << 16) - kMix.squash[mixed + kMostMixed])) >> 8;
    seen += seen < kRates - 1;
    return gain;
}
MMP_INLINE int moved_weight(int weight, int input, int gain) {
    return std::clamp(weight + ((input * gain + 1024) >> 11), -kMostPixelWeight, kMostPixelWeight);
}

// Which pixels around the coded one each template has, by row from the coded one upwards. Bit i of
// a row is the pixel in column i - 15, without the one to the left.
template <int Count>
struct Templates {
    static constexpr int kRows = 11, kSide = 15;
    uint32_t masks[Count][kRows] = {};

    constexpr explicit Templates(const std::array<int, Count>& sizes) {
        for (int up = 0; up < kRows; ++up)
            for (int column = -kSide; column <= (up ? kSide : -1); ++column) {
                const int rank = rank_of(up, column);
                for (int t = 0; t < Count; ++t)
                    if (rank < sizes[t] && (up || column != -1))
                        masks[t][up] |= 1u << (column + kSide);
            }
    }

private:
    // Returns how many decoded pixels are nearer than this one; of those as near, the ones in lower
    // rows come first, then those to the left.
    static constexpr int rank_of(int up, int column) {
        int rank = 0;
        const int far = up * up + column * column;
        for (int i = 0; i < kRows; ++i)
            for (int j = -kSide; j <= (i ? kSide : -1); ++j) {
                const int other = i * i + j * j;
                rank += other < far || (other == far && (i < up || (i == up && j < column)));
            }
        return rank;
    }
};

// What the contexts of a form are made of, as the table of the section has it.
struct TwoValuesForm {
    int templates, sizes[7], places, sets, certain;
};
constexpr TwoValuesForm kTwoValuesForms[3] = {
    {2, {12, 48}, 1, 1, 2048},
    {4, {10, 18, 34, 72}, 3, 2, 512},
    {7, {8, 12, 18, 28, 44, 72, 110}, 6, 3, 0},
};

// Rows of the plane around a pixel, as numbers of bits.
struct PixelsAround {
    MMP_INLINE PixelsAround(const uint8_t* row, int64_t stride, int column)
        : own(uint32_t(bits(row, column - 3, 3))),
          up(uint32_t(bits(row - stride, column - 2, 5))),
          second(uint32_t(bits(row - 2 * stride, column - 1, 3))) {}

    const uint32_t own, up, second;  // columns -3 to -1, -2 to 2, and -1 to 1
};

template <int Form>
class Mixing {
public:
    static constexpr TwoValuesForm kForm = kTwoValuesForms[Form - 1];
    static constexpr int kTemplates = kForm.templates, kSets = kForm.sets;
    static constexpr int kModels = kTemplates + (kForm.places > 1 ? 8 : 4);
    using List = PlaceList<kForm.places>;

    struct Line {
        uint16_t check, unused;
        uint32_t states[2];  // by the pixel to the left
    };
    struct TemplateLines {
        Line* lines[kTemplates];
        uint16_t checks[kTemplates];
    };
    struct PlaceLines {
        Line* lines[kModels - kTemplates];
        uint16_t checks[kModels - kTemplates];
        int near_class, vote;
    };

    explicit Mixing(int line_bits)
        : line_bits_(line_bits),
          lines_(size_t{kModels} << line_bits_, true),
          stages_(zeroed<uint16_t>(size_t{2048} * kStages)),
          history_(kModels * kPixelStates) {
        for (int model = 0; model < kModels; ++model)
            for (int state = 0; state < kPixelStates; ++state)
                history_[model * kPixelStates + state] = SlowModel::of(kPixel.history[state]);
        constexpr int kStart = 1572864 / (5 * (kModels + 3));
        for (int set = 0; set < kSets; ++set)
            for (int row = 0; row < kRowsOfSet[set]; ++row)
                std::fill_n(weights(set, row), kLanes, kStart);
        std::fill_n(shares_, std::size(shares_), 65536 / kSets);
    }

    // Finds the lines of the templates of a pixel, and fetches them. They do not depend on the
    // pixel to the left. `phase` is what the contexts have besides templates: k in the format.
    MMP_INLINE TemplateLines find_lines(const RowsAround& all, int phase) const {
        static constexpr Templates<kTemplates> kMasks{sizes()};
        uint64_t sums[kTemplates];
        for (int t = 0; t < kTemplates; ++t) sums[t] = uint64_t(phase) << 40;
#pragma GCC unroll 11
        for (int up = 0; up < kMasks.kRows; ++up) {
            const uint32_t around = uint32_t(all.of(up, -kMasks.kSide, 2 * kMasks.kSide + 1));
#pragma GCC unroll 7
            for (int t = 0; t < kTemplates; ++t)
                if (kMasks.masks[t][up])
                    sums[t] += (around & kMasks.masks[t][up]) * kFactors[up];
        }
        TemplateLines found;
#pragma GCC unroll 7
        for (int t = 0; t < kTemplates; ++t) found.lines[t] = line(t, sums[t], found.checks[t]);
        return found;
    }

    // Finds the lines of the models by places, and fetches them.
    MMP_INLINE PlaceLines find_lines(const BitRows& rows, const List& list,
                                     const PixelsAround& around) const {
        const PlaceContexts places(rows, list, around);
        PlaceLines found;
        found.near_class = places.near_class;
        found.vote = places.vote;
#pragma GCC unroll 8
        for (int i = 0; i < kModels - kTemplates; ++i)
            found.lines[i] = line(kTemplates + i, places.contexts[i], found.checks[i]);
        return found;
    }

    // Returns the probability of a 1. `g` is 0 if the pixel's group was not broken there, else 1 +
    // the value of the group.
    MMP_INLINE int predict(const TemplateLines& templates, const PlaceLines& places,
                           const PixelsAround& around, int g, int column) {
        const int left = around.own >> 2;
        const int near_class = places.near_class;
        Line* found[kModels];
        uint16_t checks[kModels];
#pragma GCC unroll 8
        for (int i = kTemplates; i < kModels; ++i) {
            found[i] = places.lines[i - kTemplates];
            checks[i] = places.checks[i - kTemplates];
        }
#pragma GCC unroll 7
        for (int i = 0; i < kTemplates; ++i) {
            found[i] = templates.lines[i];
            checks[i] = templates.checks[i];
        }
        alignas(64) uint32_t found_odds[kLanes] = {};
#pragma GCC unroll 15
        for (int i = 0; i < kModels; ++i) {
            Line& line = *found[i];
            const bool known = line.check == checks[i];
            line.check = checks[i];
            const uint32_t state = known ? line.states[left] : 0;
            line.states[!left] = known ? line.states[!left] : 0;
            states_[i] = &line.states[left];
            past_[i] = &history_[i * kPixelStates + (state >> 23)];
            words_[i] = state;
            words_[kHalf + i] = loaded<uint32_t>(past_[i]);
            found_odds[i] = kMix.stretch[uint16_t(state) >> 4];
            found_odds[kHalf + i] = past_[i]->odds();
        }
        for (int i = 0; i < kHalf; i += kStep) {
            const Ints uses = loaded<Ints>(words_ + i) >> 16 & 127;
            const Ints odds = loaded<Ints>(found_odds + i);
            const Ints few = uses > 2 ? odds : odds * 5 >> 3;
            store(inputs_ + i, uses ? few : Ints{});
            store(inputs_ + kHalf + i, uses ? loaded<Ints>(found_odds + kHalf + i) : Ints{});
        }
        inputs_[kModels] = 80;
        int longest = 0;
#pragma GCC unroll 7
        for (int i = 0; i < kTemplates; ++i)
            if ((words_[i] >> 16 & 127) >= 2) longest = i + 1;

        const uint32_t w = left, a = around.up >> 1 & 7;
        const int rows_of[3] = {
            g ? 128 + 8 * g + (column & 7) : 17 * near_class + places.vote,
            int(w + 2 * (around.own >> 1 & 1) + 4 * a + 32 * (around.second >> 1 & 1)),
            8 * longest + near_class};
        for (int set = 0; set < kSets; ++set) {
            row_[set] = rows_of[set];
            mixed_[set] = mixed(weights(set, row_[set]));
        }
        share_ = &shares_[(16 * near_class + 2 * a + w) * kSets];
        together_ = mixed_[0];
        if constexpr (kSets > 1) {
            int64_t sum = 0;
            for (int set = 0; set < kSets; ++set) sum += int64_t{share_[set]} * mixed_[set];
            together_ = int(std::clamp<int64_t>(sum >> 16, -kMostMixed, kMostMixed));
        }
        const int t = std::clamp(together_ + 2048, 0, 4095), k = t >> 7, f = t & 127;
        const uint32_t stage = w + 2 * (around.own & 3) + 8 * around.up + 256 * around.second;
        uint16_t* stages = &stages_[stage * kStages + k];
        const int low = uint16_t(stages[0] + start_of_stage(k));
        const int high = uint16_t(stages[1] + start_of_stage(k + 1));
        stage_ = stages + (f >= 64);
        stage_start_ = start_of_stage(k + (f >= 64));
        const int staged = ((128 - f) * low + f * high) >> 7;
        return (kMix.squash[together_ + kMostMixed] + staged) >> 1;
    }

    // Updates models and weights by the pixel.
    MMP_INLINE void learn(int bit) {
        const int target = bit << 16;
        const int stage = uint16_t(*stage_ + stage_start_);
        *stage_ = uint16_t(stage + ((std::min(target, 65535) - stage) >> 6) - stage_start_);
        if constexpr (kSets > 1) {
            const int error = (target - kMix.squash[together_ + kMostMixed]) >> 2;
            for (int set = 0; set < kSets; ++set)
                share_[set] = std::clamp(share_[set] + ((mixed_[set] * error + 32768) >> 16),
                                         -131072, 131072);
        }
        for (int set = 0; set < kSets; ++set) {
            const int gain = weight_gain(bits_seen_[set][row_[set]], bit, mixed_[set]);
            int32_t* w = weights(set, row_[set]);
            for (int i = 0; i < kLanes; i += kStep) {
                const Ints step = (loaded<Ints>(inputs_ + i) * gain + 1024) >> 11;
                Ints moved = loaded<Ints>(w + i) + step;
                moved = moved < -kMostPixelWeight ? Ints{} - kMostPixelWeight : moved;
                store(w + i, moved > kMostPixelWeight ? Ints{} + kMostPixelWeight : moved);
            }
        }
        for (int i = 0; i < kHalf; i += kStep) {
            store(words_ + i, learned<3, kMostModelUses, kLeastOfModel>(words_ + i, bit));
            store(words_ + kHalf + i,
                  learned<9, kMostSlowUses, 1>(words_ + kHalf + i, bit));
        }
#pragma GCC unroll 15
        for (int i = 0; i < kModels; ++i) {
            const ptrdiff_t seen = past_[i] - &history_[i * kPixelStates];
            *states_[i] = words_[i] | uint32_t{kPixel.next[bit][seen]} << 23;
            store(past_[i], words_[kHalf + i]);
        }
    }

private:
    // Lanes of states, of which the one behind the last is the constant input; then of history.
    static constexpr int kStep = 8, kHalf = (kModels + kStep) / kStep * kStep, kLanes = 2 * kHalf;
    static constexpr int kRowsOfSet[3] = {152, 64, 64};
    static constexpr int kFirstRow[3] = {0, 152, 216};
    using Ints = Ints8;

    static constexpr std::array<int, kTemplates> sizes() {
        std::array<int, kTemplates> found{};
        for (int t = 0; t < kTemplates; ++t) found[t] = kForm.sizes[t];
        return found;
    }
    static MMP_INLINE int start_of_stage(int k) {
        return kMix.squash[std::clamp(128 * (k - 16), -kMostMixed, kMostMixed) + kMostMixed];
    }

    // The contexts of the models by places.
    struct PlaceContexts {
        MMP_INLINE PlaceContexts(const BitRows& rows, const List& list,
                                 const PixelsAround& around) {
            uint64_t around_places[kForm.places] = {};
            uint32_t shares[kForm.places], all = 1;
            for (int i = 0; i < list.count; ++i) {
                const BitsFrom from(rows.row(list.places[i].row), rows.stride(),
                                    list.places[i].column - 2);
                for (int down = 2; down >= -2; --down)
                    around_places[i] = around_places[i] << 5 | from.of(down, 5);
                const int further = list.places[i].distance - list.places[0].distance;
                all += shares[i] = 256u >> std::min(8, further / 7);
            }
            near_class = class_of(list, 0);
            const uint32_t a = around.up >> 1 & 7;
            const uint64_t b = (around.own >> 1 & 1) | around.up << 1 | around.second << 6;
            const uint64_t count = uint64_t(list.count) << 60, near = near_class;
            const uint64_t first = around_places[0];
            contexts[0] = count + (near << 32) + (uint64_t{a} << 25) + (first & kDiamond);
            contexts[1] = count + (near >> 1 << 40) + (b << 25) + (first & kSquare);
            contexts[2] = count + (b << 25) + first;
            const uint64_t second = kForm.places > 1 ? around_places[kForm.places > 1] : 0;
            const uint64_t next = kForm.places > 1 ? class_of(list, 1) : 7;
            contexts[3] = (next << 26) + ((second >> kCentre & 1) << 24) + (b << 8) + (near << 4) +
                          (first >> kCentre & 1);
            vote = 16;
            const auto votes = [&](int down, int right, uint32_t most) MMP_INLINED {
                if (!list.count) return uint32_t{0};
                uint32_t sum = 0;
                for (int i = 0; i < list.count; ++i)
                    sum += around_places[i] >> (kCentre + 5 * down + right) & 1 ? shares[i] : 0;
                return sum * most / all;
            };
            if (list.count) vote = int(votes(0, 0, 16));
            if constexpr (kForm.places > 1) {
                contexts[4] = count + (next << 32) + (uint64_t{a} << 25) + (second & kDiamond);
                contexts[5] = count + ((second & kSquare) << 25) + (first & kSquare);
                contexts[6] = (b << 16) + (near << 8) + vote;
                const uint64_t parts = votes(0, 1, 4) + 4 * votes(1, 0, 4) + 16 * votes(1, 1, 3) +
                                       64 * votes(1, -1, 3) + 256 * votes(-1, 0, 3);
                contexts[7] = (uint64_t{a} << 20) + (parts << 8) + vote;
            }
        }

        uint64_t contexts[kModels - kTemplates];
        int near_class, vote;

    private:
        // Bits of the 5x5 pixels around a place.
        static constexpr int kCentre = 12;
        static constexpr uint64_t kSquare = 14 << 5 | 14 << 10 | 14 << 15;
        static constexpr uint64_t kDiamond = 4 | kSquare | 31 << 10 | 4 << 20;

        static MMP_INLINE int class_of(const List& list, int number) {
            if (number >= list.count) return 7;
            const int d = list.places[number].distance;
            return (0 < d) + (2 < d) + (5 < d) + (9 < d) + (15 < d) + (24 < d);
        }
    };

    MMP_INLINE Line* line(int model, uint64_t context, uint16_t& check) const {
        uint64_t y = context * kFactors[0];
        y = (y ^ (y >> 29)) * kFactors[1];
        check = uint16_t(y >> 8);
        Line* found = &lines_[(size_t(model) << line_bits_) + (y >> (64 - line_bits_))];
        __builtin_prefetch(found);
        return found;
    }

    // Returns models after a bit: probabilities xor 32768, then uses. The probability of the bit
    // that did not occur shrinks; its product fits 32 bits.
    template <int Divisor, int MostUses, int Least>
    static MMP_INLINE Unsigned8 learned(const uint32_t* models, int bit) {
        const Unsigned8 words = loaded<Unsigned8>(models);
        const Unsigned8 uses = words >> 16 & (MostUses > 127 ? 255 : 127);
        // A quotient that is not whole is 1 / divisor or more below the next integer. Rounding
        // moves it by 2^-6 / divisor at most, in any mode, so its whole part is right.
        const Floats8 divisor = __builtin_convertvector(Ints8(2 * uses + Divisor), Floats8);
        const Unsigned8 rate = Unsigned8(__builtin_convertvector(131072 / divisor, Ints8));
        const uint32_t wrong = bit ? 65536 : 0, sign = bit ? ~0u : 0;
        Unsigned8 other = (((words & 65535) ^ 0x8000) ^ sign) - sign + wrong;
        other -= (other * rate + (bit ? 0 : 65535)) >> 16;
        Unsigned8 moved = ((other - wrong) ^ sign) - sign;
        moved = moved < Least ? Unsigned8{} + Least : moved;
        moved = moved > 65536 - Least ? Unsigned8{} + (65536 - Least) : moved;
        const Unsigned8 next = uses < MostUses ? uses + 1 : uses;
        return (moved ^ 0x8000) | next << 16;
    }

    MMP_INLINE int32_t* weights(int set, int row) {
        return &weights_[(kFirstRow[set] + row) * kLanes];
    }
    MMP_INLINE int mixed(const int32_t* weights) const {
        Ints sums{};
        for (int i = 0; i < kLanes; i += kStep)
            sums += (loaded<Ints>(weights + i) >> 4) * loaded<Ints>(inputs_ + i);
        int sum = 0;
        for (int i = 0; i < kStep; ++i) sum += sums[i];
        return std::clamp(sum >> 14, -kMostMixed, kMostMixed);
    }

    const int line_bits_;
    ZeroedLines<Line> lines_;
    Zeroed<uint16_t> stages_;  // without their start
    std::vector<SlowModel> history_;
    alignas(64) int32_t weights_[280 * kLanes] = {};
    uint16_t bits_seen_[3][152] = {};
    int32_t shares_[128 * kSets];

    // What predict() leaves for learn().
    alignas(64) int32_t inputs_[kLanes] = {};
    uint32_t* states_[kModels];
    SlowModel* past_[kModels];
    alignas(64) uint32_t words_[kLanes] = {};
    int mixed_[3], row_[3], together_;
    int32_t* share_;
    uint16_t* stage_;
    int stage_start_;
};

}  // namespace mmp
