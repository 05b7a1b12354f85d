// A dual simplex for linear programmes whose variables all lie between two bounds.
//
// maximise profit * x, with activity = constant + matrix * x for each row, and bounds for x and for
// the activities. The tableau is dense, because branch and bound has few rows and changes few
// bounds at a time. As each variable has two bounds, every basis is dual feasible once its other
// variables lie at the right ones; so a change of bounds, back or forth, continues from the last
// basis. The ratio test passes breakpoints while the row stays infeasible. Source: A. Koberstein,
// "The dual simplex method, techniques for a fast and stable implementation", Paderborn 2005.
//
// Each operation is an IEEE 754 one in a fixed order, so the answers are equal on all machines;
// CMake forbids the compiler to merge a product with a sum.
#pragma once

#include <stdint.h>

#include <chrono>
#include <utility>
#include <vector>

namespace mmp {

enum class SimplexEnd : uint8_t {
    kOptimal,     // the basis is feasible
    kBelow,       // the bound fell below the wanted value
    kInfeasible,  // no point meets the bounds: see ray()
    kStuck,       // too many steps, numbers that are not finite, or the deadline
};

class Simplex {
public:
    // `matrix` holds a row of `columns` numbers for each of the `rows` rows. Columns have the
    // bounds 0 and 1 at first, activities the given ones.
    Simplex(int64_t rows, int64_t columns, const std::vector<double>& matrix,
            const std::vector<double>& constants, const std::vector<double>& profits,
            double profit_constant, const std::vector<double>& lows,
            const std::vector<double>& highs, std::chrono::steady_clock::time_point deadline);

    // Variables are the columns, then the activities of the rows.
    void set_bounds(int64_t variable, double low, double high);

    // Moves to the best basis within the bounds, until its bound falls below `wanted`.
    SimplexEnd solve(double wanted);

    double bound() const { return bound_; }
    double value(int64_t variable) const;
    bool basic(int64_t variable) const { return where_[variable] < 0; }

    // Price of a unit of the row's activity: not negative at its upper bound, not positive at its
    // lower bound, 0 between.
    double price(int64_t row) const;

    // After kInfeasible, prices that prove it when profits are 0.
    double ray(int64_t row) const;

    // Least losses of the bound for a unit by which a basic variable moves down and up; huge if it
    // cannot move.
    std::pair<double, double> losses(int64_t variable) const;

    int64_t work() const { return work_; }  // numbers of the tableau that changed so far

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
    std::vector<double> tableau_;     // basic = right side - tableau * other; the last is the side
    std::vector<double> gains_;       // change of the bound by a unit of each other variable
    std::vector<double> at_;          // value of each other variable
    std::vector<double> ways_;        // 1 if it can rise, -1 if it can fall, 0 if it is fixed
    std::vector<double> basics_;      // value of each basic variable
    std::vector<int64_t> in_row_, in_column_, where_;  // where_: a column, or ~row
    std::vector<Breakpoint> breakpoints_;
    double bound_ = 0;
    const std::chrono::steady_clock::time_point deadline_;
    int64_t work_ = 0, looked_ = 0, pivots_ = 0, failed_row_ = 0;
    bool failed_up_ = false;
};

}  // namespace mmp
