// The trained bank of filters, and the errors by which its scales are chosen.
#pragma once

#include <stdint.h>

#include <array>

#include "cpu/postfilter.h"
#include "shared/filter_bank.h"

namespace mmp {

// Scales in halves, by activity.
using BankScaling = std::array<int, kBankActivities>;
using BankErrors = int64_t[kBankActivities][kBankScales];

// Writes the filtered samples of these rows to their places in `out`, which has all rows.
template <class Sample>
void filter_bank(const FilterPicture<Sample>& picture, int step, const BankScaling& scales,
                 RowRange range, Sample* out);

// Adds the squared errors of the samples of some rows and columns at each scale, by activity. The
// sums of 2^31 samples fit.
template <class Sample>
void add_bank_errors(const Sample* source, const FilterPicture<Sample>& picture, int step,
                     RowRange range, RowRange columns, BankErrors& errors);

}  // namespace mmp
