// Dual simplex for linear programmes whose variables all have a lower and an upper bound.
//
// maximise profit * x, with activity = constant + matrix * x for each row, and bounds for x and for
// the activities. The tableau is dense, because branch and bound has few rows and changes few
// bounds at a time. Every variable has two bounds, so every basis is dual feasible once the
// non-basic variables are at the right bounds; after any change of bounds, the search continues
// from the last basis (warm start). The ratio test passes breakpoints while the row stays
// infeasible. Source: A. Koberstein, "The dual simplex method, techniques for a fast and stable
// implementation", Paderborn 2005.
//
// Each operation is an IEEE 754 operation in a fixed order, so the results are equal on all
// machines; CMake forbids the compiler to contract products and sums to fused multiply-adds.
#pragma once

#include <stdint.h>

#include <chrono>
#include <utility>
#include <vector>

namespace mmp {

enum class SimplexEnd : uint8_t {
    kOptimal,     // the basis is feasible
    kBelow,       // the bound fell below `wanted`
    kInfeasible,  // no point satisfies the bounds; see ray()
    kStuck,       // step limit, non-finite numbers, or deadline
};

class Simplex {
public:
    // `matrix` has `rows` rows of `columns` numbers. Columns initially have the bounds 0 and 1,
    // activities have `lows` and `highs`.
    Simplex(int64_t rows, int64_t columns, const std::vector<double>& matrix,
            const std::vector<double>& constants, const std::vector<double>& profits,
            double profit_constant, const std::vector<double>& lows,
            const std::vector<double>& highs, std::chrono::steady_clock::time_point deadline);

    // Variables are numbered: first the columns, then the activities of the rows.
    void set_bounds(int64_t variable, double low, double high);

    // Finds the optimal basis within the bounds, but stops once the bound falls below `wanted`.
    SimplexEnd solve(double wanted);

    double bound() const { return bound_; }
    double value(int64_t variable) const;
    bool basic(int64_t variable) const { return where_[variable] < 0; }

    // Dual price of a row: at least 0 if the activity is at its upper bound, at most 0 at its lower
    // bound, 0 between them.
    double price(int64_t row) const;

    // After kInfeasible: the dual prices (Farkas ray) that prove it.
    double ray(int64_t row) const;

    // Decrease of the bound per unit by which a basic variable moves down, and up; huge if it
    // cannot move.
    std::pair<double, double> losses(int64_t variable) const;

    int64_t work() const { return work_; }  // number of tableau entries changed

private:
    struct Breakpoint {
        double ratio, size;
        int64_t column;
    };

    static constexpr double kHuge = 1e300;

    double* row(int64_t r) { return tableau_.data() + r * stride_; }
    const double* row(int64_t r) const { return tableau_.data() + r * stride_; }
    void start();
    void rebuild();
    void aim(int64_t column);
    void place(int64_t column);
    void move(int64_t column, double distance);
    void flip(int64_t column);
    void pivot(int64_t r, int64_t column);
    void refresh();
    int64_t most_infeasible() const;
    int64_t entering(int64_t r, bool up);
    int64_t first_breakpoint(const double* line, double sign) const;

    const int64_t rows_, columns_, stride_;
    const std::vector<double> matrix_, constants_, profits_;
    const double profit_constant_;
    std::vector<double> lows_, highs_;
    std::vector<double> tableau_;     // basic = rhs - tableau * non-basic; last column: rhs
    std::vector<double> gains_;       // reduced cost of each non-basic variable
    std::vector<double> at_;          // value of each non-basic variable
    std::vector<double> ways_;        // 1: can increase, -1: can decrease, 0: fixed
    std::vector<double> basics_;      // value of each basic variable
    std::vector<int64_t> in_row_, in_column_, where_;  // where_: a column, or ~row
    std::vector<Breakpoint> breakpoints_;
    double bound_ = 0;
    const std::chrono::steady_clock::time_point deadline_;
    int64_t work_ = 0, looked_ = 0, pivots_ = 0, failed_row_ = 0;
    bool failed_up_ = false;
};

}  // namespace mmp
