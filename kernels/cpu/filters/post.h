// The post filter of a picture, and the sums from which its taps are fitted.
#pragma once

#include "cpu/filters/base.h"
#include "shared/filters/post.h"

namespace mmp {

constexpr int kGramSize = kFilterTaps + 1;

// Weights in 1/128, by class and tap; all 0 for a class that is not filtered.
using FilterTable = int16_t[kFilterClasses][kFilterTaps];
using FilterGram = int64_t[kFilterClasses][kGramSize][kGramSize];
using FilterErrors = int64_t[kFilterClasses];

// Writes the filtered samples of these rows to their places in `out`, which has all rows, and can be
// the picture if they are all rows.
template <class Sample>
void post_filter(const FilterPicture<Sample>& picture, const FilterTable& table, RowRange range,
                 Sample* out);

// Adds, by class, the products of each two of a sample's tap differences and its difference between
// source and picture. The sums of 2^28 samples fit.
template <class Sample>
void add_filter_gram(const Sample* source, const FilterPicture<Sample>& picture, RowRange rows,
                     FilterGram& gram);

// Adds the squared errors of `shown`, by class of the picture's samples. The sums of 2^31 samples
// fit.
template <class Sample>
void add_filter_errors(const Sample* source, const FilterPicture<Sample>& picture,
                       const Sample* shown, RowRange rows, FilterErrors& errors);

}  // namespace mmp
