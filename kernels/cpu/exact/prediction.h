// Prediction of samples one by one, with weights that are fitted to earlier samples around them.
// Source: section "Fitted prediction" of docs/format/format.md; after B. Meyer and P. Tischer,
// "Glicbawls: grey level image compression by adaptive weighted least squares", 2001.
#pragma once

#include <stdint.h>

#include <vector>

#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kMostRegressors = 14;
constexpr int kMostSums = kMostRegressors * (kMostRegressors + 3) / 2;
constexpr int kPaddedSums = (kMostSums + 7) / 8 * 8;
constexpr int kWeightBits = 14;
constexpr int kFractionBits = 6;  // of a prediction

// Sums of products of regressors, faded with their distance from a sample. Sum is int32_t where
// the products of eight bits are enough.
template <class Sum>
class FadedSums {
public:
    FadedSums(int width, int regressors);

    void begin_row(int row);
    // The sums for the sample in this column: the upper triangle row by row, then those with the
    // target.
    const Sum* at(int column);
    // Takes in the sample that at() was last called for.
    void add(int column, const int32_t* regressors, int32_t target);

private:
    int width_, regressors_, stride_;
    Zeroed<Sum> down_;   // faded downwards, by column
    Zeroed<Sum> right_;  // sums of the samples right of each column, faded to the left
    std::vector<Sum> left_, row_, found_;
};

// Weights of the regressors in 1/2^14.
template <class Sum>
void fit_weights(const Sum* sums, int regressors, int bits, int32_t* weights);

}  // namespace mmp
