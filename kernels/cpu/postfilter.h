// The post filter over a picture, and the sums that it is fitted with.
#pragma once

#include <stdint.h>

#include "../shared/postfilter.h"

namespace mmp {

// Samples without padding, rows from the top.
struct FilterPicture {
    const uint8_t* samples;
    int64_t height, width;
};

// Rows first to last - 1.
struct RowRange {
    int64_t first, last;
};

constexpr int kGramSize = kFilterTaps + 1;

// By class and tap; all zero where a class is not filtered.
using FilterTable = int16_t[kFilterClasses][kFilterTaps];
using FilterGram = int64_t[kFilterClasses][kGramSize][kGramSize];
using FilterErrors = int64_t[kFilterClasses];

void post_filter(const FilterPicture& picture, const FilterTable& table, uint8_t* out);

// Adds the products of each two of a sample's tap differences and, last, of what the source has more
// than the picture, by class. 2^44 samples fit.
void add_filter_gram(const uint8_t* source, const FilterPicture& picture, RowRange rows,
                     FilterGram& gram);

// Adds the squared errors of the samples shown, by class of the picture's samples. 2^47 samples fit.
void add_filter_errors(const uint8_t* source, const FilterPicture& picture, const uint8_t* shown,
                       RowRange rows, FilterErrors& errors);

}  // namespace mmp
