// Prediction of single samples with weights that are fitted to earlier samples around them.
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

// Sums of products of regressors, whose weight fades with the distance from a sample. Sum is
// int32_t where samples have eight bits at most.
template <class Sum>
class FadedSums {
public:
    FadedSums(int width, int regressors);

    void begin_row(int row);
    // Returns the sums for the sample in this column: the upper triangle of the products of
    // regressors row by row, then the products with the target.
    const Sum* at(int column);
    // Adds the sample for which at() was last called.
    void add(int column, const int32_t* regressors, int32_t target);

private:
    int width_, regressors_, stride_;
    Zeroed<Sum> down_;   // sums of the samples above each place, faded downwards, by column
    Zeroed<Sum> right_;  // sums of the samples right of each column, faded to the left
    std::vector<Sum> left_, row_, found_;
};

// Computes the weights of the regressors, in 2^-14, from their sums.
template <class Sum>
void fit_weights(const Sum* sums, int regressors, int bits, int32_t* weights);

}  // namespace mmp
