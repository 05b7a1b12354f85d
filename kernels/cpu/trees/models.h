// Adaptive models of flags, classes and indices, for reading and writing. Source: sections
// "Models", "Flags" and "Index" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <array>
#include <numeric>

#include "cpu/entropy/rangecoder.h"
#include "cpu/entropy/rates.h"
#include "cpu/trees/copies.h"
#include "cpu/trees/element_counts.h"

namespace mmp {

class Models {
public:
    explicit Models(const Tools& tools);

    uint32_t flag_frequency(int context, int scale, int flag) const {
        return flag_frequency_[context][scale][flag];
    }
    uint32_t class_frequency(int scale, int c) const { return class_frequency_[scale][c]; }

    bool flag_coded(int scale) const { return scale != kPixelScale; }

    void encode_flag(RangeEncoder& coder, int scale, int context, int flag);
    int decode_flag(RangeDecoder& coder, int scale, int context);

    // The frequencies of the classes that a leaf can have, 0 for others. Copies have the class of
    // displaced blocks; `copies` is null for trees without copies.
    struct Classes {
        std::array<uint32_t, kClasses> frequency;
        uint32_t total;
    };
    Classes classes(const ElementCounts& dictionary, const Copies* copies) const {
        const int scale = dictionary.scale();
        Classes result;
        for (int c = 0; c < kClasses; ++c)
            result.frequency[c] = dictionary.occupied(c) ? class_frequency_[scale][c] : 0;
        if (copies && copies->possible(scale))
            result.frequency[kDisplacedClass] = class_frequency_[scale][kDisplacedClass];
        result.total = std::accumulate(result.frequency.begin(), result.frequency.end(), 0u);
        return result;
    }
    // Code the index of an element or copy. The caller counts the use of the element afterwards.
    void encode_index(RangeEncoder& coder, const ElementCounts& dictionary, uint32_t index,
                      const Copies* copies = nullptr);
    uint32_t decode_index(RangeDecoder& coder, const ElementCounts& dictionary,
                          const Copies* copies = nullptr);

    Tally tally;

private:
    void count_flag(int scale, int context, int flag, uint32_t total);
    void count_class(int scale, int c, uint32_t total);
    uint32_t flag_total(int scale, int context) const;
    void encode_copy(RangeEncoder& coder, int scale, uint32_t index, const Copies& copies);
    uint32_t decode_copy(RangeDecoder& coder, int scale, const Copies& copies);
    void count_copy(uint32_t areas, uint32_t places);

    int partition_;
    bool classes_;
    std::array<std::array<std::array<uint32_t, kFlags>, kScales>, kFlagContexts> flag_frequency_;
    std::array<std::array<uint32_t, kClasses>, kScales> class_frequency_;
};

}  // namespace mmp
