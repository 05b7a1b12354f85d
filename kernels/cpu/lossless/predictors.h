// The predictions of a sample by fitted weights: by those of strips, and of the samples near it.
// Source: section "Fitted prediction" of docs/format/format.md.
#pragma once

#include <memory>

#include "cpu/lossless/strips.h"

namespace mmp {

constexpr int kMostPredictors = 3;

class Predictors {
public:
    virtual ~Predictors() = default;
    // The rows above must be complete, and the sample left of a predicted one.
    virtual void begin_row(int row) = 0;
    // Finds the predictions in 1/64, within their limits. `level` is that of the own plane.
    virtual void predict(int row, int column, int level, int* predictions) = 0;
};

std::unique_ptr<Predictors> predictors_of(const PlanesBeside& planes, int count);

}  // namespace mmp
