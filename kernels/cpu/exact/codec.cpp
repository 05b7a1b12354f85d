#include "cpu/exact/codec.h"

#include <memory>

#include "shared/entropy/rate.h"
#include "cpu/exact/nearest.h"
#include "cpu/exact/plane_coder.h"
#include "cpu/exact/values.h"
#include "cpu/entropy/rangecoder.h"

namespace mmp {

namespace {

constexpr int kStrip = 16;  // rows between calls of progress, which counts 16x16 fragments
constexpr uint32_t kTotal = 1 << 16;

// Counts coded bits by number; `Probability` gives the probability of each of `Count` numbers.
// rate() takes their logarithms once, at the end.
template <int Count, uint32_t (*Probability)(int)>
class CodeLength {
public:
    CodeLength() : counts_(Count) {}
    MMP_INLINE void add(int number) { ++counts_[number]; }
    int64_t rate() const {
        int64_t sum = 0;
        for (int i = 0; i < Count; ++i)
            if (counts_[i]) sum += counts_[i] * (log2_rate(kTotal) - log2_rate(Probability(i)));
        return sum;
    }

private:
    std::vector<int64_t> counts_;
};

uint32_t own_probability(int number) { return uint32_t(number); }
uint32_t mixed_probability(int number) {
    const uint32_t one = kMix.squash[number >> 1];
    return number & 1 ? one : kTotal - one;
}
using MapLength = CodeLength<kTotal, own_probability>;
using MixedLength = CodeLength<2 * kMixedOdds, mixed_probability>;

// Both directions in one class, because each row is compiled for it at every SIMD level.
struct ExactCoder {
    ExactCoder() : writes(true), decoder(nullptr, 0) {}
    ExactCoder(const uint8_t* payload, size_t size) : writes(false), decoder(payload, size) {}

    const bool writes;
    RangeEncoder encoder;
    RangeDecoder decoder;
    MapLength map;
    MixedLength residual;

    // Codes a bit, in which 1 has the probability `one`. The bit is given if it is written.
    MMP_INLINE int code(uint32_t one, int bit) {
        if (!writes) return decoder.bit(kTotal, kTotal - one);
        encoder.encode(bit ? kTotal - one : 0, bit ? one : kTotal - one, kTotal);
        return bit;
    }
    int map_bit(uint32_t one, int given) {
        const int bit = code(one, given);
        map.add(bit ? one : kTotal - one);
        return bit;
    }
};

// Template functions cannot be compiled for several SIMD levels. Inlined, the arithmetic could move
// to before the change of the rounding.
#define MMP_CODE_ROW(Sum, N)                                                      \
    MMP_SIMD_LEVELS __attribute__((noinline)) void code_row(                      \
        PlaneCoder<ExactCoder, Sum, N>& one, int row) {                           \
        one.code_row(row);                                                        \
    }
MMP_CODE_ROW(int32_t, 10)
MMP_CODE_ROW(int32_t, 14)
MMP_CODE_ROW(int64_t, 10)
MMP_CODE_ROW(int64_t, 14)

template <class Sum, int N, class Report>
void code_rows(const std::vector<ExactPlane*>& planes, ExactCoder& coder, const Report& report) {
    const auto one = std::make_unique<PlaneCoder<ExactCoder, Sum, N>>(planes, coder);
    // Called directly, a function of several SIMD levels is taken for one that throws nothing.
    void (*volatile code)(PlaneCoder<ExactCoder, Sum, N>&, int) = code_row;
    for (int row = 0; row < planes.back()->height(); ++row) {
        report(row);
        const Nearest nearest;
        code(*one, row);
    }
}

void code_plane(const std::vector<ExactPlane*>& planes, int count, ExactCoder& coder, int depth,
                const Progress& progress, int64_t total) {
    const int64_t across = (planes.back()->width() + kStrip - 1) / kStrip;
    const int64_t before = total * (int64_t(planes.size()) - 1);
    const auto report = [&](int row) {
        if (row % kStrip == 0) progress(before + row / kStrip * across, total * count);
    };
    if (planes.back()->most == 0) {
        report(0);
    } else if (depth <= 8) {
        planes.size() == 1 ? code_rows<int32_t, 10>(planes, coder, report)
                           : code_rows<int32_t, 14>(planes, coder, report);
    } else {
        planes.size() == 1 ? code_rows<int64_t, 10>(planes, coder, report)
                           : code_rows<int64_t, 14>(planes, coder, report);
    }
}

// Codes all planes; calls exchange(plane, number, values) before writing and after reading one.
template <class Exchange>
void code_planes(ExactCoder& coder, const uint16_t* given, const ExactShape& shape,
                 const Progress& progress, ExactRates& rates, const Exchange& exchange) {
    std::vector<std::unique_ptr<ExactPlane>> owned;
    std::vector<ExactPlane*> planes;
    const auto fragments = [](int side) { return int64_t{(side + kStrip - 1) / kStrip}; };
    const int64_t total = fragments(shape.height) * fragments(shape.width);  // fragments of a plane
    for (int number = 0; number < shape.planes; ++number) {
        const auto values = code_values(coder, given + number * shape.plane_size(),
                                        shape.plane_size(), shape.depth, "Exact samples");
        owned.push_back(
            std::make_unique<ExactPlane>(shape.height, shape.width, int(values.size()) - 1));
        planes.push_back(owned.back().get());
        if (coder.writes) exchange(*planes.back(), number, values);
        code_plane(planes, shape.planes, coder, shape.depth, progress, total);
        if (!coder.writes) exchange(*planes.back(), number, values);
    }
    progress(total * shape.planes, total * shape.planes);
    rates = {coder.map.rate(), coder.residual.rate()};
}

}  // namespace

std::vector<uint8_t> encode_exact(const uint16_t* samples, const ExactShape& shape,
                                  const Progress& progress, ExactRates& rates) {
    ExactCoder writer;
    std::vector<int32_t> number_of(size_t{1} << shape.depth);
    code_planes(writer, samples, shape, progress, rates,
                [&](ExactPlane& plane, int number, const std::vector<uint16_t>& values) {
                    for (size_t i = 0; i < values.size(); ++i) number_of[values[i]] = int32_t(i);
                    const uint16_t* next = samples + number * shape.plane_size();
                    for (int row = 0; row < shape.height; ++row)
                        for (int column = 0; column < shape.width; ++column)
                            *plane.sample(row, column) = number_of[*next++];
                });
    return writer.encoder.finish();
}

void decode_exact(const uint8_t* payload, size_t size, const ExactShape& shape, uint16_t* samples,
                  const Progress& progress, ExactRates& rates) {
    ExactCoder reader(payload, size);
    code_planes(reader, samples, shape, progress, rates,
                [&](ExactPlane& plane, int number, const std::vector<uint16_t>& values) {
                    uint16_t* next = samples + number * shape.plane_size();
                    for (int row = 0; row < shape.height; ++row)
                        for (int column = 0; column < shape.width; ++column)
                            *next++ = values[*plane.sample(row, column)];
                });
    reader.decoder.finish();
}

}  // namespace mmp
