#include "cpu/blocks/reader.h"

#include <string>

namespace mmp {

Syntax syntax_of(int model) {
    if (model < kLikelyModels) return kSplitSyntax;
    if (model < kKindModels) return kModeSyntax;
    if (model < kTypeModels) return kKindSyntax;
    if (model >= kSkipModels) return kLevelSyntax;
    if (model >= kChangedModels) return kSplitSyntax;
    if (model >= kPlanesModels) return kModeSyntax;
    if (model >= kTernaryModels) return kSplitSyntax;
    return model >= kTreeModels && model < kBitModels ? kTreeSyntax : kLevelSyntax;
}

namespace {

[[noreturn]] void fail(const char* section, const char* what, int value, int most, int least) {
    throw CorruptPayload(std::string(what) + " is " + std::to_string(value) + ", allowed is " +
                             std::to_string(least) + " to " + std::to_string(most),
                         section);
}

// Reads symbols with a range decoder of its own, which the compiler can keep in registers.
template <bool kTraced>
class Symbols {
public:
    static constexpr bool kWrites = false;
    Symbols(const RangeDecoder& coder, BlockModels& models, ReaderTrace* trace, int32_t step,
            int16_t* coefficients)
        : coder_(coder),
          bits_(models.bits),
          trace_(trace),
          step_(step),
          coefficients_(coefficients) {}

    const RangeDecoder& coder() const { return coder_; }

    MMP_INLINE int bit(int model, int) {
        BitModel& of = bits_[unsigned(model)];
        const int value = decode(model, of.one);
        count(of, model, value);
        return value;
    }
    MMP_INLINE int mean_bit(int model, int other, int) {
        BitModel &of = bits_[unsigned(model)], &and_of = bits_[unsigned(other)];
        const int value = decode(model, mean_probability(of, and_of));
        count(of, model, value);
        count(and_of, other, value);
        return value;
    }
    MMP_INLINE int plain(int count, int) {
        if constexpr (kTraced) trace_->plain(count);
        return count == 1 ? coder_.plain_bit() : count ? int(coder_.plain(count)) : 0;
    }
    MMP_INLINE bool check(bool good, const char* section, const char* what, int value, int most) {
        if (!good) [[unlikely]] fail(section, what, value, most, 0);
        return true;
    }
    // Dequantises a level that is not 0.
    MMP_INLINE void take(int place, int size, bool negative, int quantiser, bool dependent) {
        const int32_t value =
            dependent ? dependent_value(size, quantiser, step_) : dequantised(size, step_);
        coefficients_[place] = int16_t(negative ? -value : value);
        last_ = larger(last_, place);
        places_ |= place;
    }
    // The extent of the levels that were taken.
    Extent extent(int columns) const {
        // The columns are a power of two, at most twice as many as are needed.
        const uint32_t across = uint32_t(places_ & (columns - 1));
        return {last_ / columns + 1, across ? 2 << floor_log2(across) : 1};
    }

private:
    MMP_INLINE int decode(int model, uint32_t one) {
        const int value = coder_.bit(kBitTotal, one);
        if constexpr (kTraced) trace_->bit(model, value ? one : kBitTotal - one);
        return value;
    }
    MMP_INLINE void count(BitModel& of, int model, int value) {
        of.count(value);
        if constexpr (kTraced) trace_->count(model, value);
    }

    RangeDecoder coder_;
    BitModel* const bits_;
    ReaderTrace* const trace_;
    const int32_t step_;
    int16_t* const coefficients_;
    int last_ = 0, places_ = 0;  // the largest place, and all places together, of levels taken
};

}  // namespace

int BlockReader::bit(int model, int) {
    BitModel& of = models_.bits[model];
    const int value = coder_.bit(kBitTotal, of.one);
    if (trace_) {
        trace_->bit(model, value ? of.one : kBitTotal - of.one);
        trace_->count(model, value);
    }
    of.count(value);
    return value;
}

int BlockReader::other(int size, const LikelyModes& likely, uint64_t allowed, int) {
    uint32_t weights[kModes];
    const uint32_t total = weigh_modes(models_, size, likely, allowed, weights);
    const uint32_t target = coder_.target(total);
    uint32_t cumulative = 0;
    int mode = 0;
    for (; cumulative + weights[mode] <= target; ++mode) cumulative += weights[mode];
    coder_.consume(cumulative, weights[mode]);
    if (trace_) trace_->tally.add(kModeSyntax, weights[mode], total);
    return mode;
}

template <bool kTraced>
Extent BlockReader::read_coefficients(int a, int b, int mode, const BlockTools& tools,
                                    int16_t* coefficients) {
    Symbols<kTraced> symbols(coder_, models_, trace_, tools.step, coefficients);
    code_levels(symbols, a, b, mode, tools, coefficients);
    coder_ = symbols.coder();
    return symbols.extent(scan_of(a, b).columns);
}

Extent BlockReader::coefficients(int a, int b, int mode, const BlockTools& tools,
                                 int16_t* coefficients) {
    return trace_ ? read_coefficients<true>(a, b, mode, tools, coefficients)
                  : read_coefficients<false>(a, b, mode, tools, coefficients);
}

bool BlockReader::check(bool good, const char* section, const char* what, int value, int most,
                        int least) {
    if (!good) fail(section, what, value, most, least);
    return true;
}

void BlockReader::check_mode(int mode, uint64_t allowed) {
    if (!(allowed >> mode & 1))
        throw CorruptPayload("mode is " + std::to_string(mode) + ", which is not there", "Modes");
}

}  // namespace mmp
