// Filters of rows of blocks, in vectors of some blocks, for any SIMD level. avx2.cpp and generic.cpp
// include this file and compile it for their own level.
#pragma once

#include <algorithm>
#include <utility>

#include "cpu/filters/taps/taps.h"
#include "cpu/runtime/simd.h"

namespace {

using namespace mmp;

// Makes the compiler compute a vector here: it would keep many terms of a sum to add them later, and
// spill them.
template <class Vector>
MMP_INLINE void settle(Vector& vector) {
#ifdef __SSE2__
    asm("" : "+x"(vector));
#else
    (void)vector;
#endif
}

// Result lane i is lane From[i].
template <int... From, class Lanes>
MMP_INLINE Lanes shuffled(Lanes v) {
#if defined(__clang__) || __GNUC__ >= 12
    return __builtin_shufflevector(v, v, From...);
#else
    return Lanes{v[From]...};
#endif
}

// The lanes of a, then of b, limited to 16 bits.
MMP_INLINE Shorts8 narrowed(Ints4 a, Ints4 b) {
#ifdef __SSE2__
    return __builtin_ia32_packssdw128(a, b);
#elif defined(__wasm_simd128__)
    return __builtin_wasm_narrow_s_i16x8_i32x4(a, b);
#else
    const Ints8 lanes = joined<Ints8>(a, b), high = Ints8{} + 32767, low = -1 - high;
    const Ints8 limited = lanes > high ? high : lanes < low ? low : lanes;
    return __builtin_convertvector(limited, Shorts8);
#endif
}

// One block, in 32 bits.
struct FourLanes {
    static constexpr int kBlocks = 1;
    using Value = int32_t;
    using Lanes = Ints4;
    using Sums = Ints4;
    // A number of four taps of each block.
    using Group = const int32_t*;
    struct Weights {
        int32_t one, other;
    };

    static MMP_INLINE Group group(const Value* const* taps) { return taps[0]; }
    // The weights of two taps of a group, or of all blocks.
    template <int Tap>
    static MMP_INLINE Weights weights(Group group) {
        return {group[Tap], group[Tap + 1]};
    }
    static MMP_INLINE Weights weights(const Value* of_all) { return {of_all[0], of_all[1]}; }
    // The limits of a tap.
    template <int Tap>
    static MMP_INLINE Lanes limits(Group group) {
        return Lanes{} + group[Tap];
    }
    static MMP_INLINE void add(Sums (&sums)[2], Lanes one, Lanes other, Weights w) {
        sums[0] += w.one * one + w.other * other;
    }
    static MMP_INLINE void store_sums(int32_t* out, const Sums (&sums)[2]) { store(out, sums[0]); }
    static MMP_INLINE Lanes shifted(const Sums (&sums)[2], int bits) { return sums[0] >> bits; }
};

// Two blocks. The differences of two taps are interleaved, so that one instruction multiplies both
// and adds the products.
struct EightLanes {
    static constexpr int kBlocks = 2;
    using Value = int16_t;
    using Lanes = Shorts8;
    using Sums = Ints4;
    using Group = Lanes;
    struct Weights {
        Lanes low, high;
    };

    static MMP_INLINE Group group(const Value* const* taps) {
        return joined<Lanes>(loaded<Shorts4>(taps[0]), loaded<Shorts4>(taps[1]));
    }
    template <int Tap>
    static MMP_INLINE Weights weights(Group group) {
        constexpr int k = Tap / 2;
        const auto pairs = reinterpret_cast<Ints4>(group);
        return {reinterpret_cast<Lanes>(shuffled<k, k, k, k>(pairs)),
                reinterpret_cast<Lanes>(shuffled<2 + k, 2 + k, 2 + k, 2 + k>(pairs))};
    }
    static MMP_INLINE Weights weights(const Value* of_all) {
        const auto both = reinterpret_cast<Lanes>(Ints4{} + loaded<int32_t>(of_all));
        return {both, both};
    }
    template <int k>
    static MMP_INLINE Lanes limits(Group group) {
        return shuffled<k, k, k, k, 4 + k, 4 + k, 4 + k, 4 + k>(group);
    }
    static MMP_INLINE void add(Sums (&sums)[2], Lanes one, Lanes other, const Weights& w) {
        sums[0] += products_of_pairs(interleaved_low(one, other), w.low);
        sums[1] += products_of_pairs(interleaved_high(one, other), w.high);
    }
    static MMP_INLINE void store_sums(int32_t* out, const Sums (&sums)[2]) {
        store(out, sums[0]);
        store(out + 4, sums[1]);
    }
    static MMP_INLINE Lanes shifted(const Sums (&sums)[2], int bits) {
        return narrowed(sums[0] >> bits, sums[1] >> bits);
    }
};

#ifdef __AVX2__
// Four blocks. Lanes are interleaved within 128 bits, so the lower ones are those of the blocks 0
// and 2.
struct SixteenLanes {
    static constexpr int kBlocks = 4;
    using Value = int16_t;
    using Lanes = Shorts16;
    using Sums = Ints8;
    using Group = Lanes;
    struct Weights {
        Lanes low, high;
    };

    static MMP_INLINE Group group(const Value* const* taps) {
        return joined<Lanes>(EightLanes::group(taps), EightLanes::group(taps + 2));
    }
    template <int Tap>
    static MMP_INLINE Weights weights(Group group) {
        constexpr int k = Tap / 2;
        const auto pairs = reinterpret_cast<Ints8>(group);
        return {reinterpret_cast<Lanes>(
                    shuffled<k, k, k, k, 4 + k, 4 + k, 4 + k, 4 + k>(pairs)),
                reinterpret_cast<Lanes>(
                    shuffled<2 + k, 2 + k, 2 + k, 2 + k, 6 + k, 6 + k, 6 + k, 6 + k>(pairs))};
    }
    static MMP_INLINE Weights weights(const Value* of_all) {
        const auto both = reinterpret_cast<Lanes>(Ints8{} + loaded<int32_t>(of_all));
        return {both, both};
    }
    template <int k>
    static MMP_INLINE Lanes limits(Group group) {
        return shuffled<k, k, k, k, 4 + k, 4 + k, 4 + k, 4 + k, 8 + k, 8 + k, 8 + k, 8 + k, 12 + k,
                        12 + k, 12 + k, 12 + k>(group);
    }
    static MMP_INLINE void add(Sums (&sums)[2], Lanes one, Lanes other, const Weights& w) {
        sums[0] += products_of_pairs(interleaved_low(one, other), w.low);
        sums[1] += products_of_pairs(interleaved_high(one, other), w.high);
    }
    static MMP_INLINE void store_sums(int32_t* out, const Sums (&sums)[2]) {
        store(out, chosen_lanes(sums[0], sums[1], Ints8{0, 1, 2, 3, 8, 9, 10, 11}));
        store(out + 8, chosen_lanes(sums[0], sums[1], Ints8{4, 5, 6, 7, 12, 13, 14, 15}));
    }
    static MMP_INLINE Lanes shifted(const Sums (&sums)[2], int bits) {
        return __builtin_ia32_packssdw256(sums[0] >> bits, sums[1] >> bits);
    }
};
#endif

// The taps of a fixed filter: two opposite samples, each of which differs from the sample in the
// middle by at most a limit.
template <class Lanes, class Value>
struct FixedTaps {
    using Form = LimitedTaps<Value>;
    static constexpr int kCount = kBankTaps;
    static constexpr int kFractionBits = kFilterFractionBits + 1;  // scales are in halves
    static constexpr const TapOffset (&kOffsets)[kCount] = kBankOffsets;

    static MMP_INLINE Lanes difference(Lanes x, Lanes one, Lanes opposite, Lanes limit) {
        return cut(one - x, limit) + cut(opposite - x, limit);
    }

private:
    static MMP_INLINE Lanes cut(Lanes z, Lanes limit) {
        const Lanes low = z < -limit ? -limit : z;
        return low > limit ? limit : low;
    }
};

// Two opposite samples.
template <class Lanes, class Value>
struct PostTaps {
    using Form = TapWeights<Value, kFilterTaps>;
    static constexpr int kCount = kFilterTaps;
    static constexpr int kFractionBits = kFilterFractionBits;
    static constexpr const TapOffset (&kOffsets)[kCount] = kTapOffsets;

    static MMP_INLINE Lanes difference(Lanes x, Lanes one, Lanes opposite, Lanes) {
        return one + opposite - (x + x);
    }
};

// The weighted sums of a vector of blocks, by row.
template <class Simd>
using BlockSums = typename Simd::Sums[kFilterBlock][2];

// Calls work(integral constant) for 0 to Count - 1.
template <int Count, class Work>
MMP_INLINE void unrolled(const Work& work) {
    [&]<int... Number>(std::integer_sequence<int, Number...>) MMP_INLINED {
        (work(std::integral_constant<int, Number>()), ...);
    }(std::make_integer_sequence<int, Count>());
}

// The sums of the samples, with the weight 1, and the rounding.
template <class Simd, int kFractionBits>
MMP_INLINE void begin(typename Simd::Lanes x, typename Simd::Sums (&sums)[2]) {
    constexpr typename Simd::Value kWeights[2] = {1 << kFractionBits, 1 << (kFractionBits - 1)};
    sums[0] = sums[1] = typename Simd::Sums{};
    Simd::add(sums, x, typename Simd::Lanes{} + 1, Simd::weights(kWeights));
}

// Stores the filtered samples of a vector of blocks from a column on.
template <class Simd, int kFractionBits, class Sample>
MMP_INLINE void store_samples(const FilteredRows<Sample>& out, int64_t column,
                              const BlockSums<Simd>& sums) {
    using Lanes = typename Simd::Lanes;
    constexpr int kColumns = kFilterBlock * Simd::kBlocks;
    using Samples = typename Vector<Sample, kColumns>::Type;
    const Lanes most = Lanes{} + typename Simd::Value(out.most);
    const auto filtered = [&](int row) MMP_INLINED {
        const Lanes y = Simd::shifted(sums[row], kFractionBits), positive = y > 0 ? y : Lanes{};
        return __builtin_convertvector(Lanes(positive > most ? most : positive), Samples);
    };
    Sample* place = out.samples + column;
    if (column + kColumns <= out.width && out.first == 0 && out.last == kFilterBlock) {
        unrolled<kFilterBlock>([&](auto row) MMP_INLINED {
            store(place + row * out.width, filtered(row));
        });
        return;
    }
    Sample lines[kFilterBlock][kColumns];
    unrolled<kFilterBlock>([&](auto row) MMP_INLINED { store(lines[row], filtered(row)); });
    for (int row = out.first; row < out.last; ++row)
        std::copy_n(lines[row], std::min<int64_t>(kColumns, out.width - column),
                    place + row * out.width);
}

// The filters of own samples.
template <class Simd, template <class, class> class Kind>
class Own {
    using Lanes = typename Simd::Lanes;
    using Value = typename Simd::Value;
    using Taps = Kind<Lanes, Value>;
    using Form = typename Taps::Form;

public:
    template <class Sample>
    static void filter(const TapRow<Value, Form>& row, const FilteredRows<Sample>& out) {
        for (int64_t block = 0; block < row.blocks; block += Simd::kBlocks) {
            const Value* x = row.x + kFilterBlock * block;
            BlockSums<Simd> sums;
            unrolled<kFilterBlock>([&](auto k) MMP_INLINED {
                begin<Simd, Taps::kFractionBits>(loaded<Lanes>(x + k * row.stride), sums[k]);
            });
            add(row, block, sums);
            store_samples<Simd, Taps::kFractionBits>(out, kFilterBlock * block, sums);
        }
    }
    static void sum(const TapRow<Value, Form>& row, int32_t* out, int64_t stride) {
        for (int64_t block = 0; block < row.blocks; block += Simd::kBlocks) {
            BlockSums<Simd> sums = {};
            add(row, block, sums);
            for (int k = 0; k < kFilterBlock; ++k)
                Simd::store_sums(out + k * stride + kFilterBlock * block, sums[k]);
        }
    }

private:
    static MMP_INLINE void add(const TapRow<Value, Form>& row, int64_t block,
                               BlockSums<Simd>& sums) {
        static constexpr Form kIdle{};
        const Form* forms[Simd::kBlocks];
        bool idle = true;
        for (int k = 0; k < Simd::kBlocks; ++k) {
            const Form* own = row.forms[row.numbers[block + k]];
            idle &= own == nullptr;
            forms[k] = own ? own : &kIdle;
        }
        if (idle) return;
        const Value* x = row.x + kFilterBlock * block;
        unrolled<Taps::kCount / 2>([&](auto pair) MMP_INLINED {
            constexpr int kTap = 2 * pair, kFirst = kTap / kTapGroup * kTapGroup,
                          kWithin = kTap % kTapGroup;
            const auto group = [&](auto taps) MMP_INLINED {
                const Value* own[Simd::kBlocks];
                for (int k = 0; k < Simd::kBlocks; ++k) own[k] = (forms[k]->*taps) + kFirst;
                return Simd::group(own);
            };
            const auto weights = Simd::template weights<kWithin>(group(&Form::weights));
            Lanes one{}, other{};
            if constexpr (requires { forms[0]->limits; }) {
                const auto limits = group(&Form::limits);
                one = Simd::template limits<kWithin>(limits);
                other = Simd::template limits<kWithin + 1>(limits);
            }
            unrolled<kFilterBlock>([&](auto k) MMP_INLINED {
                const Value* own = x + k * row.stride;
                Simd::add(sums[k], difference<kTap>(own, row.stride, one),
                          difference<kTap + 1>(own, row.stride, other), weights);
                for (auto& each : sums[k]) settle(each);
            });
        });
    }
    template <int Tap>
    static MMP_INLINE Lanes difference(const Value* x, ptrdiff_t stride, Lanes limit) {
        constexpr TapOffset o = Taps::kOffsets[Tap];
        const ptrdiff_t offset = o.row * stride + o.column;
        return Taps::difference(loaded<Lanes>(x), loaded<Lanes>(x + offset),
                                loaded<Lanes>(x - offset), limit);
    }
};

// The filter of a plane by other planes. The differences of a plane's taps from its sample in the
// middle are not computed: that sample has the negative sum of the weights.
template <class Simd>
class Planes {
    using Lanes = typename Simd::Lanes;
    using Value = typename Simd::Value;
    static constexpr int kColumns = kFilterBlock * Simd::kBlocks;

public:
    template <class Sample>
    static void filter(const PlaneTapRow<Value>& row, const Sample* x, int64_t x_stride,
                       const FilteredRows<Sample>& out) {
        const auto all = row.count > 1 ? filter_by<2, Sample> : filter_by<1, Sample>;
        all(row, x, x_stride, out);
    }

private:
    template <int kCount, class Sample>
    static void filter_by(const PlaneTapRow<Value>& row, const Sample* x, int64_t x_stride,
                          const FilteredRows<Sample>& out) {
        const ptrdiff_t stride = row.stride;
        for (int64_t column = 0; column < out.width; column += kColumns) {
            const Value *one = row.planes[0] + column, *other = row.planes[kCount - 1] + column;
            const auto middle = Simd::weights(row.form.weights + kMostPlanesRead * kPlaneTaps);
            BlockSums<Simd> sums;
            unrolled<kFilterBlock>([&](auto k) MMP_INLINED {
                const bool inside = k < out.last;  // others would lie beyond the plane
                begin<Simd, kFilterFractionBits>(
                    inside ? own(x + k * x_stride + column, out.width - column) : Lanes{},
                    sums[k]);
                Simd::add(sums[k], loaded<Lanes>(one + k * stride),
                          loaded<Lanes>(other + k * stride), middle);
            });
            add(one, stride, row.form.weights, sums);
            if (kCount > 1) add(other, stride, row.form.weights + kPlaneTaps, sums);
            store_samples<Simd, kFilterFractionBits>(out, column, sums);
        }
    }
    static MMP_INLINE void add(const Value* x, ptrdiff_t stride, const Value* of_plane,
                               BlockSums<Simd>& sums) {
        unrolled<kPlaneTaps / 2>([&](auto pair) MMP_INLINED {
            const auto weights = Simd::weights(of_plane + 2 * pair);
            unrolled<kFilterBlock>([&](auto k) MMP_INLINED {
                const Value* own = x + k * stride;
                Simd::add(sums[k], tap<2 * pair>(own, stride), tap<2 * pair + 1>(own, stride),
                          weights);
                for (auto& each : sums[k]) settle(each);
            });
        });
    }
    template <int Tap>
    static MMP_INLINE Lanes tap(const Value* x, ptrdiff_t stride) {
        constexpr TapOffset o = kPlaneOffsets[Tap];
        return loaded<Lanes>(x + o.row * stride + o.column);
    }
    // The samples from x on, of which `count` lie in the row.
    template <class Sample>
    static MMP_INLINE Lanes own(const Sample* x, int64_t count) {
        Sample line[kColumns] = {};
        if (count < kColumns) x = std::copy_n(x, count, line) - count;
        return __builtin_convertvector(loaded<typename Vector<Sample, kColumns>::Type>(x), Lanes);
    }
};

template <class Simd, class Sample>
constexpr TapKernel<typename Simd::Value, Sample> kernel_of(bool (*supported)()) {
    return {supported, Own<Simd, FixedTaps>::template filter<Sample>,
            Own<Simd, PostTaps>::template filter<Sample>, Planes<Simd>::template filter<Sample>,
            Own<Simd, FixedTaps>::sum};
}

}  // namespace
