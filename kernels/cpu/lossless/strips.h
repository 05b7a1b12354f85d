// Predictions by weights that are fitted to the rows above, once for each strip of a row.
// Source: sections "Regressors of the predictors" and "Sums of strips" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "cpu/lossless/plane.h"
#include "cpu/lossless/prediction.h"
#include "cpu/lossless/strip_fit.h"
#include "cpu/lossless/context.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

// A plane and the earlier planes that predict it: at most two, the last decoded one first.
struct PlanesBeside {
    const LosslessPlane* own;
    const LosslessPlane* before[2];
    int count;

    // Bits of the largest sample of all.
    int bits() const {
        int most = own->most;
        for (int k = 0; k < count; ++k) most = std::max(most, before[k]->most);
        return bit_length(most);
    }
};

// Sum is int32_t where samples have eight bits at most.
template <class Sum, int Columns>
class Strips {
public:
    // Strips have Columns columns; the regressors are the first places of each plane.
    Strips(const PlanesBeside& planes, const RegressorCounts& counts)
        : planes_(planes),
          counts_(counts),
          rows_(counts.own > kInThreeRows ? 4 : 3),
          count_(counts.all()),
          width_(planes.own->width()),
          short_(kMayBeShort && planes.bits() <= 12),
          strips_((width_ + Columns - 1) / Columns),
          sums_(padded_sums()),
          faded_(size_t(strips_) * sums_),
          spread_(size_t(strips_) * sums_),
          carried_(sums_),
          kernels_(strips_),
          fitted_(groups()) {}

    // Finds the sums of a row; the row above must be complete. All strips of the first row have
    // the same weights, so that a file that claims a wide picture takes no memory for them.
    void begin_row(int row);

    // Returns the prediction in 1/64, before its limits. `level` is that of the own plane.
    MMP_INLINE int predict(int row, int column, int level) {
        const int strip = row ? column / Columns : 0;
        if (!fitted_[strip / StripFits::kStrips]) fit_group(strip / StripFits::kStrips);
        const Kernel& kernel = kernels_[strip];
        const int32_t* here = planes_.own->sample(row, column);
        const int stride = planes_.own->stride();
        Lanes sum = products(here - stride - 3, kernel.own[1]);
        for (int i = 2; i < rows_; ++i) sum += products(here - i * stride - 3, kernel.own[i]);
        Sum total = sum_of(sum) - level * kernel.own_sum;
        // A vector would have to wait until the sample before is stored.
        for (int i = 0; i < 3; ++i) total += Sum{here[i - 3]} * kernel.own[0][i];
        for (int k = 0; k < planes_.count; ++k) {
            const int32_t* there = planes_.before[k]->sample(row, column);
            Lanes beside = products(there + stride - 2, kernel.other[k][0]);
            for (int i = 1; i < 4; ++i)
                beside += products(there + (1 - i) * stride - 2, kernel.other[k][i]);
            total += sum_of(beside) - level_at(there, stride) * kernel.other_sum[k];
        }
        constexpr int kDropped = kWeightBits - kFractionBits;
        return (level << kFractionBits) + int((total + (1 << (kDropped - 1))) >> kDropped);
    }

private:
    // The products of many columns gain from short regressors also where sums are long.
    static constexpr bool kMayBeShort = sizeof(Sum) == 4 || Columns > 16;
    static constexpr int kLanes = 8, kInThreeRows = 12, kMostTerms = 40, kGroup = 4;
    // Of a product. The sums of 8-bit samples stay below 2^31 with it.
    static constexpr Sum kUnit = Columns > 16 ? 128 : 256;
    using Lanes = typename Vector<Sum, kLanes>::Type;
    using Quad = typename Vector<Sum, kGroup>::Type;
    using Half = typename Vector<Sum, kLanes / 2>::Type;

    // The weights of a strip. Those of the own plane lie as its samples do: row i above the sample,
    // from three columns left of it on; those of an earlier plane: row i above the one below the
    // sample, from two columns left of it on.
    struct Kernel {
        alignas(32) int32_t own[4][kLanes], other[2][4][kLanes];
        Sum own_sum, other_sum[2];
    };

    static MMP_INLINE Lanes products(const int32_t* samples, const int32_t* weights) {
        if constexpr (sizeof(Sum) == 4) return loaded<Ints8>(samples) * loaded<Ints8>(weights);
        alignas(64) Sum found[kLanes];
        for (int i = 0; i < kLanes; ++i) found[i] = Sum{samples[i]} * weights[i];
        return loaded<Lanes>(found);
    }
    static MMP_INLINE Sum sum_of(Lanes lanes) {
        const Half half = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) +
                          __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7);
        return half[0] + half[2] + (half[1] + half[3]);
    }
    // The sums of the products of a regressor i with the terms from `first(i)` on lie side by side;
    // the target is the last term.
    static int first(int i) { return i / kGroup * kGroup; }
    int padded_terms() const { return (count_ + kGroup) / kGroup * kGroup; }
    int padded_sums() const {
        int sums = 0;
        for (int i = 0; i < count_; ++i) sums += padded_terms() - first(i);
        return (sums + kLanes - 1) / kLanes * kLanes;
    }

    int groups() const { return (strips_ + StripFits::kStrips - 1) / StripFits::kStrips; }

    // Fits the weights of a group of four strips. Groups within runs are never fitted.
    void fit_group(int group);

    // begin_row() at one SIMD level.
    MMP_INLINE void sum_row(int row) {
        if (row) {
            if constexpr (kMayBeShort)
                if (short_) add_row<int16_t>(row - 1);
            if constexpr (sizeof(Sum) > 4)
                if (!short_) add_row<int32_t>(row - 1);
            std::copy_n(faded_.get(), size_t(strips_) * sums_, spread_.get());
            spread(0, 1), spread(strips_ - 1, -1);
        }
        std::fill(fitted_.begin(), fitted_.end(), uint8_t{0});
    }

    static MMP_INLINE Lanes share(Lanes sum) { return (sum >> 3) + (sum >> 4); }

    // Adds the products of a row to the sums of its strips, after these fade.
    template <class Term>
    MMP_INLINE void add_row(int row) {
        alignas(32) Term terms[kMostTerms][Columns] = {};
        alignas(32) Sum products[kMostUnknowns * kMostTerms];
        for (int strip = 0; strip < strips_; ++strip) {
            const int column = strip * Columns;
            gather(row, column, std::min(Columns, width_ - column), terms);
            Sum* sums = &faded_[size_t(strip) * sums_];
            if (all_zero(terms)) {
                for (int k = 0; k < sums_; k += kLanes) {
                    const Lanes sum = loaded<Lanes>(sums + k);
                    store(sums + k, sum - share(sum));
                }
                continue;
            }
            Sum* next = products;
            for (int i = 0; i < count_; ++i)
                for (int j = first(i); j < padded_terms(); j += kGroup, next += kGroup)
                    multiply(terms[i], terms + j, next);
            std::fill(next, products + sums_, Sum{0});
            for (int k = 0; k < sums_; k += kLanes) {
                const Lanes sum = loaded<Lanes>(sums + k);
                store(sums + k, sum - share(sum) + kUnit * loaded<Lanes>(products + k));
            }
        }
    }

    template <class Term>
    MMP_INLINE bool all_zero(const Term (*terms)[Columns]) const {
        typedef typename Vector<Term, Columns>::Type All;
        All any{};
        for (int i = 0; i <= count_; ++i) any |= loaded<All>(terms[i]);
        Longs4 parts{};
        for (size_t i = 0; i < sizeof any; i += 16) {
            Longs4 part{};
            memcpy(&part, reinterpret_cast<const char*>(&any) + i, 16);
            parts |= part;
        }
        return !(parts[0] | parts[1]);
    }

    // Finds the sums over the columns of the products of a term with four others.
    template <class Term>
    static MMP_INLINE void multiply(const Term* term, const Term (*others)[Columns], Sum* sums) {
        if constexpr (sizeof(Term) == 2) {
            Ints4 found[kGroup];
            for (int j = 0; j < kGroup; ++j) {
                found[j] = Ints4{};
                for (int c = 0; c < Columns; c += 8)
                    found[j] += sums_of_pairs(loaded<Shorts8>(term + c),
                                              loaded<Shorts8>(others[j] + c));
            }
            const auto pairs = [](Ints4 a, Ints4 b) __attribute__((always_inline)) {
                return __builtin_shufflevector(a, b, 0, 4, 1, 5) +
                       __builtin_shufflevector(a, b, 2, 6, 3, 7);
            };
            const Ints4 low = pairs(found[0], found[1]), high = pairs(found[2], found[3]);
            const Ints4 four = __builtin_shufflevector(low, high, 0, 1, 4, 5) +
                               __builtin_shufflevector(low, high, 2, 3, 6, 7);
            store(sums, __builtin_convertvector(four, Quad));
        } else {
            for (int j = 0; j < kGroup; ++j) {
                Sum sum = 0;
                for (int c = 0; c < Columns; ++c) sum += Sum{term[c]} * others[j][c];
                sums[j] = sum;
            }
        }
    }

    // Finds the regressors of the samples of a strip, then their targets.
    template <class Term>
    MMP_INLINE void gather(int row, int column, int columns, Term (*terms)[Columns]) const {
        const int stride = planes_.own->stride();
        int32_t levels[Columns];
        const auto find_levels = [&](const int32_t* here) __attribute__((always_inline)) {
            for (int c = 0; c < columns; ++c) levels[c] = level_at(here + c, stride);
        };
        const auto fill = [&](Term* to, const int32_t* from) __attribute__((always_inline)) {
            if (columns == Columns) {
                for (int c = 0; c < Columns; ++c) to[c] = Term(from[c] - levels[c]);
            } else {
                for (int c = 0; c < Columns; ++c) to[c] = c < columns ? from[c] - levels[c] : 0;
            }
        };
        const int32_t* here = planes_.own->sample(row, column);
        find_levels(here);
        for (int i = 0; i < counts_.own; ++i)
            fill(terms[i], here + kPlaces[i][0] * stride + kPlaces[i][1]);
        fill(terms[count_], here);
        auto* next = terms + counts_.own;
        for (int k = 0; k < planes_.count; ++k) {
            const int32_t* there = planes_.before[k]->sample(row, column);
            find_levels(there);
            for (int i = 0; i < counts_.of_earlier[k]; ++i)
                fill(*next++, there + kOtherPlaces[i][0] * stride + kOtherPlaces[i][1]);
        }
    }

    // Adds to each strip what the strips on one side share with it.
    MMP_INLINE void spread(int strip, int step) {
        std::fill(carried_.begin(), carried_.end(), 0);
        for (int n = 0; n < strips_; ++n, strip += step) {
            const Sum* own = &faded_[size_t(strip) * sums_];
            Sum* all = &spread_[size_t(strip) * sums_];
            for (int k = 0; k < sums_; k += kLanes) {
                const Lanes carried = loaded<Lanes>(&carried_[k]);
                store(all + k, loaded<Lanes>(all + k) + carried);
                store(&carried_[k], share(carried + loaded<Lanes>(own + k)));
            }
        }
    }

    // fit_group() at one SIMD level.
    MMP_INLINE void fit(int group) {
        fitted_[group] = 1;
        const int strip = group * StripFits::kStrips;
        const int strips = std::min(StripFits::kStrips, strips_ - strip);
        const int64_t ridge = ridge_of(bit_length(planes_.own->most));
        constexpr int64_t kPrior[4] = {5, 5, -3, 1};
        for (int s = 0; s < StripFits::kStrips; ++s) {
            const Sum* row = &spread_[size_t(strip + std::min(s, strips - 1)) * sums_];
            const Sum* next = row;
            int64_t most = 0;
            for (int i = 0; i < count_; next += padded_terms() - first(i), ++i)
                most = std::max(most, int64_t{next[i - first(i)]});
            const int shift = std::max(0, 35 - std::countl_zero(uint64_t(most + ridge)));
            next = row;
            for (int i = 0; i < count_; next += padded_terms() - first(i), ++i) {
                for (int j = i; j <= count_; ++j)
                    fits_.m[i][j][s] = int64_t{next[j - first(i)]} >> shift;
                fits_.m[i][i][s] = (int64_t{next[i - first(i)]} + ridge) >> shift;
                if (i < 4)
                    fits_.m[i][count_][s] =
                        (int64_t{next[count_ - first(i)]} + (ridge * kPrior[i] >> 3)) >> shift;
            }
        }
        int32_t weights[kMostUnknowns][StripFits::kStrips];
        fits_.solve_all(count_, weights);
        for (int s = 0; s < strips; ++s) {
            Kernel& kernel = kernels_[strip + s];
            kernel = {};
            for (int i = 0; i < counts_.own; ++i) {
                kernel.own[-kPlaces[i][0]][kPlaces[i][1] + 3] = weights[i][s];
                kernel.own_sum += weights[i][s];
            }
            const auto* next = weights + counts_.own;
            for (int k = 0; k < planes_.count; ++k)
                for (int i = 0; i < counts_.of_earlier[k]; ++i) {
                    const int32_t weight = (*next++)[s];
                    kernel.other[k][1 - kOtherPlaces[i][0]][kOtherPlaces[i][1] + 2] = weight;
                    kernel.other_sum[k] += weight;
                }
        }
    }

    const PlanesBeside planes_;
    const RegressorCounts counts_;
    const int rows_, count_, width_;
    const bool short_;  // whether 16 bits hold a regressor
    const int strips_, sums_;
    // Of each strip: the sums of its own samples (Q), and with what its neighbours share.
    ZeroedLines<Sum> faded_, spread_;
    std::vector<Sum> carried_;
    ZeroedLines<Kernel> kernels_;
    std::vector<uint8_t> fitted_;  // whether the kernels of a group are those of the row
    StripFits fits_;
};

}  // namespace mmp
