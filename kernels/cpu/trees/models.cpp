#include "cpu/trees/models.h"

namespace mmp {

namespace {

template <size_t Size>
void count(std::array<uint32_t, Size>& frequency, int symbol, uint32_t total) {
    frequency[symbol] += 1;
    if (total + 1 > kMaxTotal)
        for (uint32_t& f : frequency) f = (f + 1) / 2;
}

}  // namespace

Models::Models(const Tools& tools) : partition_(tools.partition), classes_(tools.index_classes) {
    for (auto& context : flag_frequency_)
        for (int scale = 0; scale < kScales; ++scale)
            for (int flag = 0; flag < kFlags; ++flag)
                context[scale][flag] = flag_allowed(scale, flag, partition_);
    for (auto& scale : class_frequency_) scale.fill(1);
}

uint32_t Models::flag_total(int scale, int context) const {
    const auto& f = flag_frequency_[context][scale];
    return f[kLeaf] + f[kColumns] + f[kRows];
}

void Models::count_flag(int scale, int context, int flag, uint32_t total) {
    auto& frequency = flag_frequency_[context][scale];
    tally.add(kFlagSyntax, frequency[flag], total);
    count(frequency, flag, total);
}

void Models::count_class(int scale, int c, uint32_t total) {
    auto& frequency = class_frequency_[scale];
    tally.add(kClassSyntax, frequency[c], total);
    count(frequency, c, total);
}

void Models::encode_flag(RangeEncoder& coder, int scale, int context, int flag) {
    if (!flag_coded(scale)) return;
    const auto& frequency = flag_frequency_[context][scale];
    uint32_t cumulative = 0;
    for (int f = 0; f < flag; ++f) cumulative += frequency[f];
    const uint32_t total = flag_total(scale, context);
    coder.encode(cumulative, frequency[flag], total);
    count_flag(scale, context, flag, total);
}

int Models::decode_flag(RangeDecoder& coder, int scale, int context) {
    if (!flag_coded(scale)) return kLeaf;
    const auto& frequency = flag_frequency_[context][scale];
    const uint32_t total = flag_total(scale, context);
    const uint32_t target = coder.target(total);
    uint32_t cumulative = 0;
    int flag = 0;
    while (cumulative + frequency[flag] <= target) cumulative += frequency[flag++];
    coder.consume(cumulative, frequency[flag]);
    count_flag(scale, context, flag, total);
    return flag;
}

void Models::encode_index(RangeEncoder& coder, const ElementCounts& dictionary, uint32_t index,
                          const Copies* copies) {
    const int scale = dictionary.scale();
    const int chosen = is_copy(index) ? kDisplacedClass : dictionary.element_class(index);
    if (classes_) {
        const auto [frequency, total] = classes(dictionary, copies);
        if (total != frequency[chosen]) {
            const auto first = frequency.begin();
            coder.encode(std::accumulate(first, first + chosen, 0u), frequency[chosen], total);
            count_class(scale, chosen, total);
        }
    }
    if (is_copy(index)) return encode_copy(coder, scale, index, *copies);
    const uint32_t total = dictionary.class_total(chosen), frequency = dictionary.count(index);
    coder.encode(dictionary.cumulative(chosen, index), frequency, total);
    tally.add(kElementSyntax, frequency, total);
}

uint32_t Models::decode_index(RangeDecoder& coder, const ElementCounts& dictionary,
                              const Copies* copies) {
    const int scale = dictionary.scale();
    int chosen = 0;
    if (classes_) {
        const auto [frequency, total] = classes(dictionary, copies);
        while (!frequency[chosen]) ++chosen;
        if (frequency[chosen] != total) {
            const uint32_t target = coder.target(total);
            uint32_t cumulative = 0;
            for (chosen = 0; cumulative + frequency[chosen] <= target; ++chosen)
                cumulative += frequency[chosen];
            coder.consume(cumulative, frequency[chosen]);
            count_class(scale, chosen, total);
        }
    }
    if (copies && chosen == kDisplacedClass) return decode_copy(coder, scale, *copies);
    const uint32_t total = dictionary.class_total(chosen);
    const auto [index, start] = dictionary.find(chosen, coder.target(total));
    coder.consume(start, dictionary.count(index));
    tally.add(kElementSyntax, dictionary.count(index), total);
    return index;
}

void Models::encode_copy(RangeEncoder& coder, int scale, uint32_t index, const Copies& copies) {
    const Copies::Places places = copies.places(scale, copies.area(index));
    coder.encode(copies.area(index), 1, copies.areas());
    coder.encode(places.rank(Copies::place(index)), 1, places.count());
    count_copy(copies.areas(), places.count());
}

uint32_t Models::decode_copy(RangeDecoder& coder, int scale, const Copies& copies) {
    const uint32_t area = coder.target(copies.areas());
    coder.consume(area, 1);
    const Copies::Places places = copies.places(scale, area);
    const uint32_t rank = coder.target(places.count());
    coder.consume(rank, 1);
    count_copy(copies.areas(), places.count());
    return copies.index(area, places[rank]);
}

void Models::count_copy(uint32_t areas, uint32_t places) {
    tally.add(kElementSyntax, 1, areas);
    tally.add(kElementSyntax, 1, places);
}

}  // namespace mmp
