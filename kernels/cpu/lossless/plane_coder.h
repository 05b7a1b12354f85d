// Coding the samples of a plane one by one, in both directions.
// Source: section "Lossless samples" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "cpu/entropy/logistic_mixing.h"
#include "cpu/lossless/blend.h"
#include "cpu/lossless/codec.h"
#include "cpu/lossless/hashes.h"
#include "cpu/lossless/pixels/blocks.h"
#include "cpu/lossless/plane.h"
#include "cpu/lossless/predictors.h"
#include "cpu/lossless/runs.h"
#include "cpu/lossless/context.h"
#include "cpu/runtime/errors.h"

namespace mmp {

template <class Coder, int Models>
class PlaneCoder {
public:
    // `blocks` says which samples are known; none is without it.
    PlaneCoder(const PlanesBeside& planes, LosslessPlane& own, const LosslessTools& tools,
               const pixels::Blocks* blocks, Coder& coder)
        : planes_(planes),
          plane_(own),
          blocks_(blocks),
          q_(planes.count),
          noisy_(own.noisy),
          tables_(noisy_ && Models == 8 ? 0 : kTables),
          step_(2 * tools.max_error + 1),
          bits_(bit_length(plane_.most)),
          lengths_(bit_length((plane_.most + tools.max_error) / step_)),
          long_length_(kLongLength - (kLongGroup - near_groups()) * kLineDecisions),
          has_runs_(Models == 8 || blocks),
          runs_(planes),
          predictors_(predictors_of(planes, has_runs_ ? 1 : kMostPredictors)),
          blend_(has_runs_ ? 1 : kMostPredictors, plane_.width()),
          mixed_(decisions_of(), contexts_of(), {kMostActivity + 1, 27, 256, q_ ? 81 : 32}),
          seen_(tables_),
          coder_(coder) {}

    MMP_INLINE void code_row(int row) {
        plane_.begin_row(row);
        predictors_->begin_row(row);
        blend_.begin_row(row);
        find_lines(row, 0);
        runs_.begin_row();
        int end = blocks_ ? 0 : plane_.width();
        for (int column = 0; column < plane_.width();) {
            if (column == end) {
                end = blocks_->end_of(row, column);
                if (blocks_->repeats(row, column)) {
                    column = end;
                    find_lines(row, column);
                    continue;
                }
            }
            const int run = has_runs_ ? runs_.length(row, column, end) : 0;
            const int equal = run ? code_run(row, column, run) : 0;
            for (const int to = column + equal; column < to; ++column) end_sample(row, column);
            if (equal) find_lines(row, column);
            if (equal < run || !run) {
                code_sample(row, column, run > 0);
                end_sample(row, column++);
                runs_.after = column;
            }
        }
        coder_.end_cell(row, plane_.width() - 1);
        plane_.end_row(row);
    }

private:
    static constexpr int kTables = 4;
    static constexpr int kNeighbours[kTables] = {3, 6, 10, 22};

    enum Decision { kZero, kNegative, kLength, kRun = 13, kHigh = 16, kLongLength = 120 };

    static constexpr int kLongGroup = kLongLength / kLineDecisions;

    // Groups of decisions before those of long lengths.
    int near_groups() const {
        const int near = kHigh + 8 * std::max(0, lengths_ - 3);
        return std::min(kLongGroup, (near + kLineDecisions - 1) / kLineDecisions);
    }
    Decisions decisions_of() const {
        const int near = near_groups(), skipped = kLongGroup - near;
        const int all = lengths_ < 7 ? near * kLineDecisions
                                     : kLongLength + 2 * (lengths_ - 6) - skipped * kLineDecisions;
        return {all, near, skipped};
    }
    int length_decision(int length) const {
        return length < 5 ? kLength + 2 * length : long_length_ + 2 * (length - 5);
    }
    // Returns the decision on the highest bit below the leading one, less one.
    static int high_decision(int length) {
        return length < 3 ? 10 + length : kHigh + 8 * (length - 3);
    }

    // 8 models of noisy planes, which need no tables.
    static constexpr uint8_t kNoisyModels[2][8] = {{0, 4, 5, 6, 8, 9, 10, 11},
                                                   {0, 2, 5, 6, 7, 9, 10, 11}};

    // Returns the number, among all, of a model in use.
    MMP_INLINE int number_of(int i) const {
        return Models == 8 && noisy_ ? kNoisyModels[q_ > 0][i] : i;
    }

    std::array<int, Models> contexts_of() const {
        constexpr int kMatch = kMatchContexts, kFine = kDistances * kDistances;
        constexpr int kCoarse = kDistances * 8, kSpread = kDistances * 32;
        constexpr int kGray[kAllModels] = {0,       kMatch,  kMatch,  kMatch,  9 * 32,  kFine,
                                   kFine,   kMatch,  kFine,   256 * 8, kCoarse, 0,
                                   kCoarse, kCoarse, 0,       64 * 64, kSpread, kSpread,
                                   kSpread, 16 * 32, kFine,   0,       kFine,   kFine};
        constexpr int kColour[kAllModels] = {0,       kMatch, kFine,  kMatch, kMatch,  kFine,
                                     kFine,   kFine,  kMatch, 729,    9 * 32,  0,
                                     kCoarse, kFine,  0,      kFine,  kSpread, kSpread,
                                     kSpread, 0,      kFine,  0,      0,       kFine};
        // GCC 12 and 13 check the bounds of one expression of both choices wrongly.
        const bool has_earlier = q_ > 0;
        const int(&by_model)[kAllModels] = has_earlier ? kColour : kGray;
        std::array<int, Models> counts;
        for (int i = 0; i < Models; ++i) counts[i] = by_model[number_of(i)];
        return counts;
    }

    // What the contexts are made of: samples around, those of the earlier planes, and residuals.
    struct Around {
        int w, n, nw, ne, ww, nn, nne, www, nnn;
        int residuals[3];  // of W, N and NE
        int a = 0, a_w = 0, a_n = 0, b = 0, b_w = 0, b_n = 0;
        int others[2] = {};  // residuals of the earlier planes
    };

    MMP_INLINE Around find_around(int row, int column, const int32_t* here) const {
        const int stride = plane_.stride();
        const int32_t* e = plane_.error(row, column);
        Around v{here[-1],
                 here[-stride],
                 here[-stride - 1],
                 here[-stride + 1],
                 here[-2],
                 here[-2 * stride],
                 here[1 - 2 * stride],
                 here[-3],
                 here[-3 * stride],
                 {e[-1], e[-stride], e[-stride + 1]}};
        if (q_ > 0) {
            const int32_t* there = planes_.before[0]->sample(row, column);
            v.a = there[0], v.a_w = there[-1], v.a_n = there[-stride];
            v.others[0] = *planes_.before[0]->error(row, column);
        }
        if (q_ > 1) {
            const int32_t* there = planes_.before[1]->sample(row, column);
            v.b = there[0], v.b_w = there[-1], v.b_n = there[-stride];
            v.others[1] = *planes_.before[1]->error(row, column);
        }
        return v;
    }

    // Codes whether a run is whole, and where it breaks; returns how many samples are equal.
    MMP_INLINE int code_run(int row, int column, int run) {
        int32_t* here = plane_.sample(row, column);
        const int32_t w = here[-1];
        const Runs::Contexts contexts = runs_.contexts(row, column, run);
        mixed_.select(in_use(contexts.of_models), contexts.rows);
        int equal = 0;
        if (coder_.writes)
            while (equal < run && std::abs(here[equal] - w) <= step_ / 2) ++equal;
        if (code_bit(kRun, equal < run)) {
            equal = int(coder_.plain(equal, bit_length(run) - 1));
            ++runs_.breaks;
        } else {
            equal = run;
        }
        std::fill_n(here, equal, w);
        std::fill_n(plane_.error(row, column), equal, 0);
        return equal;
    }

    // Returns the contexts of the models in use.
    MMP_INLINE std::array<uint32_t, Models> in_use(
        const std::array<uint32_t, kAllModels>& all) const {
        std::array<uint32_t, Models> used;
        for (int i = 0; i < Models; ++i) used[i] = all[number_of(i)];
        return used;
    }

    // Finds the lines of the tables for the sample in this column. They do not depend on the sample
    // left of it, so they are fetched while that one is coded.
    MMP_INLINE void find_lines(int row, int column) {
        const int32_t* here = plane_.sample(row, column);
        uint32_t sum = 0;
        if (q_ > 0) sum += *planes_.before[0]->sample(row, column) * kHashFactors.of[0];
        if (q_ > 1) sum += *planes_.before[1]->sample(row, column) * kHashFactors.of[1];
        if (!tables_) return;
#pragma GCC unroll 4
        for (int table = 0; table < kTables; ++table) {
#pragma GCC unroll 22
            for (int i = table ? kNeighbours[table - 1] : 1; i < kNeighbours[table]; ++i)
                sum += here[kPlaces[i][0] * plane_.stride() + kPlaces[i][1]] *
                       kHashFactors.of[i + 2];
            sums_[table] = sum;
            lines_[table] = seen_[table].line(mixed_hash(sum));
            __builtin_prefetch(lines_[table]);
        }
    }

    MMP_INLINE Seen& find_seen(int table, int32_t w) {
        const uint32_t key = mixed_hash(sums_[table] + w * kHashFactors.of[2]);
        return checked(lines_[table][key >> 29], key);
    }

    MMP_INLINE void end_sample(int row, int column) {
        if (coder_.is_end_of_cell(column)) coder_.end_cell(row, column);
    }

    // `breaks` says that the sample differs from the one left of it.
    MMP_INLINE void code_sample(int row, int column, bool breaks) {
        int32_t* here = plane_.sample(row, column);
        const int stride = plane_.stride(), limit = plane_.most << kFractionBits;
        const Around v = find_around(row, column, here);
        Seen none{}, *seen[kTables] = {&none, &none, &none, &none};
        for (int table = 0; table < tables_; ++table) seen[table] = &find_seen(table, v.w);
        find_lines(row, column + 1);
        int predictions[kMostPredictors] = {};
        predictors_->predict(row, column, level_at(here, stride), predictions);
        const int fitted = blend_.blended(row, column, predictions);

        const int activity = activity_at(plane_.error(row, column), stride, v.others, q_);
        const int active = activity_class(activity);
        const int median = median_of(v.w, v.n, v.nw);
        const int around[6] = {v.w, v.n, v.nw, v.ne, v.ww, v.nn};
        const int mended = corrector_.mended(around, median, activity, fitted, limit);
        const int predicted = (mended + (1 << (kFractionBits - 1))) >> kFractionBits;

        const int off = signed_class(median - predicted);
        select(v, predicted, active, off, mended, predictions, seen);
        *here = code_residual(predicted, *here, breaks && predicted == v.w);

        for (int table = 0; table < tables_; ++table) seen[table]->learn(*here);
        const int error = (*here << kFractionBits) - fitted;
        corrector_.learn(error);
        *plane_.error(row, column) = (error + (1 << (kFractionBits - 1))) >> kFractionBits;
        blend_.learn(row, column, predictions, *here);
    }

    // Chooses the contexts of the models and the rows of weights.
    MMP_INLINE void select(const Around& v, int predicted, int active, int off, int mended,
                           const int* predictions, Seen* const* seen) {
        const auto fine = [&](int value) __attribute__((always_inline)) {
            return distance_class(value - predicted);
        };
        const auto eighths = [&](int value) __attribute__((always_inline)) {
            return distance_class((value - (predicted << kFractionBits)) >> (kFractionBits - 3));
        };
        const auto two = [&](int first, int second) __attribute__((always_inline)) {
            return fine(first) * kDistances + fine(second);
        };
        const auto match = [&](int table) __attribute__((always_inline)) {
            return uint32_t(match_context(*seen[table], predicted));
        };
        const uint32_t coarse = std::min(7, active / 3);
        const auto [ew, en, ene] = v.residuals;
        const uint32_t by_off = off * 32 + active;
        const uint32_t cubic = two(3 * (v.w - v.ww) + v.www, 3 * (v.n - v.nn) + v.nnn);
        const uint32_t beside = two(v.w, v.n);
        const uint32_t diagonal = two(v.ne, v.nw);
        const uint32_t onward = fine(2 * v.w - v.ww) * 8 + coarse;
        const int coarser = std::max(0, bits_ - 6);
        std::array<uint32_t, kAllModels> contexts;
        if (q_ == 0)
            contexts = {hashed(predicted),
                        match(0),
                        match(3),
                        match(1),
                        by_off,
                        beside,
                        diagonal,
                        match(2),
                        cubic,
                        uint32_t(std::min(predicted >> std::max(0, bits_ - 8), 255)) * 8 + coarse,
                        fine(v.n + v.ne - v.nne) * 8 + coarse,
                        hashed(v.n, predicted, v.ne),
                        onward,
                        fine(v.n + v.w - v.nw) * 8 + coarse,
                        hashed(v.w, predicted, v.ww),
                        uint32_t(v.w >> coarser) * 64 + (v.n >> coarser)};
        else
            contexts = {hashed(predicted, v.a, v.b),
                        match(1),
                        two(v.w + v.a - v.a_w, v.n + v.a - v.a_n),
                        match(0),
                        match(3),
                        two(v.w + v.a - v.a_w, v.w + v.b - v.b_w),
                        beside,
                        two(v.n + v.a - v.a_n, v.n + v.b - v.b_n),
                        match(2),
                        uint32_t((signed_class(ew) * 9 + signed_class(en)) * 9 + signed_class(ene)),
                        by_off,
                        hashed(v.n, predicted, v.ne, v.a),
                        onward,
                        cubic,
                        hashed(v.w, predicted, v.ww, v.a),
                        diagonal};
        if (Models == kAllModels) {
            uint32_t place[kMostPredictors];
            for (int j = 0; j < kMostPredictors; ++j) {
                place[j] = eighths(predictions[j]);
                contexts[16 + j] = place[j] * 32 + blend_.spread(j);
            }
            contexts[20] = place[0] * kDistances + place[2];
            const int beyond = q_ ? v.others[0] : ew;
            contexts[23] = eighths(mended + beyond * 64) * kDistances + eighths(mended + en * 64);
            if (q_ == 0) {
                contexts[19] = ((mended & 63) >> 2) * 32 + active;
                contexts[21] = hashed(v.w, v.n, predicted);
                contexts[22] = place[0] * kDistances + place[1];
            } else {
                contexts[19] = hashed(v.a - v.b, predicted - v.a);
                contexts[21] = hashed(predicted, v.a);
                contexts[22] = hashed(v.w - v.a_w, predicted - v.a, v.n - v.a_n);
            }
        }
        int agreed = 0;
        for (int table = kTables - 1; table >= 0; --table) {
            const Seen& one = *seen[table];
            agreed = agreed * 4 + (!one.uses                  ? 0
                                   : one.value != predicted ? 3
                                   : one.uses > 2           ? 2
                                                            : 1);
        }
        const int third = noisy_ ? signed_class(ew) * 9 + signed_class(en) : agreed;
        mixed_.select(in_use(contexts),
                      {active, off * 3 + std::min(2, ((mended & 63) >> 3) / 3), third,
                       q_ ? signed_class(v.others[0]) * 9 + signed_class(v.others[1])
                          : predicted >> std::max(0, bits_ - 5)});
    }

    MMP_INLINE int code_bit(int decision, int given) {
        const int one = mixed_.predict(decision);
        const int bit = coder_.code(uint32_t(one), given);
        mixed_.learn(decision, bit);
        return bit;
    }

    MMP_INLINE int code_residual(int predicted, int given, bool differs) {
        int size = 0;
        if (coder_.writes) size = (std::abs(given - predicted) + step_ / 2) / step_;
        if (!differs && !code_bit(kZero, size != 0)) return predicted;
        // One loop codes these three, because code_bit() is compiled wherever it is called.
        enum { kSign, kSizeLength, kDigits } part = kSign;
        bool negative = predicted == plane_.most;
        if (negative || predicted == 0) part = kSizeLength;
        const int given_length = bit_length(size) - 1;
        int length = 0, found = 1, left = 0, plain = 0;  // digits left, and how many need no model
        bool longer = true;
        for (;;) {
            if (part == kSizeLength && (!longer || length >= lengths_ - 1)) {
                part = kDigits, left = length;
                plain = std::max(0, noisy_ ? length - 2 : std::min(length - 3, lengths_ - 8));
            }
            if (part == kDigits && left-- == plain) break;
            int decision = kNegative;
            bool wanted = given < predicted;
            if (part == kSizeLength) {
                decision = length_decision(length) + negative;
                wanted = length < given_length;
            } else if (part == kDigits) {
                decision = length - 1 - left < 3 ? high_decision(length) + found : kHigh + 8 * left;
                wanted = size >> left & 1;
            }
            const int bit = code_bit(decision, wanted);
            if (part == kSign)
                negative = bit, part = kSizeLength;
            else if (part == kSizeLength)
                longer = bit, length += bit;
            else
                found = 2 * found + bit;
        }
        if (plain)
            found = found << plain | int(coder_.plain(size & ((1 << plain) - 1), plain));
        const int distance = negative ? -found : found;
        const int64_t sample = predicted + int64_t{step_} * distance;
        const int over = step_ / 2;
        if (sample < -over || sample > plane_.most + over)
            throw CorruptPayload("sample is " + std::to_string(sample) + ", allowed is " +
                                     std::to_string(-over) + " to " +
                                     std::to_string(plane_.most + over),
                                 "Lossless samples");
        return int(std::clamp<int64_t>(sample, 0, plane_.most));
    }

    const PlanesBeside planes_;
    LosslessPlane& plane_;
    const pixels::Blocks* const blocks_;
    const int q_;
    const bool noisy_;
    const int tables_;  // tables of earlier samples in use
    const int step_, bits_, lengths_;
    const int long_length_;  // the decision on length 5
    const bool has_runs_;
    Runs runs_;
    const std::unique_ptr<Predictors> predictors_;
    Blend blend_;
    LogisticMixing<Models> mixed_;
    Corrector corrector_;
    std::vector<SeenTable> seen_;
    uint32_t sums_[kTables];  // of the next sample without the neighbour left of it
    Seen* lines_[kTables];
    Coder& coder_;
};

}  // namespace mmp
