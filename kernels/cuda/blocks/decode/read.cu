// Reads the symbols of planes of predicted blocks: leaves with their coefficients.
#include "cuda/blocks/decode/plane.cuh"
#include "cuda/blocks/decode/range_decoder.cuh"
#include "shared/blocks/syntax.h"

using namespace mmp;

namespace {

constexpr int kReadThreads = 32;
constexpr int kMargins = kCodedSide + 2;  // rows, and columns, of padded sums

struct ReadMemory {
    BlockModels models;
    uint32_t offsets[16];  // what a sum adds to the first models of a level, a pair
    uint32_t rates[kSlowest + 1];  // twice adaptation_rate(), by number of bits seen
    alignas(uint32_t) uint8_t sums[kMargins * kMargins];
};

// Binary models in shared memory, each read and written as one word: the probability, then the
// number of bits seen.
class Models {
public:
    __device__ explicit Models(ReadMemory& memory)
        : words_(reinterpret_cast<uint32_t*>(memory.models.bits)), rates_(memory.rates) {
        static_assert(sizeof(BitModel) == sizeof(uint32_t));
    }
    MMP_DEVICE_INLINE uint32_t word(int model) const { return words_[model]; }
    MMP_DEVICE_INLINE static int one(uint32_t word) { return int(word & 0xFFFF); }
    // BitModel::count() in fewer instructions: the shift of a negative number rounds down, as the
    // subtraction of a quotient that is rounded up.
    MMP_DEVICE_INLINE void count(int model, uint32_t word, int value) {
        const uint32_t seen = word >> 16;
        const int most = value ? int(kBitTotal) - kLeastProbability : kLeastProbability;
        // Products of 17 and 16 bits do not fit 32 bits; of this product the upper word is taken.
        const int moved = __mulhi((most - one(word)) * (1 << 15), int(rates_[seen]));
        words_[model] = word + uint32_t(moved) + (seen < kSlowest ? 1u << 16 : 0);
    }

private:
    uint32_t* words_;
    const uint32_t* rates_;
};

// The levels of a block as code_levels() visits them. Each position is loaded while the two levels
// before it are decoded.
template <bool kFineContexts, bool kDependentLevels>
class LevelScan {
public:
    static constexpr bool kFine = kFineContexts, kDependent = kDependentLevels;

    __device__ LevelScan(const DecodeTables& tables, ReadMemory& memory, int a, int b, int family)
        : positions_(tables.positions[family == kAcross ? 1 : family == kDown ? 2 : 0]
                                     [shape_number(a, b)]),
          sums_(memory.sums + 2 * stride(b) + 2),
          offsets_(memory.offsets),
          count_(smaller(1 << a, kCodedSide) * smaller(1 << b, kCodedSide)),
          stride_(stride(b)),
          area_(area_class(a, b)) {
        const int size = (smaller(1 << a, kCodedSide) + 2) * stride_;
        for (int i = 0; i < (size + 3) / 4; ++i) reinterpret_cast<uint32_t*>(memory.sums)[i] = 0;
    }
    MMP_DEVICE_INLINE int count() const { return count_; }
    MMP_DEVICE_INLINE LevelPosition at(int k) {
        if (k != number_) next_ = load(k), after_ = load(k - 1);
        const LevelPosition position = next_;
        offset_ = offsets_[sums_[position.place_margin >> 16]];
        number_ = k - 1;
        next_ = after_;
        after_ = load(k - 2);
        return position;
    }
    MMP_DEVICE_INLINE int place(const LevelPosition& position) const {
        return int(position.place_margin & 0xFFFF);
    }
    MMP_DEVICE_INLINE void add(const LevelPosition& position, int size) {
        const auto limited = uint8_t(smaller(size, 3));
        uint8_t* to = sums_ + (position.place_margin >> 16);
        // All loads come first, so that none waits for a store before it.
        const uint8_t a = to[-1], b = to[-2], c = to[-stride_], d = to[-2 * stride_],
                      e = to[-stride_ - 1];
        to[-1] = a + limited, to[-2] = b + limited, to[-stride_] = c + limited;
        to[-2 * stride_] = d + limited, to[-stride_ - 1] = e + limited;
    }
    MMP_DEVICE_INLINE LevelModels models(const LevelPosition& first, int state) const {
        const int quantiser = quantiser_of(state);
        if (!kFine) {
            const int sum = sums_[first.place_margin >> 16];
            const int place = coarse_frequency(int(first.frequency));
            return LevelModels::coarse(area_, place, sum, quantiser);
        }
        constexpr int kFineZeros = kDirections * kFrequencies * kSumClasses;
        constexpr uint32_t kSecond = pair_of(kSecondModels - kZeroModels, kFineZeros);
        const uint32_t zeros = first.zero_fine_zero + offset_ + (quantiser ? kSecond : 0);
        const int own = int(offset_ >> 16);
        const int one = int(first.one_remainder & 0xFFFF) + own +
                        quantiser * kFrequencies * kSumClasses;
        return {int(zeros & 0xFFFF), int(zeros >> 16), one, one - kFineOneModels + kFineTwoModels,
                int(first.one_remainder >> 16) + own * kRemainders};
    }
    MMP_DEVICE_INLINE int next(int state, int size) const {
        return kDependent ? next_state(state, size) : 0;
    }

private:
    __device__ static int stride(int b) { return smaller(1 << b, kCodedSide) + 2; }
    MMP_DEVICE_INLINE LevelPosition load(int k) const {
        const uint4 words = __ldg(reinterpret_cast<const uint4*>(positions_ + larger(k, 0)));
        return {words.x, words.y, words.z, words.w};
    }

    const LevelPosition* positions_;
    uint8_t* sums_;
    const uint32_t* offsets_;
    int count_, stride_, area_, number_ = -1;
    uint32_t offset_ = 0;
    LevelPosition next_{}, after_{};
};

// Reads the levels of a block, with a decoder of its own that stays in registers.
class LevelReader {
public:
    static constexpr bool kWrites = false;

    __device__ LevelReader(const RangeDecoder& coder, ReadMemory& memory, int32_t step,
                           uint32_t* coefficients)
        : coder_(coder), models_(memory), step_(step), coefficients_(coefficients) {}

    __device__ const RangeDecoder& coder() const { return coder_; }
    __device__ bool failed() const { return failed_; }
    __device__ uint32_t count() const { return count_; }

    MMP_DEVICE_INLINE int bit(int model, int) {
        const uint32_t word = models_.word(model);
        const int value = coder_.bit(uint32_t(Models::one(word)));
        models_.count(model, word, value);
        return value;
    }
    MMP_DEVICE_INLINE int mean_bit(int model, int other, int) {
        const uint32_t word = models_.word(model), and_word = models_.word(other);
        const int value = coder_.bit(uint32_t(Models::one(word) + Models::one(and_word)) >> 1);
        models_.count(model, word, value);
        models_.count(other, and_word, value);
        return value;
    }
    MMP_DEVICE_INLINE int plain(int count, int) { return count ? int(coder_.plain(count)) : 0; }
    MMP_DEVICE_INLINE bool check(bool good, const char*, const char*, int, int) {
        failed_ |= !good;
        return good;
    }
    MMP_DEVICE_INLINE void take(int place, int size, bool negative, int quantiser, bool dependent) {
        const int32_t value =
            dependent ? dependent_value(size, quantiser, step_) : dequantised(size, step_);
        coefficients_[count_++] = packed_coefficient(place, negative ? -value : value);
    }

private:
    RangeDecoder coder_;
    Models models_;
    const int32_t step_;
    uint32_t* const coefficients_;
    uint32_t count_ = 0;
    bool failed_ = false;
};

class PlaneReader {
public:
    __device__ PlaneReader(CodedPlane& plane, ReadMemory& memory)
        : plane_(plane),
          memory_(memory),
          tools_(plane.tools),
          coder_(plane.payload, plane.payload_size),
          models_(memory) {}

    // Reads all fragments; returns whether the payload decodes.
    __device__ bool read() {
        const int rows = plane_.fragment_rows(), columns = plane_.fragment_columns();
        for (int row = 0; row < rows; ++row)
            for (int column = 0; column < columns; ++column) {
                const int number = row * columns + column;
                if (!failed_) read_fragment(row, column, number);
                plane_.fragments[number + 1] = leaves_;
            }
        return !failed_ && !coder_.is_truncated() && !coder_.has_rest();
    }

    // What the syntax asks of a coder:
    __device__ BlockModels& models() { return memory_.models; }
    __device__ int bit(int model, int) {
        const uint32_t word = models_.word(model);
        const int value = coder_.bit(uint32_t(Models::one(word)));
        models_.count(model, word, value);
        return value;
    }
    __device__ int other(int size, const LikelyModes& likely, uint64_t allowed, int) {
        uint32_t weights[kModes], total = 0;
        for (int mode = 0; mode < kModes; ++mode)
            total += weights[mode] = memory_.models.mode_weight(size, mode, likely, allowed);
        uint64_t unit;
        const uint32_t target = coder_.target(total, unit);
        uint32_t cumulative = 0;
        int mode = 0;
        for (; cumulative + weights[mode] <= target; ++mode) cumulative += weights[mode];
        coder_.consume(unit, cumulative, weights[mode]);
        return mode;
    }
    __device__ bool check(bool good, const char*, const char*, int, int, int = 0) {
        failed_ |= !good;
        return good;
    }
    __device__ void check_mode(int mode, uint64_t allowed) { failed_ |= !(allowed >> mode & 1); }

private:
    __device__ void read_fragment(int row, int column, int number) {
        if (tools_.delta_step) read_change(row, column, number);
        const int log2 = tools_.fragment_log2;
        // A split waits for its last two parts at most.
        BlockPlace waiting[2 * kMostSplits + 1];
        int count = 0;
        waiting[count++] = {row << log2, column << log2, log2, log2};
        fragment_ = waiting[0];
        while (count && !failed_ && !coder_.is_truncated()) {
            const BlockPlace block = waiting[--count];
            if (is_outside(block, plane_.height, plane_.width)) continue;
            const Unit above = unit(block.row - 1, block.column);
            const Unit left = unit(block.row, block.column - 1);
            const Flag forced = forced_flag(block, plane_.height, plane_.width);
            const int flag = forced ? int(forced) : code_flag(*this, tools_, block, above, left, 0);
            if (flag == kLeaf)
                read_leaf(block, above, left);
            else
                for (int part = parts_of(flag) - 1; part >= 0; --part)
                    waiting[count++] = part_of(block, flag, part);
        }
        failed_ |= coder_.is_truncated();
    }

    __device__ void read_change(int row, int column, int number) {
        int expected = 0, context = 0;
        const int8_t* own = plane_.changes + number;
        const int columns = plane_.fragment_columns();
        if (!row) {
            expected = column ? own[-1] : 0;
        } else if (!column) {
            expected = own[-columns];
        } else {
            const int left = own[-1], upper = own[-columns];
            expected = expected_change(left, upper, own[-columns - 1]);
            context = left != upper;
        }
        int size = bit(kChangedModels + context, 0), difference = 0;
        if (size) {
            const bool finer = bit(kFinerModel, 0);
            while (size < 2 * kMostChange &&
                   bit(kFurtherModels + smaller(size, kFurthers) - 1, 0))
                ++size;
            difference = finer ? -size : size;
        }
        const int change = expected + difference;
        if (!check(change >= -kMostChange && change <= kMostChange, "", "", 0, 0)) return;
        plane_.changes[number] = int8_t(change);
        tools_.step = step_at(plane_.tools.step, change);
    }

    __device__ void read_leaf(const BlockPlace& block, const Unit& above, const Unit& left) {
        const int a = block.a, b = block.b, size = size_of(a, b);
        const int last_row = block.row + block.height() - 1;
        const int last_column = block.column + block.width() - 1;
        const LikelyModes likely = likely_modes(above, left, unit(block.row - 1, last_column),
                                                unit(last_row, block.column - 1));
        Leaf leaf{};
        leaf.row = uint8_t((block.row - fragment_.row) >> kUnitLog2);
        leaf.column = uint8_t((block.column - fragment_.column) >> kUnitLog2);
        leaf.a = uint8_t(a), leaf.b = uint8_t(b);
        leaf.mode = uint8_t(code_mode(*this, size, allowed_modes(block), likely,
                                      planes_context(above, left), 0));
        leaf.kind = uint8_t(bit(kind_model(a, b, kind_context(above, left)), 0));
        leaf.first = coefficients_;
        if (failed_) return;
        if (leaf.kind == kTransformed) {
            const int family = family_of(leaf.mode);
            leaf.type = uint8_t(code_type(*this, tools_, a, b, family, 0));
            read_levels(a, b, family);
        }
        leaf.count = coefficients_ - leaf.first;
        const Unit own{leaf.a, leaf.b, leaf.mode, leaf.kind};
        for (int i = 0; i < block.height(); i += kUnit)
            for (int j = 0; j < block.width(); j += kUnit) {
                const int64_t at = plane_.unit_number(block.row + i, block.column + j);
                plane_.units[at] = own;
                plane_.order[at] = leaves_ + 1;
            }
        plane_.leaves[leaves_++] = leaf;
    }

    __device__ void read_levels(int a, int b, int family) {
        if (tools_.fine_contexts && tools_.dependent)
            read_levels_by<true, true>(a, b, family);
        else if (tools_.fine_contexts)
            read_levels_by<true, false>(a, b, family);
        else if (tools_.dependent)
            read_levels_by<false, true>(a, b, family);
        else
            read_levels_by<false, false>(a, b, family);
    }
    template <bool kFine, bool kDependent>
    __device__ void read_levels_by(int a, int b, int family) {
        LevelScan<kFine, kDependent> scan(*plane_.tables, memory_, a, b, family);
        LevelReader reader(coder_, memory_, tools_.step, plane_.coefficients + coefficients_);
        code_levels(scan, reader, a, b, nullptr);
        coder_ = reader.coder();
        coefficients_ += reader.count();
        failed_ |= reader.failed();
    }

    __device__ Unit unit(int row, int column) const {
        const bool inside = row >= 0 && column >= 0;
        return inside ? plane_.units[plane_.unit_number(row, column)] : Unit{};
    }
    __device__ bool known(int row, int column) const {
        return row < plane_.height && column < plane_.width && unit(row, column).known();
    }
    __device__ uint64_t allowed_modes(const BlockPlace& block) const {
        uint64_t allowed = (uint64_t{1} << kTemplates) - 1;
        if (tools_.templates && smaller(block.row, block.column) >= kTemplateWidth &&
            known(first_place(block.row, kTemplateRows) + block.height() - 1,
                  first_place(block.column, kTemplateColumns) + block.width() - 1))
            allowed |= uint64_t{1} << kTemplates;
        return allowed | planes_modes(tools_, block);
    }

    CodedPlane& plane_;
    ReadMemory& memory_;
    BlockTools tools_;  // step is that of the current fragment
    RangeDecoder coder_;
    Models models_;
    BlockPlace fragment_{};
    uint32_t leaves_ = 0, coefficients_ = 0;
    bool failed_ = false;
};

}  // namespace

// Fills in the scan positions. Grid: (kShapes, kScanFamilies), a thread for each position.
extern "C" __global__ void __launch_bounds__(kMaxCoded) fill_positions(DecodeTables* tables) {
    const int a = kMinSideLog2 + blockIdx.x / kSides, b = kMinSideLog2 + blockIdx.x % kSides;
    const int columns = smaller(1 << b, kCodedSide), k = threadIdx.x;
    if (k >= smaller(1 << a, kCodedSide) * columns) return;
    constexpr int kFamilyOf[kScanFamilies] = {kSmooth, kAcross, kDown};
    const int place = tables->scan[blockIdx.x][k], i = place / columns, j = place % columns;
    const int frequency = fine_frequency(i, j);
    const int direction = direction_of(kFamilyOf[blockIdx.y], i, j);
    tables->positions[blockIdx.y][blockIdx.x][k] = {
        pair_of(place, i * (columns + 2) + j),
        pair_of(zero_model(area_class(a, b), coarse_frequency(frequency), 0),
                fine_zero_model(0, direction, frequency, 0)),
        pair_of(fine_one_model(0, frequency, 0), fine_remainder_models(frequency, 0)),
        uint32_t(frequency)};
}

// Reads the planes of these numbers, one in each block of the grid. Arrays of units must be zeros.
extern "C" __global__ void __launch_bounds__(kReadThreads)
    read_planes(CodedPlane* planes, const int32_t* numbers) {
    __shared__ __align__(16) uint8_t shared[sizeof(ReadMemory)];
    ReadMemory& memory = *reinterpret_cast<ReadMemory*>(shared);
    CodedPlane& plane = planes[numbers[blockIdx.x]];
    for (int i = threadIdx.x; i <= kSlowest; i += kReadThreads)
        memory.rates[i] = 2 * uint32_t(adaptation_rate(i));
    if (threadIdx.x < 16)
        memory.offsets[threadIdx.x] =
            pair_of(smaller(threadIdx.x, kSums - 1), sum_class(threadIdx.x));
    if (threadIdx.x == 0) memory.models.start();
    __syncthreads();
    if (const uint8_t* const states = plane.states) {
        for (int model = threadIdx.x; model < kTrainedModels; model += kReadThreads)
            memory.models.load(model, states, states + kStartBytes);
        if (threadIdx.x < kSizes) memory.models.load_modes(threadIdx.x, states);
    }
    __syncthreads();
    // A model fills three of the four bytes of its word.
    auto* const words = reinterpret_cast<uint32_t*>(memory.models.bits);
    for (int model = threadIdx.x; model < kHeldBitModels; model += kReadThreads)
        words[model] &= 0xFFFFFF;
    __syncthreads();
    if (threadIdx.x) return;
    PlaneReader reader(plane, memory);
    plane.fault = !reader.read();
}
