// A pixel that no candidate gives: the samples of its planes, bit by bit. Source: section
// "Repeating pixels", "Escaped pixels", of docs/format/format.md.
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/lossless/pixels/mixing.h"
#include "cpu/lossless/pixels/places.h"
#include "cpu/lossless/pixels/colours.h"
#include "cpu/lossless/pixels/settings.h"
#include "cpu/lossless/pixels/shapes.h"

namespace mmp::pixels {

constexpr int kValueContexts = 9, kPredictors = 4, kScales = 16;

// The mean error of a predictor, in 1/256.
struct Scale {
    int32_t mean = 0, uses = 0;

    MMP_INLINE void learn(int error) {
        mean += int32_t((int64_t{error * 256 - mean} * (131072 / (2 * uses + 3))) >> 16);
        uses += uses < 60;
    }
};

// The share of a logistic curve around a predicted value that lies in half of an interval.
class Share {
public:
    MMP_INLINE void begin(int value, const Scale& scale, int end) {
        value_ = value;
        inverse_ = (1 << 23) / (scale.mean * 5 / 8 + 16);
        low_ = below(0), high_ = below(end);
    }
    // Returns the logarithm of odds of the upper half of the interval, which begins at `middle`.
    MMP_INLINE int odds(int middle) {
        middle_ = below(middle);
        const uint32_t upper = high_ - middle_ + 1, lower = middle_ - low_ + 1;
        return stretched(int(upper * 4096 / (upper + lower)) << 4);
    }
    MMP_INLINE void take(int upper) { (upper ? low_ : high_) = middle_; }

private:
    MMP_INLINE int below(int limit) const {
        const int64_t at = (int64_t{2 * limit - 1 - 2 * value_} * inverse_) >> 8;
        return kMix.squash[std::clamp<int64_t>(at, -kMostMixed, kMostMixed) + kMostMixed];
    }
    int value_, inverse_, low_, high_, middle_;
};

template <const Settings& S>
class Escape {
public:
    Escape(const ColourShape& shape, PixelRows& rows)
        : shape_(shape), shapes_(shape, rows), values_(size_t{1} << S.value_bits, true),
          counted_(size_t(shape.planes) * S.values * 128) {
        for (int k = 0; k < shape.planes; ++k) mixers_.emplace_back(set_rows(), start_weight(), 1);
        for (size_t i = 0; i < counted_.size(); ++i)
            counted_[i] = SlowModel::of(int(i % 16) * 4096 + 2048);
        for (int k = 0; k < kMostPlanes; ++k)
            for (int i = 0; i < kPredictors; ++i)
                for (int j = 0; j < kScales; ++j)
                    scales_[k][i][j].mean = (k ? 384 : 768) * (1 + j % 8);
    }

    template <class Code>
    MMP_INLINE Colour code(const Around& v, const Place& place, Colour placed, Colour given,
                           Code&& code) {
        find_reach(v);
        match_ = shapes_.find(v.here);
        Colour colour = 0;
        for (int k = 0; k < shape_.planes; ++k) {
            if (shape_.bits[k] == 0) continue;
            predict(v, place, placed, colour, k);
            choose(v, colour, k);
            const int sample = code_sample(shape_.sample(given, k), k, code);
            for (int i = 0; i < kPredictors; ++i)
                scale_[i]->learn(std::abs(sample - predicted_[i]));
            colour |= shape_.part(sample, k);
        }
        return colour;
    }
    // Every pixel that is not flat enters the shapes.
    MMP_INLINE void see(const Colour* here, int row, int column, bool escaped) {
        if (!escaped) shapes_.find_keys(here);
        shapes_.see(row, column);
    }

private:
    static constexpr int kInputs = S.values + kPredictors + 1;
    static constexpr int kNibble = 4, kActive = 6;

    struct Values {
        QuickModel models[15];
        uint32_t check;
    };

    static std::array<int, S.value_sets> set_rows() {
        if constexpr (S.value_sets == 1) return {16 * kActive};
        else return {16 * kActive, 16 * 2 * 4};
    }
    static constexpr int start_weight() {
        return kUnitWeight * (S.value_sets == 1 ? 25 : 15) / 100 / S.value_sets;
    }

    // Sets the colours of ten neighbours that are darkest and lightest in the first plane.
    MMP_INLINE void find_reach(const Around& v) {
        low_ = high_ = v.w;
        for (const Colour colour : {v.n, v.nw, v.ne, v.ww, v.nn, v.at(1, 2), v.at(1, -2), v.at(2, 1),
                                    v.at(2, -1)}) {
            if (shape_.sample(colour, 0) < shape_.sample(low_, 0)) low_ = colour;
            if (shape_.sample(colour, 0) > shape_.sample(high_, 0)) high_ = colour;
        }
        varied_ = shape_.sample(high_, 0) > shape_.sample(low_, 0);
    }

    // Sets the predictions of a sample, and the scale of each.
    MMP_INLINE void predict(const Around& v, const Place& place, Colour placed,
                            Colour before, int k) {
        const auto of = [&](Colour colour) __attribute__((always_inline)) {
            return shape_.sample(colour, k);
        };
        const int w = of(v.w), n = of(v.n), nw = of(v.nw), ne = of(v.ne);
        const int median = median_of_slope(w, n, nw);
        const int c = shape_.coarser[k];
        const int activity = (std::abs(w - nw) + std::abs(n - nw) + std::abs(n - ne)) >> c;
        active_ = (activity >= 2) + (activity >= 6) + (activity >= 14) + (activity >= 30) +
                  (activity >= 80);
        const bool based = k == 1 || k == 2;  // on the first plane
        int scale_class[kPredictors];
        std::fill_n(scale_class, kPredictors, active_ + (based && varied_ ? 8 : 0));
        int64_t found[kPredictors];
        if (!based) {
            found[0] = median;
            found[1] = (2 * (w + n) + ne - nw) >> 2;
            found[2] = k == 0 && match_.value >= 0 ? match_.value : median;
            if (k == 0 && match_.value >= 0) scale_class[2] = 8 + match_.near;
            found[3] = place.at.row >= 0 ? of(placed) : median;
            scale_class[3] = place.near_class() + 8 * (place.at.row >= 0);
            slope_ = line_ = median;
        } else {
            const auto first = [&](Colour colour) __attribute__((always_inline)) {
                return shape_.sample(colour, 0);
            };
            const int q = first(before);
            slope_ = median + q - median_of_slope(first(v.w), first(v.n), first(v.nw));
            line_ = slope_;
            if (varied_) {
                const int64_t run = first(high_) - first(low_), rise = of(high_) - of(low_);
                line_ = of(low_) + floored(2 * (q - first(low_)) * rise + run, 2 * run);
            }
            found[0] = line_;
            found[1] = slope_;
            found[2] = ((2 * (w + n) + ne - nw) >> 2) + q -
                       ((2 * (first(v.w) + first(v.n)) + first(v.ne) - first(v.nw)) >> 2);
            found[3] = place.at.row >= 0 ? of(placed) : line_;
            scale_class[3] = place.near_class() + 8 * (place.at.row >= 0);
        }
        slope_ = limited(slope_, k), line_ = limited(line_, k);
        for (int i = 0; i < kPredictors; ++i) {
            predicted_[i] = limited(found[i], k);
            scale_[i] = &scales_[k][i][scale_class[i]];
            shares_[i].begin(predicted_[i], *scale_[i], shape_.most[k] + 1);
        }
    }
    MMP_INLINE int limited(int64_t value, int k) const {
        return int(std::clamp<int64_t>(value, 0, shape_.most[k]));
    }
    static MMP_INLINE int median_of_slope(int w, int n, int nw) {
        const int least = std::min(w, n), most = std::max(w, n);
        return nw >= most ? least : nw <= least ? most : w + n - nw;
    }

    // Sets the hashes of the contexts of values.
    MMP_INLINE void choose(const Around& v, Colour before, int k) {
        const auto upper = [&](Colour colour, int bits) __attribute__((always_inline)) {
            return uint32_t(shape_.sample(colour, k)) >> std::max(0, shape_.bits[k] - bits);
        };
        const uint32_t w = folded(v.w), n = folded(v.n), ne = folded(v.ne), so_far = folded(before);
        const int shaped = k == 0 && match_.value >= 0 ? match_.value : slope_;
        const uint32_t eighths = upper(v.w, 3) | upper(v.n, 3) << 3 | upper(v.nw, 3) << 6 |
                                 upper(v.ne, 3) << 9;
        const uint32_t all[kValueContexts] = {
            hash_of(1, so_far),
            hash_of(2, w, so_far),
            hash_of(3, n, so_far),
            hash_of(4, w, n, so_far),
            hash_of(5, w, n, ne, so_far),
            hash_of(6, line_, active_ | varied_ << 8),
            k == 0 ? hash_of(7, shaped, match_.near) : hash_of(8, slope_, active_),
            hash_of(9, eighths, so_far),
            hash_of(10, folded(low_), folded(high_), so_far)};
        for (int i = 0; i < S.values; ++i)
            hashes_[i] = hash_of(all[S.of_value[i]], k, i);
    }

    template <class Code>
    MMP_INLINE int code_sample(int given, int k, Code&& code) {
        Values* values[S.values];
        int low = 0, node = 1;  // node: the bits of the nibble after a 1
        for (int bit = shape_.bits[k] - 1, left = 0; bit >= 0; --bit, --left) {
            if (left == 0) {
                for (int i = 0; i < S.values; ++i)
                    values[i] = &find(hash_of(hashes_[i], low, bit));
                node = 1, left = kNibble;
            }
            const int middle = low + (1 << bit);
            int found = 0;
            if (middle <= shape_.most[k]) {
                found = code_bit(values, node, middle, bit, k, given >> bit & 1, code);
                if (found) low = middle;
                for (int i = 0; i < kPredictors; ++i) shares_[i].take(found);
            }
            node = 2 * node + found;
        }
        return low;
    }
    template <class Code>
    MMP_INLINE int code_bit(Values* const* values, int node, int middle, int bit, int k, int given,
                            Code&& code) {
        int32_t inputs[kInputs];
        SlowModel* counted[S.values];
        int sure = 0;
        for (int i = 0; i < S.values; ++i) {
            const QuickModel& model = values[i]->models[node - 1];
            inputs[i] = counted_odds(model, &counted_[(k * S.values + i) * 128],
                                     counted[i]);
            if (i < 5 && model.uses > 1) sure = i + 1;
        }
        for (int i = 0; i < kPredictors; ++i)
            inputs[S.values + i] = shares_[i].odds(middle);
        inputs[kInputs - 1] = 64;
        std::array<int, S.value_sets> rows;
        rows[0] = bit * kActive + active_;
        if constexpr (S.value_sets > 1)
            rows[1] = (bit * 2 + varied_) * 4 + (sure < 2 ? 0 : sure < 4 ? 1 : sure < 5 ? 2 : 3);
        const int one = mixers_[k].predict(inputs, rows);
        const int found = code(std::clamp(one, 16, 65520), given);
        mixers_[k].learn(found);
        for (int i = 0; i < S.values; ++i) {
            if (counted[i]) counted[i]->learn(found);
            values[i]->models[node - 1].learn(found);
        }
        return found;
    }
    MMP_INLINE Values& find(uint32_t hash) {
        Values& values = values_[hash >> (32 - S.value_bits)];
        if (values.check != (hash | 1)) {
            values = {};
            values.check = hash | 1;
        }
        return values;
    }

    const ColourShape shape_;
    Shapes shapes_;
    ZeroedLines<Values> values_;
    std::vector<SlowModel> counted_;
    std::vector<Mixer<kInputs, S.value_sets>> mixers_;
    Scale scales_[kMostPlanes][kPredictors][kScales];

    // Of the pixel that is coded.
    Colour low_ = 0, high_ = 0;
    bool varied_ = false;
    Shapes::Match match_;
    // Of its sample.
    int64_t slope_ = 0, line_ = 0;
    int active_ = 0, predicted_[kPredictors];
    Scale* scale_[kPredictors];
    Share shares_[kPredictors];
    uint32_t hashes_[kValueContexts];
};

}  // namespace mmp::pixels
