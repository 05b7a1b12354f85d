#include "cpu/solvers/knapsack/branches/simplex.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/runtime/interrupts.h"

namespace mmp {

namespace {

constexpr double kFeasible = 1e-9;  // tolerance of bounds; activities are scaled to about 1
constexpr double kPivot = 1e-9;     // least magnitude of a pivot
constexpr double kSmall = 1e-13;    // smaller results are rounding errors of 0
constexpr int64_t kPivotsBetween = 2000;    // pivots between two rebuilds of the tableau
constexpr int64_t kWorkBetween = 1 << 22;   // work between two checks of the deadline
constexpr int64_t kPassed = 4;  // breakpoints that are found without a heap
constexpr int64_t kStepsARow = 20, kMoreSteps = 200;

}  // namespace

Simplex::Simplex(int64_t rows, int64_t columns, const std::vector<double>& matrix,
                 const std::vector<double>& constants, const std::vector<double>& profits,
                 double profit_constant, const std::vector<double>& lows,
                 const std::vector<double>& highs,
                 std::chrono::steady_clock::time_point deadline)
    : rows_(rows),
      columns_(columns),
      stride_(columns + 1),
      matrix_(matrix),
      constants_(constants),
      profits_(profits),
      profit_constant_(profit_constant),
      lows_(columns, 0.0),
      highs_(columns, 1.0),
      tableau_(rows * stride_),
      at_(columns, 0.0),
      ways_(columns, 1.0),
      basics_(rows),
      in_row_(rows),
      in_column_(columns),
      where_(columns + rows),
      deadline_(deadline) {
    lows_.insert(lows_.end(), lows.begin(), lows.end());
    highs_.insert(highs_.end(), highs.begin(), highs.end());
    start();
    for (int64_t j = 0; j < columns_; ++j) place(j);
    refresh();
}

// Starts from the basis of all activities (slack basis).
void Simplex::start() {
    for (int64_t r = 0; r < rows_; ++r) {
        for (int64_t j = 0; j < columns_; ++j) row(r)[j] = -matrix_[r * columns_ + j];
        row(r)[columns_] = constants_[r];
        in_row_[r] = columns_ + r;
        where_[columns_ + r] = ~r;
    }
    gains_ = profits_;
    for (int64_t j = 0; j < columns_; ++j) in_column_[j] = where_[j] = j;
}

// Recomputes the tableau of the present basis, which removes the rounding errors of earlier pivots.
void Simplex::rebuild() {
    std::vector<double> values(columns_ + rows_);
    std::vector<uint8_t> wanted(columns_ + rows_);
    for (int64_t v = 0; v < columns_ + rows_; ++v) values[v] = value(v), wanted[v] = basic(v);
    start();
    for (int64_t v = 0; v < columns_; ++v) {
        if (!wanted[v]) continue;
        const int64_t column = where_[v];
        int64_t best = -1;
        for (int64_t r = 0; r < rows_; ++r)
            if (!wanted[in_row_[r]] && (best < 0 || std::abs(row(r)[column]) >
                                                        std::abs(row(best)[column])))
                best = r;
        if (best >= 0 && std::abs(row(best)[column]) > kPivot) pivot(best, column);
    }
    for (int64_t j = 0; j < columns_; ++j) {
        at_[j] = std::clamp(values[in_column_[j]], lows_[in_column_[j]], highs_[in_column_[j]]);
        place(j);
    }
    refresh();
    pivots_ = 0;
}

void Simplex::aim(int64_t column) {
    const int64_t v = in_column_[column];
    ways_[column] = lows_[v] == highs_[v] ? 0.0 : at_[column] == lows_[v] ? 1.0 : -1.0;
}

// Moves a non-basic variable to the bound that the sign of its reduced cost requires; basic values
// are not updated.
void Simplex::place(int64_t column) {
    const int64_t v = in_column_[column];
    if (gains_[column] > 0) at_[column] = highs_[v];
    if (gains_[column] < 0) at_[column] = lows_[v];
    if (at_[column] - lows_[v] < highs_[v] - at_[column])
        at_[column] = lows_[v];
    else
        at_[column] = highs_[v];
    aim(column);
}

// Recomputes the basic values and the bound from the non-basic variables.
void Simplex::refresh() {
    for (int64_t r = 0; r < rows_; ++r) {
        double sum = row(r)[columns_];
        for (int64_t j = 0; j < columns_; ++j) sum -= row(r)[j] * at_[j];
        basics_[r] = sum;
    }
    bound_ = profit_constant_;
    for (int64_t v = 0; v < columns_; ++v) bound_ += profits_[v] * value(v);
    work_ += rows_ * columns_;
}

double Simplex::value(int64_t variable) const {
    const int64_t place = where_[variable];
    return place < 0 ? basics_[~place] : at_[place];
}

double Simplex::price(int64_t row) const {
    const int64_t place = where_[columns_ + row];
    return place < 0 ? 0.0 : gains_[place];
}

double Simplex::ray(int64_t r) const {
    const int64_t place = where_[columns_ + r];
    const double one = place >= 0 ? row(failed_row_)[place] : ~place == failed_row_ ? 1.0 : 0.0;
    return failed_up_ ? -one : one;
}

void Simplex::move(int64_t column, double distance) {
    for (int64_t r = 0; r < rows_; ++r) basics_[r] -= row(r)[column] * distance;
    bound_ += gains_[column] * distance;
    at_[column] += distance;
}

void Simplex::set_bounds(int64_t variable, double low, double high) {
    lows_[variable] = low;
    highs_[variable] = high;
    const int64_t column = where_[variable];
    if (column < 0) return;
    const double before = at_[column];
    at_[column] = std::clamp(before, low, high);
    place(column);
    const double after = at_[column];
    at_[column] = before;
    if (after != before) move(column, after - before);
    at_[column] = after;
}

void Simplex::pivot(int64_t r, int64_t column) {
    double* top = row(r);
    const double inverse = 1.0 / top[column];
    top[column] = 1.0;
    for (int64_t j = 0; j < stride_; ++j) top[j] *= inverse;
    const auto clear = [&](double* line, int64_t size) {
        const double factor = line[column];
        if (factor == 0.0) return;
        line[column] = 0.0;
        for (int64_t j = 0; j < size; ++j) line[j] -= factor * top[j];
        work_ += size;
    };
    for (int64_t i = 0; i < rows_; ++i)
        if (i != r) clear(row(i), stride_);
    clear(gains_.data(), columns_);
    std::swap(in_row_[r], in_column_[column]);
    where_[in_row_[r]] = ~r;
    where_[in_column_[column]] = column;
    ++pivots_;
}

int64_t Simplex::most_infeasible() const {
    int64_t best = -1;
    double most = kFeasible;
    for (int64_t r = 0; r < rows_; ++r) {
        const int64_t v = in_row_[r];
        const double off = std::max(lows_[v] - basics_[r], basics_[r] - highs_[v]);
        if (off > most) most = off, best = r;
    }
    return best;
}

// Ratio test: returns the column with the least reduced cost per unit of the row; -1 if there is
// none. For entries whose sign moves the row in the wrong direction, the comparison is false.
int64_t Simplex::first_breakpoint(const double* line, double sign) const {
    double least = kHuge;
    int64_t best = -1;
    for (int64_t j = 0; j < columns_; ++j) {
        const double size = sign * ways_[j] * line[j], gain = std::abs(gains_[j]);
        if (gain < least * size && size > kPivot) least = gain / size, best = j;
    }
    return best;
}

// Returns the column that enters the basis for row `r`, whose variable must increase (`up`) or
// decrease; -1 if there is none. Variables of passed breakpoints move to their opposite bounds
// (long-step rule).
int64_t Simplex::entering(int64_t r, bool up) {
    const double* line = row(r);
    const double sign = up ? -1.0 : 1.0;
    const int64_t v = in_row_[r];
    double left = up ? lows_[v] - basics_[r] : basics_[r] - highs_[v];
    breakpoints_.clear();
    // Few breakpoints are passed per pivot, except at the root node.
    for (int64_t passed = 0; passed < kPassed; ++passed) {
        const int64_t column = first_breakpoint(line, sign);
        work_ += columns_;
        if (column < 0) break;
        const int64_t other = in_column_[column];
        const double size = std::abs(line[column]);
        left -= size * (highs_[other] - lows_[other]);
        if (left <= kFeasible) return column;
        flip(column);
        breakpoints_.push_back({0.0, size, column});
    }
    const auto flipped = static_cast<int64_t>(breakpoints_.size());
    for (int64_t j = 0; j < columns_; ++j) {
        const double size = sign * ways_[j] * line[j];
        if (size > kPivot) breakpoints_.push_back({std::abs(gains_[j]) / size, size, j});
    }
    work_ += columns_;
    const auto later = [](const Breakpoint& a, const Breakpoint& b) {
        if (a.ratio != b.ratio) return a.ratio > b.ratio;
        return a.size != b.size ? a.size < b.size : a.column > b.column;
    };
    const auto begin = breakpoints_.begin() + flipped;
    std::make_heap(begin, breakpoints_.end(), later);
    for (auto end = breakpoints_.end(); end != begin;) {
        std::pop_heap(begin, end, later);
        const Breakpoint& next = *--end;
        const int64_t other = in_column_[next.column];
        left -= next.size * (highs_[other] - lows_[other]);
        if (left <= kFeasible) return next.column;
        flip(next.column);
    }
    for (const Breakpoint& passed : breakpoints_) flip(passed.column);
    return -1;
}

// Moves a non-basic variable from one bound to the other.
void Simplex::flip(int64_t column) {
    const int64_t v = in_column_[column];
    const double target = at_[column] == lows_[v] ? highs_[v] : lows_[v];
    move(column, target - at_[column]);
    at_[column] = target;
    aim(column);
}

SimplexEnd Simplex::solve(double wanted) {
    if (pivots_ > kPivotsBetween) rebuild();
    for (int64_t step = 0; step < kStepsARow * rows_ + kMoreSteps; ++step) {
        if (bound_ < wanted) return SimplexEnd::kBelow;
        if (work_ > looked_ + kWorkBetween) {
            looked_ = work_;
            stop_if_interrupted();
            if (std::chrono::steady_clock::now() > deadline_) return SimplexEnd::kStuck;
        }
        const int64_t r = most_infeasible();
        if (r < 0) return std::isfinite(bound_) ? SimplexEnd::kOptimal : SimplexEnd::kStuck;
        const int64_t v = in_row_[r];
        const bool up = basics_[r] < lows_[v];
        const int64_t column = entering(r, up);
        if (column < 0) {
            failed_row_ = r, failed_up_ = up;
            return SimplexEnd::kInfeasible;
        }
        const double target = up ? lows_[v] : highs_[v];
        const double distance = (basics_[r] - target) / row(r)[column];
        move(column, distance);
        const double entered = at_[column];
        pivot(r, column);
        basics_[r] = entered;
        at_[column] = target;
        aim(column);
    }
    rebuild();
    return SimplexEnd::kStuck;
}

std::pair<double, double> Simplex::losses(int64_t variable) const {
    const double* line = row(~where_[variable]);
    double down = kHuge, up = kHuge;
    for (int64_t j = 0; j < columns_; ++j) {
        const double size = ways_[j] * line[j], gain = std::abs(gains_[j]);
        if (gain < down * size && size > kPivot) down = gain / size;
        if (gain < up * -size && size < -kPivot) up = gain / -size;
    }
    return {down, up};
}

}  // namespace mmp
