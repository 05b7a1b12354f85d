// The trained bank of filters, and the errors by which its scales are chosen.
#pragma once

#include <array>

#include "cpu/filters/base.h"
#include "shared/filters/fixed.h"

namespace mmp {

// Scales in halves, by activity.
using BankScaling = std::array<int, kBankActivities>;
using BankErrors = int64_t[kBankActivities][kBankScales];

// The quantisation step of each fragment of a plane: rows of numbers of the distinct steps.
struct PlaneSteps {
    int64_t size;  // height and width of a fragment in samples
    int64_t across;
    const uint8_t* numbers;
    std::vector<int> distinct;
};

// Writes the filtered samples of these rows to their places in `out`, which has all rows, and can be
// the picture if they are all rows.
template <class Sample>
void fixed_filters(const FilterPicture<Sample>& picture, const PlaneSteps& steps,
                 const BankScaling& scales, RowRange range, Sample* out);

// Adds the squared errors of the samples of some rows at each scale, by step and activity. The sums
// of 2^31 samples fit.
template <class Sample>
void add_bank_errors(const Sample* source, const FilterPicture<Sample>& picture,
                     const PlaneSteps& steps, RowRange range, BankErrors* errors);

}  // namespace mmp
