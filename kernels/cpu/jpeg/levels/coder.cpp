#include "cpu/jpeg/levels/coder.h"

#include <memory>

#include "cpu/jpeg/levels/first_level.h"
#include "cpu/jpeg/levels/near.h"
#include "cpu/jpeg/levels/stripe_coder.h"
#include "cpu/jpeg/zigzag.h"
#include "cpu/runtime/interrupts.h"

namespace mmp::jpeg {

namespace {

constexpr int kKindsOf[kMostComponents] = {0, 1, 2, 0};
constexpr Decisions kSizeNumbers{16, 16, 0}, kPlaceNumbers{64, 64, 0};

template <int Models>
std::array<int, Models> counts_of(int first) {
    std::array<int, Models> all{};
    all[0] = first;
    return all;
}

}  // namespace

template <int Form, class Bits>
StripeCoder<Form, Bits>::StripeCoder(const Picture& picture, int first_row, int rows)
    : sizes_(kSizeNumbers, counts_of<kModels>(kKinds * kBlockLevels * kSizeSteps),
             {kKinds * 8, kKinds * kSizeSteps, kKinds * 64, kKinds * 64}),
      ends_(kPlaceNumbers, counts_of<kModels>(kKinds * kEndSteps),
            {kKinds * 64, kKinds * 64, kKinds * 32, kKinds}),
      firsts_(kSizeNumbers, counts_of<kModels>(kKinds * kFirstSteps),
              {kKinds * 32, kKinds * 32, kKinds, kKinds * 32}),
      first_signs_(kSizeNumbers, counts_of<kModels>(kKinds * 8), {kKinds, 1, 1, 1}),
      signs_(kPlaceNumbers, counts_of<kModels>(kKinds * kSignSteps),
             {kKinds, kKinds * 32, kKinds * 8, kKinds * 33}) {
    const bool alone = picture.components.size() == 1;
    for (size_t i = 0; i < picture.components.size(); ++i) {
        const Component& own = picture.components[i];
        const int down = alone ? 1 : own.down;
        stripe_.emplace_back(own, first_row * down, rows * down, kKindsOf[i]);
    }
    const LevelTables& tables = level_tables();
    constexpr int kUses = Form == 1 ? 12 : 24;
    const auto start = [&](Own& mixer, uint32_t context, int decision, int state) {
        mixer.start(context, decision, state * 256 + 128, kUses);
    };
    for (uint32_t kind = 0; kind < kKinds; ++kind) {
        const int own = kind > 0;
        for (uint32_t k = 0; k < kBlockLevels; ++k)
            for (uint32_t step = 0; step < kSizeSteps; ++step)
                for (int d = 0; d < kSizeDecisions; ++d)
                    start(sizes_, (kind * kBlockLevels + k) * kSizeSteps + step, d,
                          tables.size_states[own][step][d]);
        for (uint32_t step = 0; step < kEndSteps; ++step)
            for (int d = 0; d < kEndDecisions; ++d)
                start(ends_, kind * kEndSteps + step, d, tables.end_states[own][step][d]);
        for (uint32_t step = 0; step < kFirstSteps; ++step)
            for (int d = 0; d < kSizeDecisions; ++d)
                start(firsts_, kind * kFirstSteps + step, d, tables.first_states[own][step][d]);
        for (uint32_t step = 0; step < kSignSteps; ++step)
            for (int d = 0; d < kBlockLevels; ++d)
                start(signs_, kind * kSignSteps + step, d, tables.sign_states[own][step]);
    }
    // The first model, which starts from a table, counts more until the others have learned.
    if (Form == 2) {
        sizes_.start_weights(12000, 1000);
        signs_.start_weights(9000, 1200);
    }
    if (Form == 3) {
        sizes_.start_weights(10000, 500);
        signs_.start_weights(8000, 600);
    }
    if (!kFits) return;
    tails_.emplace(Decisions{32, 32, 0}, counts_of<8>(0),
                   std::array<int, kMostSets>{kKinds, 1, 1, 1});
    solver_ = std::make_unique<StripFits>();
    for (int kind = 0; kind < kKinds; ++kind) {
        level_fits_.emplace_back(kBlockLevels, 29, nullptr, 1000, 4);
        size_fits_.emplace_back(kBlockLevels, 28, tables.size_weights[kind], 1600000, 4);
        first_fits_.emplace_back(1, 20, kFirstPrior, 20000, 4);
    }
}

template <int Form, class Bits>
void StripeCoder<Form, Bits>::begin_component(int number) {
    const Component& own = stripe_[number].component;
    kind_ = stripe_[number].kind;
    for (int k = 0; k < kBlockLevels; ++k) steps_[k] = std::max<int>(own.steps[k], 1);
    borders_.emplace(own, kBorder);
    if (kFits)
        slopes_.emplace(own, kSlope);
    else
        size_sums_.emplace(own.columns);
}

// Codes a size: unary up to 6, then the digits of the rest, then the bits below the first one.
template <int Form, class Bits>
template <class Models>
MMP_INLINE int StripeCoder<Form, Bits>::code_size(Bits& bits, Models& models, int given,
                                                       bool is_last) {
    if (!is_last && !bit(bits, models, 0, given > 0)) return 0;
    for (int size = 1; size < kUnary; ++size)
        if (!bit(bits, models, size, given > size)) return size;
    const int rest = given - kUnary + 1;
    int digits = 0;
    while (digits < kMostDigits &&
           bit(bits, models, kUnary + std::min(digits, 7), rest >> (digits + 1) != 0))
        ++digits;
    return code_tail(bits, digits, rest) + kUnary - 1;
}

// Codes the bits of a number below its first one.
template <int Form, class Bits>
MMP_INLINE int StripeCoder<Form, Bits>::code_tail(Bits& bits, int digits, int given) {
    int number = 1;
    for (int place = digits - 1; place >= 0; --place) {
        const int own = given >> place & 1;
        if (kFits) {
            const int decision = place == digits - 1   ? std::min(digits, 7)
                                 : place == digits - 2 ? 8 + 2 * std::min(digits, 7) + (number & 1)
                                                       : 24 + std::min(place, 7);
            number = 2 * number + bit(bits, *tails_, decision, own);
            continue;
        }
        uint16_t& one = tail_models_[kind_][digits][place].one;
        const int found = bits.code(uint32_t(std::clamp<int>(one, 32, 65504)), own);
        one = uint16_t(found ? one + ((65535 - one) >> 6) : one - (one >> 6));
        number = 2 * number + found;
    }
    return number;
}

// Codes the place of the last level that is not 0, in the order of scans.
template <int Form, class Bits>
MMP_INLINE int StripeCoder<Form, Bits>::code_end(Bits& bits, const Around& around, int number,
                                                      int column, int given) {
    const StripeComponent& own = stripe_[number];
    const uint32_t kind = uint32_t(kind_), left = uint32_t(around.left_end),
                   above = uint32_t(around.above_end), hint = uint32_t(around.hint);
    const uint32_t end = (left + above + 1) / 2;
    const int count = (around.left_count + around.above_count + 1) / 2;
    int broken = 0;  // how much the borders leave to explain
    for (int i = 1; Form > 1 && i < 8; ++i) {
        if (around.has_above) broken += std::min(abs(borders_->from_above(i)), 64);
        if (around.has_left) broken += std::min(abs(borders_->from_left(8 * i)), 64);
    }
    const int difference = abs(int{own.differences[around.place]});
    const auto joined = [&](uint32_t a, uint32_t b) { return (kind * 1024 + a) * 128 + b; };
    const auto step = [](int size) { return uint32_t(coarse(size)); };
    const bool has_next = around.has_above && column + 1 < own.columns;
    const uint32_t next =
        has_next ? own.ends[around.place - size_t(own.columns) + 1] : around.above_end;
    const uint32_t corner = around.has_above && around.has_left
                                ? own.ends[around.place - size_t(own.columns) - 1]
                                : above;
    const uint32_t before = around.before ? stripe_[1].ends[around.place] : 64;
    ends_.select(
        first_of<kModels>(
            {kind * kEndSteps + step(kind ? 3 * count + around.hint : 4 * count),
             joined(left / 2, above / 2),
             joined(uint32_t(count), end),
             kind ? joined(1000, hint) : joined(step(4 * difference), step(2 * count) / 2),
             joined(step(2 * count) / 2, step(2 * around.hint) / 2),
             joined(step(broken), step(2 * count)),
             joined(left / 4 * 16 + above / 4, step(broken) / 2 * 8 + hint / 8),
             joined(uint32_t(around.left_count), uint32_t(around.above_count)),
             joined(left, hint),
             joined(above, hint),
             joined(step(4 * difference), step(broken)),
             joined(before, end),
             joined(end, step(4 * count)),
             joined(step(4 * count), step(broken)),
             joined(next, left),
             joined(corner, above),
             joined(next, above),
             joined(before, step(broken)),
             joined(end, step(4 * difference)),
             joined(end, step(broken))}),
        {int(kind * 64 + (kind ? hint : uint32_t(count))), int(kind * 64 + end),
         int(kind * 32 + step(broken)), int(kind)});
    int node = 1;
    for (int place = 5; place >= 0; --place)
        node = 2 * node + bit(bits, ends_, node, given >> place & 1);
    return node - kEndDecisions;
}

template <int Form, class Bits>
MMP_INLINE int StripeCoder<Form, Bits>::code_level(Bits& bits, const Around& around, int number,
                                                        int k, int z, int end, int given) {
    Near near(around, own_, *borders_, kind_, k, z, end);
    const Beside beside(k);
    Fits::Inputs size_inputs, level_inputs;
    const int difference = stripe_[number].differences[around.place];
    int fitted = 0;  // predicted level, in 1/8
    int corners = 0, sides = 0, luma_around = 0, before_around = 0;
    if (kFits) {
        near.set_size_inputs(around, difference, kind_, size_inputs.of);
        set_level_inputs(around, near, beside, level_inputs.of);
        fitted = limited(2 * level_fits_[kind_].predict(k, level_inputs), -8000, 8000);
        const int inputs[8] = {beside.row(around.left, k),
                               beside.row(around.above, k),
                               beside.column(around.left, k),
                               beside.column(around.above, k),
                               beside.all(around.above_right, k),
                               beside.all(around.above_left, k),
                               0,
                               0};
        for (int i = 0; kind_ && i < around.lumas; ++i)
            luma_around += beside.all(around.luma[i], k);
        if (around.before) before_around = beside.all(around.before, k);
        sides = inputs[0] + inputs[1] + inputs[2] + inputs[3];
        corners = inputs[4] + inputs[5];
        int16_t* more = size_inputs.of + kSizeInputs;
        for (int i = 0; i < 6; ++i) more[i] = int16_t(logarithm(inputs[i]));
        more[6] = int16_t(logarithm(kind_ ? luma_around : near.left + near.above));
        more[7] = int16_t(logarithm(around.before ? before_around : abs(fitted) / 8));
        near.set_size_step(size_fits_[kind_].predict(k, size_inputs));
    } else {
        near.set_size_step(size_sums_->predict(k, near.from_above, near.from_left, kind_));
    }
    const uint32_t kind = uint32_t(kind_), place = kind * kBlockLevels + uint32_t(k);
    const uint32_t size = uint32_t(near.size_step), left = uint32_t(near.left_to_end());
    const auto step = [](int value) { return uint32_t(coarse(value)); };
    const auto most = [](int value, int limit) { return uint32_t(std::min(value, limit)); };
    const auto joined = [&](uint32_t a, uint32_t b) { return (place * 4096 + a) * 64 + b; };
    const uint32_t blocks = step(near.blocks), block = step(near.block);
    const uint32_t up = step(abs(near.from_above)), side = step(abs(near.from_left));
    const uint32_t off = step(abs(fitted));
    const int energy = near.blocks + near.block + near.others;
    sizes_.select(
        first_of<kModels>(
            {place * kSizeSteps + size,
             joined(uint32_t(end) / 2, 0),
             kind ? joined(blocks / 2, around.before ? most(near.before, 7) : 8)
                  : joined(step(near.blocks + near.block) / 2, step(abs(near.continued)) / 3),
             joined(most(near.west, 7) * 8 + most(near.north, 7), most(near.diagonal, 3)),
             ((kind * 16 + uint32_t(near.u + near.v)) * 32 +
              step(2 * near.blocks + 2 * near.block + near.others)) * 32 + step(near.most_border()),
             joined(up, side / 2),
             joined(most(near.left_to_end(), 31), block / 2),
             kind ? joined(step(near.luma), around.before ? step(4 * near.before) : block)
                  : joined(most(near.left, 7), most(near.above, 7)),
             joined(off, 0),
             joined(size / 2, off),
             joined(step(2 * sides), step(corners) / 3),
             joined(step(sides + near.blocks / 2), block / 2),
             joined(size / 2, step(2 * sides) / 2),
             joined(step(energy), 0),
             (kind * 64 + uint32_t(end)) * 64 + uint32_t(z),
             joined(most(near.left_to_end(), 15), step(energy) / 2),
             joined(step(around.left_count + around.above_count), blocks / 2),
             joined(side, blocks / 3),
             joined(most(near.left, 3) * 4 + most(near.above, 3),
                    most(near.west + near.north, 7) * 8 + most(near.left_to_end(), 15) / 2),
             joined(size / 2, most(near.left_to_end(), 31)),
             ((kind * 16 + uint32_t(near.u + near.v)) * 64 + size) * 16 + off / 2,
             joined(most(abs(around.left_left[k]) + abs(around.above_above[k]), 7),
                    most(near.above_left + near.above_right, 7)),
             joined(blocks, block / 2),
             joined(step(luma_around),
                    around.before ? step(4 * before_around) : step(abs(difference)))}),
        {int(kind * 8) + std::min(near.u + near.v, 7), int(kind * kSizeSteps + size),
         int(kind * 64 + 2 * blocks + (left > 3)), int(kind * 64 + 2 * off + (left < 2))});
    if (kFits)
        select_tails(place, size, uint32_t(near.left), uint32_t(near.above), uint32_t(abs(fitted)));
    const int found = code_size(bits, sizes_, abs(given), z == end);
    if (kFits) size_fits_[kind_].learn(k, size_inputs, logarithm(found));
    if (!found) {
        if (kFits) level_fits_[kind_].learn(k, level_inputs, 0);
        return 0;
    }
    const bool is_below =
        code_sign(bits, around, near, beside, level_inputs.of, fitted, found, given < 0);
    const int value = is_below ? -found : found;
    if (found > 32767 + is_below) refuse_level(value);
    if (kFits) level_fits_[kind_].learn(k, level_inputs, limited(4 * value, -16383, 16383));
    return value;
}

// Whether the level is negative.
template <int Form, class Bits>
MMP_INLINE int StripeCoder<Form, Bits>::code_sign(Bits& bits, const Around& around,
                                                       const Near& near, const Beside& beside,
                                                       const int16_t* inputs, int fitted, int size,
                                                       int given) {
    const int up = near.from_above, side = near.from_left, continued = near.continued;
    const uint32_t kind = uint32_t(kind_), sizes = uint32_t(std::min(size, 3));
    const int16_t* here = own_ + near.k;
    const auto around_zero = [](int value, int most) {
        return uint32_t(limited(value, -most, most) + most);
    };
    const auto joined = [&](uint32_t a, uint32_t b) { return (kind * 512 + a) * 512 + b; };
    const auto third = [](int value) { return value > 4 ? 2u : value < -4 ? 0u : 1u; };
    const uint32_t first =
        near.u == 0   ? around_zero(side / 2, 20) * 3 + third(up)
        : near.v == 0 ? 123 + around_zero(up / 2, 20) * 3 + third(side)
                      : 246 + around_zero(up / 2, 5) * 11 + around_zero(side / 2, 5);
    const auto sign = [&](bool known, int at) { return known ? sign_of(here[at]) : 0u; };
    const uint32_t beside_left = sign_of(around.left[near.k]),
                   beside_above = sign_of(around.above[near.k]);
    const uint32_t before = around.before ? sign_of(around.before[near.k]) : 0;
    const uint32_t luma = around.lumas ? sign_of(around.luma[0][near.k]) : 0;
    const int up_slope = inputs[2], side_slope = inputs[3];
    signs_.select(
        first_of<kModels>(
            {kind * kSignSteps + first,
             joined(around_zero(near.v ? side / 2 : up / 2, 31), 0),
             joined(around_zero(continued / 2, 15), sizes > 1),
             joined(beside_left * 3 + beside_above, before * 3 + luma),
             joined(around_zero(up / 4, 3), around_zero(side / 4, 3)),
             joined(sign(beside.west, -1) * 3 + sign(beside.north, -8),
                    sign(near.u > 1 && near.k != 2, -2) * 3 +
                        sign(near.v > 1 && near.k != 16, -16)),
             joined(around_zero((up + side) / 4, 31), sizes),
             joined(around_zero(up, 4), around_zero(side, 4)),
             joined(around_zero(fitted, 60), 0),
             joined(around_zero(fitted / 2, 30), sizes),
             joined(around_zero(fitted * int(sizes) / 2, 60), uint32_t(near.size_step)),
             joined(around_zero(continued, 100), 0),
             joined(around_zero(continued / 8, 30), 0),
             joined(sign_of(up) * 3 + sign_of(side),
                    around.before ? around_zero(around.before[near.k], 2) : 5),
             joined((beside_left * 3 + beside_above) * 3 + sign_of(continued), sizes),
             joined(sign(beside.east, 1) * 3 + sign(beside.south, 8),
                    sign(beside.west, -1) * 3 + sign(beside.north, -8)),
             joined(around_zero(fitted, 100), sizes),
             joined(around_zero(fitted / 4, 8), around_zero(continued / 2, 8)),
             joined(around_zero(up_slope / 2, 30), 0),
             joined(around_zero(side_slope / 2, 30), 0),
             joined(around_zero(up_slope / 2, 8), around_zero(side_slope / 2, 8)),
             joined(around_zero(fitted / 2, 30), uint32_t(near.size_step)),
             joined(around_zero(fitted / 2, 8), luma * 3 + before),
             joined(around_zero(fitted, 40), around_zero(continued / 4, 4))}),
        {int(kind), int(kind * 32 + uint32_t(coarse(abs(fitted)))),
         int(kind * 8) + std::min(size, 7), int(kind * 33 + around_zero(fitted / 2, 16))});
    return bit(bits, signs_, near.z, given);
}

// The inputs of the fitted level, in 1/4.
template <int Form, class Bits>
MMP_INLINE void StripeCoder<Form, Bits>::set_level_inputs(const Around& around,
                                                               const Near& near,
                                                               const Beside& beside,
                                                               int16_t* inputs) const {
    constexpr int kMost = 4095;
    const int k = near.k, u = near.u, v = near.v;
    const int16_t* here = own_ + k;
    const auto level = [&](const int16_t* of, int at, bool known) {
        return known ? 4 * of[at] : 0;
    };
    const int all[] = {near.from_above,
                       near.from_left,
                       slopes_->from_above(k),
                       slopes_->from_left(k),
                       level(around.left, k, true),
                       level(around.above, k, true),
                       level(around.above_left, k, true),
                       level(around.above_right, k, true),
                       around.before ? level(around.before, k, true) : 0,
                       luma_mean(around, k),
                       level(here, -1, beside.west),
                       level(here, -8, beside.north),
                       level(here, -2, u > 1 && k != 2),
                       level(here, -16, v > 1 && k != 16),
                       level(here, 1, beside.east),
                       level(here, 8, beside.south),
                       level(here, -9, u && v && k != 9),
                       level(here, 7, u && v < 7),
                       level(here, -7, v && u < 7),
                       level(around.above, k + 8, beside.south),
                       level(around.above, k - 8, beside.north),
                       level(around.above, k - 16, v > 1 && k != 16),
                       level(around.left, k + 1, beside.east),
                       level(around.left, k - 1, beside.west),
                       level(around.left, k - 2, u > 1 && k != 2),
                       level(around.above, k + 1, beside.east),
                       level(around.left, k + 8, beside.south),
                       level(here, -3, u > 2 && k != 3),
                       level(here, -24, v > 2 && k != 24)};
    int i = 0;
    for (const int value : all) inputs[i++] = int16_t(limited(value, -kMost, kMost));
}

template <int Form, class Bits>
MMP_INLINE void StripeCoder<Form, Bits>::code_block(Bits& bits, int number, int row, int column) {
    StripeComponent& own = stripe_[number];
    const Around around(stripe_, number, row, column);
    int16_t* block = own.block(row, column);
    int16_t given[kBlockLevels];
    memcpy(given, block, sizeof given);
    memset(own_, 0, kBlockLevels * sizeof *own_);
    borders_->begin(column, around.has_left, around.has_above);
    if (kFits) slopes_->begin(column, around.has_left, around.has_above);
    const auto set = [&](int k, int level) __attribute__((always_inline)) {
        own_[k] = int16_t(level);
        const int value =
            limited(level * steps_[k], -BorderRow::kMostValue, BorderRow::kMostValue);
        borders_->add(k, value);
        if (kFits) slopes_->add(k, value);
    };
    set(0, code_first(bits, around, number, row, column, given[0]));
    int end = 0;
    if (Bits::kWrites) end = 63 - std::countl_zero(levels_in_zigzag(given) | 1);
    end = code_end(bits, around, number, column, end);
    if (!kFits)
        size_sums_->begin(around, kind_, row, column, end, own.differences[around.place]);
    int count = 0;
    for (int z = 1; z <= end; ++z) {
        const int k = kZigzag[z], level = code_level(bits, around, number, k, z, end, given[k]);
        if (level) {
            set(k, level);
            if (!kFits) size_sums_->set(k, abs(level));
            ++count;
        }
    }
    own.ends[around.place] = uint8_t(end);
    own.counts[around.place] = uint8_t(count);
    memcpy(block, own_, kBlockLevels * sizeof *own_);
    borders_->end(column);
    if (kFits)
        slopes_->end(column);
    else
        size_sums_->end(row, column);
}

namespace {

// Each row is compiled for every SIMD level.
#define MMP_CODE_LEVELS(form, Bits)                                                          \
    MMP_SIMD_LEVELS __attribute__((noinline)) void code_row(StripeCoder<form, Bits>& coder,  \
                                                            Bits& state, int number,         \
                                                            int row) {                       \
        Bits bits = state;                                                                   \
        coder.code_row(bits, number, row);                                                   \
        state = bits;                                                                        \
    }
MMP_CODE_LEVELS(1, WrittenBits)
MMP_CODE_LEVELS(2, WrittenBits)
MMP_CODE_LEVELS(3, WrittenBits)
MMP_CODE_LEVELS(1, ReadBits)
MMP_CODE_LEVELS(2, ReadBits)
MMP_CODE_LEVELS(3, ReadBits)

template <int Form, class Bits>
void code_stripe(const Picture& picture, int first_row, int rows, Bits& bits) {
    // Called directly, a function of several SIMD levels is taken for one that throws nothing.
    void (*volatile code)(StripeCoder<Form, Bits>&, Bits&, int, int) = code_row;
    const auto coder = std::make_unique<StripeCoder<Form, Bits>>(picture, first_row, rows);
    for (int number = 0; number < coder->components(); ++number) {
        coder->begin_component(number);
        for (int row = 0; row < coder->rows(number); ++row) {
            stop_if_interrupted();
            code(*coder, bits, number, row);
        }
    }
    bits.finish();
}

template <class Bits>
void code_stripe(const Picture& picture, int first_row, int rows, int form, Bits& bits) {
    if (form == 1) return code_stripe<1>(picture, first_row, rows, bits);
    if (form == 2) return code_stripe<2>(picture, first_row, rows, bits);
    code_stripe<3>(picture, first_row, rows, bits);
}

}  // namespace

std::vector<uint8_t> encode_levels(const Picture& picture, int first_row, int rows, int form) {
    std::vector<uint8_t> payload;
    WrittenBits bits(payload);
    code_stripe(picture, first_row, rows, form, bits);
    return payload;
}

void decode_levels(const uint8_t* payload, size_t size, Picture& picture, int first_row, int rows,
                   int form) {
    ReadBits bits(payload, size);
    code_stripe(picture, first_row, rows, form, bits);
}

}  // namespace mmp::jpeg
