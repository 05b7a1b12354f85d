// Weighted sums of blocks, in vectors of some blocks of a row, for any SIMD level. avx2.cpp and
// generic.cpp include this file and compile it for their own level.
#pragma once

#include <utility>

#include "cpu/filters/taps/taps.h"
#include "cpu/runtime/simd.h"

namespace {

using namespace mmp;

// One block, in 32 bits.
struct FourLanes {
    static constexpr int kBlocks = 1;
    using Value = int32_t;
    using Lanes = Ints4;
    using Sums = Ints4;
    struct Weights {
        int32_t one, other;
    };

    template <class Form>
    static MMP_INLINE Weights weights(const Form* const* forms, int tap) {
        return {forms[0]->weights[tap], forms[0]->weights[tap + 1]};
    }
    template <class Form>
    static MMP_INLINE Lanes limits(const Form* const* forms, int tap) {
        return loaded<Lanes>(forms[0]->limits[tap]);
    }
    static MMP_INLINE void add(Sums (&sums)[2], Lanes one, Lanes other, Weights w) {
        sums[0] += w.one * one + w.other * other;
    }
    static MMP_INLINE void store_sums(int32_t* out, const Sums (&sums)[2]) { store(out, sums[0]); }
};

// The weights of two taps, as one number.
template <class Form>
MMP_INLINE int32_t weights_of(const Form* form, int tap) {
    int32_t pair;
    memcpy(&pair, form->weights + tap, sizeof pair);
    return pair;
}

template <class Form>
MMP_INLINE Shorts8 limits_of_two(const Form* const* forms, int tap) {
    return joined<Shorts8>(loaded<Shorts4>(forms[0]->limits[tap]),
                           loaded<Shorts4>(forms[1]->limits[tap]));
}

// Two blocks. The differences of two taps are interleaved, so that one instruction multiplies both
// and adds the products.
struct EightLanes {
    static constexpr int kBlocks = 2;
    using Value = int16_t;
    using Lanes = Shorts8;
    using Sums = Ints4;
    struct Weights {
        Lanes low, high;
    };

    template <class Form>
    static MMP_INLINE Weights weights(const Form* const* forms, int tap) {
        return {reinterpret_cast<Lanes>(Ints4{} + weights_of(forms[0], tap)),
                reinterpret_cast<Lanes>(Ints4{} + weights_of(forms[1], tap))};
    }
    template <class Form>
    static MMP_INLINE Lanes limits(const Form* const* forms, int tap) {
        return limits_of_two(forms, tap);
    }
    static MMP_INLINE void add(Sums (&sums)[2], Lanes one, Lanes other, const Weights& w) {
        sums[0] += products_of_pairs(interleaved_low(one, other), w.low);
        sums[1] += products_of_pairs(interleaved_high(one, other), w.high);
    }
    static MMP_INLINE void store_sums(int32_t* out, const Sums (&sums)[2]) {
        store(out, sums[0]);
        store(out + 4, sums[1]);
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
    struct Weights {
        Lanes low, high;
    };

    template <class Form>
    static MMP_INLINE Weights weights(const Form* const* forms, int tap) {
        const auto of_two = [&](int a, int b) MMP_INLINED {
            return reinterpret_cast<Lanes>(joined<Ints8>(Ints4{} + weights_of(forms[a], tap),
                                                         Ints4{} + weights_of(forms[b], tap)));
        };
        return {of_two(0, 2), of_two(1, 3)};
    }
    template <class Form>
    static MMP_INLINE Lanes limits(const Form* const* forms, int tap) {
        return joined<Lanes>(limits_of_two(forms, tap), limits_of_two(forms + 2, tap));
    }
    static MMP_INLINE void add(Sums (&sums)[2], Lanes one, Lanes other, const Weights& w) {
        sums[0] += products_of_pairs(interleaved_low(one, other), w.low);
        sums[1] += products_of_pairs(interleaved_high(one, other), w.high);
    }
    static MMP_INLINE void store_sums(int32_t* out, const Sums (&sums)[2]) {
        store(out, chosen_lanes(sums[0], sums[1], Ints8{0, 1, 2, 3, 8, 9, 10, 11}));
        store(out + 8, chosen_lanes(sums[0], sums[1], Ints8{4, 5, 6, 7, 12, 13, 14, 15}));
    }
};
#endif

// The taps of a filter: two opposite samples, each of which differs from the sample in the middle
// by at most a limit.
template <class Lanes, class Value>
struct FixedTaps {
    using Form = LimitedTaps<Value>;
    static constexpr int kCount = kBankTaps;
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
    static constexpr const TapOffset (&kOffsets)[kCount] = kTapOffsets;

    static MMP_INLINE Lanes difference(Lanes x, Lanes one, Lanes opposite, Lanes) {
        return one + opposite - (x + x);
    }
};

// One sample.
template <class Lanes, class Value>
struct PlaneTaps {
    using Form = TapWeights<Value, kPlaneTaps>;
    static constexpr int kCount = kPlaneTaps;
    static constexpr const TapOffset (&kOffsets)[kCount] = kPlaneOffsets;

    static MMP_INLINE Lanes difference(Lanes x, Lanes one, Lanes, Lanes) { return one - x; }
};

template <class Simd, template <class, class> class Kind>
class Vectors {
    using Lanes = typename Simd::Lanes;
    using Value = typename Simd::Value;
    using Sums = typename Simd::Sums;
    using Taps = Kind<Lanes, Value>;
    using Form = typename Taps::Form;

public:
    static void weigh(const TapRow<Value, Form>& row) {
        static constexpr Form kIdle{};
        for (int64_t block = 0; block < row.blocks; block += Simd::kBlocks) {
            const Form* forms[Simd::kBlocks];
            bool idle = true;
            for (int k = 0; k < Simd::kBlocks; ++k) {
                const Form* own = row.forms[block + k];
                idle &= own == nullptr;
                forms[k] = own ? own : &kIdle;
            }
            const int64_t column = kFilterBlock * block;
            Sums sums[kFilterBlock][2] = {};
            if (!idle)
                [&]<int... Pair>(std::integer_sequence<int, Pair...>) MMP_INLINED {
                    (add_pair<2 * Pair>(row.x + column, row.stride, forms, sums), ...);
                }(std::make_integer_sequence<int, Taps::kCount / 2>());
            for (int k = 0; k < kFilterBlock; ++k)
                Simd::store_sums(row.sums + k * row.sums_stride + column, sums[k]);
        }
    }

private:
    template <int Tap>
    static MMP_INLINE void add_pair(const Value* x, ptrdiff_t stride, const Form* const* forms,
                                    Sums (&sums)[kFilterBlock][2]) {
        const auto weights = Simd::weights(forms, Tap);
        const Lanes one = limits<Tap>(forms), other = limits<Tap + 1>(forms);
        for (int row = 0; row < kFilterBlock; ++row, x += stride)
            Simd::add(sums[row], difference<Tap>(x, stride, one),
                      difference<Tap + 1>(x, stride, other), weights);
    }
    template <int Tap>
    static MMP_INLINE Lanes limits(const Form* const* forms) {
        if constexpr (requires { forms[0]->limits; })
            return Simd::limits(forms, Tap);
        else
            return Lanes{};
    }
    template <int Tap>
    static MMP_INLINE Lanes difference(const Value* x, ptrdiff_t stride, Lanes limit) {
        constexpr TapOffset o = Taps::kOffsets[Tap];
        const ptrdiff_t offset = o.row * stride + o.column;
        return Taps::difference(loaded<Lanes>(x), loaded<Lanes>(x + offset),
                                loaded<Lanes>(x - offset), limit);
    }
};

template <class Simd>
constexpr TapKernel<typename Simd::Value> kernel_of(bool (*supported)()) {
    return {supported, Vectors<Simd, FixedTaps>::weigh, Vectors<Simd, PostTaps>::weigh,
            Vectors<Simd, PlaneTaps>::weigh};
}

}  // namespace
