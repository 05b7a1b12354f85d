// Colours that a pixel is asked for, one after the other. Source: section "Repeating pixels",
// "Candidates", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cpu/lossless/pixels/lists.h"
#include "cpu/lossless/pixels/mixing.h"
#include "cpu/lossless/pixels/places.h"
#include "cpu/lossless/pixels/colours.h"
#include "cpu/lossless/pixels/settings.h"

namespace mmp::pixels {

// How a pixel was coded.
enum class Kind : uint8_t { flat, candidate, escaped, sloped };

// The hashes of the contexts of lists.
struct Contexts {
    uint32_t of[12];

    MMP_INLINE explicit Contexts(const Around& v) {
        const auto at = [&](int up, int right) __attribute__((always_inline)) {
            return folded(v.at(up, right));
        };
        const uint32_t w = folded(v.w), n = folded(v.n), ne = folded(v.ne);
        of[0] = hash_of(1, w, n);
        of[1] = hash_of(of[0], ne, folded(v.nw));
        of[2] = hash_of(of[1], folded(v.ww), folded(v.nn));
        of[3] = hash_of(of[2], at(1, 2), at(2, 1), at(2, -1), at(1, -2));
        of[4] = hash_of(of[3], at(0, -3), at(3, 0), at(2, 2), at(2, -2), at(1, 3), at(1, -3));
        of[5] = hash_of(of[4], at(3, 1), at(3, -1), at(0, -4), at(1, 4), at(3, 2), at(3, -2),
                        at(2, 3), at(2, -3));
        of[6] = hash_of(2, w, folded(v.ww), at(0, -3));
        of[7] = hash_of(4, ne, n, at(1, 2));
        of[8] = hash_of(3, n, folded(v.nn), at(3, 0));
        of[9] = hash_of(5, w);
        of[10] = hash_of(6, w, ne, at(1, 2), at(1, 3));
        of[11] = hash_of(7, w, folded(v.ww), at(0, -3), at(0, -4), n);
    }
};

template <const Settings& S>
class Candidates {
public:
    static constexpr int kAsked = 2;
    static constexpr int kDirects = 3, kInputs = S.lists + 2 + kDirects;

    explicit Candidates(const ColourShape& shape)
        : shape_(shape), table_(S.list_bits), states_(S.lists * kAsked * kListStates),
          directs_(kDirects << kDirectBits), counted_(kDirects * 8 * 16),
          mixer_(set_rows(), kUnitWeight / 7 / S.sets) {
        for (int i = 0; i < S.lists * kAsked; ++i)
            for (int state = 0; state < kListStates; ++state)
                states_[i * kListStates + state] = SlowModel::of(kListLevels.start[state]);
        for (int near = 0; near < Place::kClasses; ++near)
            for (int agrees = 0; agrees < 3; ++agrees)
                for (int asked = 0; asked < kAsked; ++asked)
                    places_[near][agrees][asked] =
                        SlowModel::of(agrees == 1 ? 59000 - 6500 * near : 6500);
        for (size_t i = 0; i < counted_.size(); ++i)
            counted_[i] = SlowModel::of(int(i % 16) * 4096 + 2048);
    }

    // Codes a pixel by candidates. Returns whether one of them was right; then it is `colour`.
    template <class Code>
    MMP_INLINE bool code(const Around& v, const Contexts& contexts,
                         const Place& place, Colour placed, bool flat, int most_asked, int slopes,
                         Colour& colour, bool writes, Code&& code) {
        for (int i = 0; i < S.lists; ++i) lists_[i] = &table_.find(contexts.of[S.of_list[i]], i);
        slope_ = slope_of(v);
        Refused refused;
        if (flat) refused.colours[refused.count++] = v.w;
        gather(v, place, placed, flat, slopes);
        const Pattern pattern(v);
        for (int asked = 0; asked < most_asked && count_ > 0; ++asked) {
            const Colour best = take_best(place, placed, slopes, refused);
            const bool right = ask(v, pattern, place, placed, asked, slopes, best, refused,
                                   writes && best == colour, code);
            if (right) {
                colour = best;
                return true;
            }
            refused.colours[refused.count++] = best;
        }
        return false;
    }
    // Every pixel that is not flat enters the lists that code() found.
    MMP_INLINE void see(Colour colour) {
        for (int i = 0; i < S.lists; ++i) lists_[i]->see(colour);
    }
    Colour slope() const { return slope_; }

private:
    static constexpr int kDirectBits = 15, kMostCandidates = 12;

    // Which neighbours are equal.
    struct Pattern {
        uint32_t equal, near;

        MMP_INLINE explicit Pattern(const Around& v) {
            equal = (v.w == v.n) | (v.n == v.ne) << 1 | (v.nw == v.n) << 2 | (v.w == v.nw) << 3;
            near = 0;
            const Colour of[8] = {v.w, v.n, v.ne, v.nw, v.ww, v.nn, v.at(1, 2), v.at(2, -1)};
            for (int i = 1; i < 8; ++i) {
                int j = 0;
                while (of[j] != of[i]) ++j;
                near = near * 9 + j;
            }
        }
    };

    static std::array<int, S.sets> set_rows() {
        std::array<int, S.sets> rows{};
        constexpr int kRows[2] = {2 * 4 * 8 * 16, 2 * 256};
        for (int i = 0; i < S.sets; ++i) rows[i] = kRows[i];
        return rows;
    }

    // The colour that continues the slope of all planes.
    MMP_INLINE Colour slope_of(const Around& v) const {
        Colour colour = 0;
        for (int k = 0; k < shape_.planes; ++k) {
            const int along =
                shape_.sample(v.w, k) + shape_.sample(v.n, k) - shape_.sample(v.nw, k);
            colour |= shape_.part(std::clamp(along, 0, shape_.most[k]), k);
        }
        return colour;
    }

    MMP_INLINE void add(Colour colour) {
        if (count_ == kMostCandidates) return;
        for (int i = 0; i < count_; ++i)
            if (candidates_[i] == colour) return;
        candidates_[count_++] = colour;
    }
    MMP_INLINE void gather(const Around& v, const Place& place, Colour placed, bool flat,
                           int slopes) {
        count_ = 0;
        if (place.at.row >= 0) add(placed);
        if (slopes) add(slope_);
        for (int i = S.lists - 1; i >= 0; --i)
            for (int rank = 0; rank < 2; ++rank)
                if (lists_[i]->counts[rank]) add(lists_[i]->colours[rank]);
        for (const Colour colour : {v.w, v.n, v.ne, v.nw, v.nn, slope_}) add(colour);
        if (flat) remove(int(std::find(candidates_, candidates_ + count_, v.w) - candidates_));
    }

    MMP_INLINE Colour take_best(const Place& place, Colour placed, int slopes,
                                const Refused& refused) {
        int best = 0, most = INT32_MIN;
        for (int i = 0; i < count_; ++i) {
            const Colour colour = candidates_[i];
            int score = 0;
            for (int k = 0; k < S.lists; ++k) {
                const int state = list_state(*lists_[k], colour, refused);
                if (state >= 0) score += states_[k * kAsked * kListStates + state].odds();
            }
            if (place.at.row >= 0 && colour == placed) score += 1500 - 200 * place.near_class();
            if (colour == slope_) score += 2500 * slopes;
            if (score > most) most = score, best = i;
        }
        const Colour colour = candidates_[best];
        remove(best);
        return colour;
    }

    MMP_INLINE void remove(int number) {
        if (number == count_) return;
        for (--count_; number < count_; ++number) candidates_[number] = candidates_[number + 1];
    }

    template <class Code>
    MMP_INLINE bool ask(const Around& v, const Pattern& pattern, const Place& place,
                        Colour placed, int asked, int slopes, Colour colour,
                        const Refused& refused, bool given, Code&& code) {
        const int near = place.near_class();
        const int agrees = place.at.row < 0        ? 3
                           : colour == placed      ? 1
                           : refused.has(placed)   ? 2
                                                   : 0;
        SlowModel* used[S.lists + 1];
        int32_t inputs[kInputs];
        int longest = 0;
        for (int i = 0; i < S.lists; ++i) {
            const int state = list_state(*lists_[i], colour, refused);
            used[i] = state < 0 ? nullptr : &states_[(i * kAsked + asked) * kListStates + state];
            inputs[i] = used[i] ? used[i]->odds() : 0;
            if (i < 6 && lists_[i]->counts[0]) longest = i + 1;
        }
        used[S.lists] = agrees == 3 ? nullptr : &places_[near][agrees][asked];
        inputs[S.lists] = used[S.lists] ? used[S.lists]->odds() : 0;

        const uint32_t position = (colour == v.w) | (colour == v.n) << 1 | (colour == v.ne) << 2 |
                                  (colour == v.nw) << 3;
        const uint32_t farther =
            (colour == v.ww) | (colour == v.nn) << 1 | (colour == v.at(1, 2)) << 2;
        const bool sloped = colour == slope_;
        const uint32_t key = folded(colour), placing = agrees * 8 + near;
        uint32_t hashes[kDirects];
        hashes[0] = hash_of(11, pattern.equal | position << 4 | farther << 8 | asked << 12 |
                                    agrees << 13 | sloped << 15 | slopes << 16);
        hashes[1] = hash_of(12, pattern.near, position | farther << 4 | asked << 8);
        hashes[2] = hash_of(13, key, folded(v.w), folded(v.n), asked << 8 | placing);
        QuickModel* direct[kDirects];
        SlowModel* counted[kDirects];
        for (int i = 0; i < kDirects; ++i) {
            direct[i] = &directs_[(i << kDirectBits) + (hashes[i] >> (32 - kDirectBits))];
            inputs[S.lists + 1 + i] =
                counted_odds(*direct[i], &counted_[i * 128], counted[i]);
        }
        inputs[kInputs - 1] = 256;
        std::array<int, S.sets> rows;
        rows[0] = ((asked * 4 + agrees) * 8 + near) * 16 + longest;
        if constexpr (S.sets > 1)
            rows[1] = asked * 256 + (sloped && !position ? 15 : pattern.equal * 16 + position);
        const int one = mixer_.predict(inputs, rows);
        const bool right = code(std::clamp(one, 16, 65520), given);
        mixer_.learn(right);
        for (SlowModel* model : used)
            if (model) model->learn(right);
        for (int i = 0; i < kDirects; ++i) {
            if (counted[i]) counted[i]->learn(right);
            direct[i]->learn(right);
        }
        return right;
    }

    const ColourShape shape_;
    ListTable table_;
    std::vector<SlowModel> states_;
    std::vector<QuickModel> directs_;
    std::vector<SlowModel> counted_;
    SlowModel places_[Place::kClasses][3][kAsked];
    Mixer<kInputs, S.sets> mixer_;

    // Of the pixel that is coded.
    List* lists_[S.lists];
    Colour candidates_[kMostCandidates], slope_ = 0;
    int count_ = 0;
};

}  // namespace mmp::pixels
