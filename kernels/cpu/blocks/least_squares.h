// Least-squares prediction: the weights of the neighbours are fitted to the decoded samples around
// the block. Source: section "Prediction" of docs/format/format.md.
#pragma once

#include <algorithm>

#include "cpu/blocks/picture.h"

namespace mmp {

// Solves the normal equations of a fit by Gaussian elimination. Row p holds the sums of products of
// regressor p with each of the `terms` regressors, then with the sample, all times kFitScale. The
// weights are in 1/4096.
template <int kColumns>
void solve_fit(int64_t (*m)[kColumns], int terms, int64_t* weight) {
    for (int i = 0; i < terms; ++i) {
        for (int k = i; k <= terms; ++k) m[i][k] = limited(m[i][k], kMostValue);
        const int64_t pivot = std::max<int64_t>(m[i][i], kFitScale);
        m[i][i] = pivot;
        for (int r = i + 1; r < terms; ++r) {
            const int64_t f = limited(limited(m[r][i], kMostValue) * 65536 / pivot, kMostFactor);
            for (int k = i; k <= terms; ++k) m[r][k] -= (f * m[i][k]) >> 16;
        }
    }
    for (int i = terms - 1; i >= 0; --i) {
        int64_t t = m[i][terms] * 4096;
        for (int k = i + 1; k < terms; ++k) t -= m[i][k] * weight[k];
        weight[i] = limited(t / m[i][i], kMostWeight);
    }
}

inline bool least_squares_allowed(const BlockPlace& block) {
    return block.row >= kFittedFrom && block.column >= kFittedFrom;
}

template <class Sample>
void predict_least_squares(const BlockPicture<Sample>& picture, const BlockPlace& block,
                           Sample* out);

}  // namespace mmp
