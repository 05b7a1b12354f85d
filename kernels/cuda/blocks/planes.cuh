// Cross-component prediction: a block is predicted from the earlier planes. All threads of a CUDA
// block call each function. Source: section "Cross-component prediction" of docs/format/format.md.
#pragma once

#include "cuda/device/warp.cuh"
#include "shared/blocks/partition.h"
#include "shared/blocks/prediction.h"

namespace mmp {

constexpr int kPlanesThreads = 128;
// Samples around a block that cross-component prediction learns from.
constexpr int kMostLearnt = kPlanesReach * (2 * kMaxSide + kPlanesReach);
constexpr int kMostTerms = kMostRegressors + 1;

struct PlanesMemory {
    int16_t values[kMostTerms][kMostLearnt];  // minus the middle level
    unsigned long long products[kMostTerms][kMostTerms], sums[kMostTerms];  // signed
    int64_t equations[kMostRegressors][kMostTerms];
    int64_t weights[kMostRegressors], start;
    int32_t mean;
};

// Samples from which a prediction learns: the rows above a block, then the columns left of it.
struct LearningArea {
    int row, column, rows, above, beside;

    __device__ explicit LearningArea(const BlockPlace& block)
        : row(larger(0, block.row - kPlanesReach)),
          column(larger(0, block.column - kPlanesReach)),
          rows(block.row - row),
          above(block.column + block.width() - column),
          beside(block.column - column) {}
    __device__ int count(const BlockPlace& block) const {
        return rows * above + block.height() * beside;
    }
    // Place of a sample by its number.
    __device__ void place(int number, int& at_row, int& at_column) const {
        const int before = rows * above;
        if (number < before) {
            at_row = row + number / above, at_column = column + number % above;
        } else {
            at_row = row + rows + (number - before) / beside;
            at_column = column + (number - before) % beside;
        }
    }
};

// The prediction of a block, in coordinates of the picture. View::own(row, column) is a decoded
// sample around the block, View::earlier(which, row, column) one of an earlier plane; beyond the
// picture, the nearest one.
template <class View>
class PlanesPrediction {
public:
    // `used` earlier planes predict samples of `depth` bits.
    __device__ PlanesPrediction(PlanesMemory& memory, const View& view, int used, int depth,
                                const BlockPlace& block, int mode)
        : memory_(memory),
          view_(view),
          block_(block),
          wide_(mode == kWideCrossComponent),
          used_(used),
          depth_(depth),
          terms_((wide_ ? 6 : 1) + (used_ == 2)),
          middle_(1 << (depth - 1)) {
        const LearningArea area(block);
        const int count = area.count(block);
        if (wide_) find_mean(area, count);
        gather(area, count);
        sum_up(count);
        if (threadIdx.x < 32) solve(count);
        __syncthreads();
    }

    __device__ int operator()(int i, int j) const {
        const int row = block_.row + i, column = block_.column + j;
        int64_t sum = memory_.start;
        for (int p = 0; p < terms_; ++p)
            sum += memory_.weights[p] * (regressor(p, row, column) - middle_);
        const int64_t value = (sum >> 12) + middle_;
        const int most = (1 << depth_) - 1;
        return value < 0 ? 0 : value > most ? most : int(value);
    }

private:
    // The regressors: the first earlier plane, with four neighbours if wide; the second earlier
    // plane; the distance of the first from its mean if wide.
    __device__ int regressor(int p, int row, int column) const {
        if (p == 0) return view_.earlier(0, row, column);
        if (wide_ && p <= 4) {
            const int apart = p <= 2 ? -1 : 1;
            const bool down = p == 1 || p == 4;
            return view_.earlier(0, row + (down ? apart : 0), column + (down ? 0 : apart));
        }
        if (used_ == 2 && p == (wide_ ? 5 : 1)) return view_.earlier(1, row, column);
        return magnitude(view_.earlier(0, row, column) - memory_.mean);
    }
    __device__ static int magnitude(int value) { return value < 0 ? -value : value; }

    __device__ void find_mean(const LearningArea& area, int count) {
        if (threadIdx.x < 32) {
            uint32_t sum = 0;
            for (int n = threadIdx.x; n < count; n += 32) {
                int row, column;
                area.place(n, row, column);
                sum += uint32_t(view_.earlier(0, row, column));
            }
            sum = warp_sum(sum);
            if (threadIdx.x == 0) memory_.mean = int(sum) / count;
        }
        __syncthreads();
    }

    __device__ void gather(const LearningArea& area, int count) {
        for (int i = threadIdx.x; i < count * (terms_ + 1); i += kPlanesThreads) {
            const int p = i / count, n = i % count;
            int row, column;
            area.place(n, row, column);
            const int value =
                p < terms_ ? regressor(p, row, column) : view_.own(row, column);
            memory_.values[p][n] = int16_t(value - middle_);
        }
        __syncthreads();
    }

    // Sums the terms, and the products of each term with itself and with later ones.
    __device__ void sum_up(int count) {
        for (int i = threadIdx.x; i < kMostTerms * kMostTerms; i += kPlanesThreads)
            memory_.products[i / kMostTerms][i % kMostTerms] = 0;
        if (threadIdx.x < kMostTerms) memory_.sums[threadIdx.x] = 0;
        __syncthreads();
        // Up to this depth, a thread's sums of products fit 32 bits.
        constexpr int kShort = 12;
        if (depth_ <= kShort)
            sum_up_by<int32_t>(count);
        else
            sum_up_by<int64_t>(count);
        __syncthreads();
    }
    template <class Sum>
    __device__ void sum_up_by(int count) {
        for (int p = 0; p <= terms_; ++p) {
            Sum own = 0, products[kMostTerms] = {};
            for (int n = threadIdx.x; n < count; n += kPlanesThreads) {
                const int value = memory_.values[p][n];
                own += value;
#pragma unroll
                for (int q = 0; q < kMostTerms; ++q)
                    if (q >= p && q <= terms_) products[q] += Sum{value} * memory_.values[q][n];
            }
            add(memory_.sums[p], own);
#pragma unroll
            for (int q = 0; q < kMostTerms; ++q)
                if (q >= p && q <= terms_) add(memory_.products[p][q], products[q]);
        }
    }
    // Adds the numbers of all threads of a warp to a sum; two's complement, so signs do not matter.
    template <class Sum>
    __device__ static void add(unsigned long long& sum, Sum own) {
        int64_t all = own;
        if (sizeof(Sum) == sizeof(int32_t)) {
            // The sum of a warp fits 32 bits as well: it has all samples of the area at most.
            all = int32_t(warp_sum(uint32_t(int32_t(own))));
        } else {
            for (int apart = 16; apart; apart /= 2) all += __shfl_xor_sync(kAllLanes, all, apart);
        }
        if (threadIdx.x % 32 == 0) atomicAdd(&sum, static_cast<unsigned long long>(all));
    }

    // Solves the normal equations by Gaussian elimination, a lane for each row; weights are in
    // 1/4096. One warp calls it.
    __device__ void solve(int count) {
        int64_t(*m)[kMostTerms] = memory_.equations;
        const int r = threadIdx.x;
        const auto sum_of = [&](int p) { return int64_t(memory_.sums[p]); };
        if (r < terms_)
            for (int q = 0; q <= terms_; ++q) {
                const auto products = int64_t(memory_.products[smaller(r, q)][larger(r, q)]);
                m[r][q] = covariance(products, sum_of(r), sum_of(q), count, depth_ - 8);
                if (q == r) m[r][q] += kPlanesDiagonal * kFitScale;
            }
        __syncwarp();
        for (int i = 0; i < terms_; ++i) {
            if (r >= i && r <= terms_) m[i][r] = mmp::limited(m[i][r], kMostValue);
            __syncwarp();
            const int64_t pivot = m[i][i] > kFitScale ? m[i][i] : int64_t{kFitScale};
            __syncwarp();
            if (r == i) m[i][i] = pivot;
            if (r > i && r < terms_) {
                const int64_t f = mmp::limited(
                    mmp::limited(m[r][i], kMostValue) * 65536 / pivot, kMostFactor);
                for (int k = i; k <= terms_; ++k)
                    m[r][k] -= (f * (k == i ? pivot : m[i][k])) >> 16;
            }
            __syncwarp();
        }
        if (r) return;
        int64_t rest = sum_of(terms_) * 4096;
        for (int i = terms_ - 1; i >= 0; --i) {
            int64_t t = m[i][terms_] * 4096;
            for (int k = i + 1; k < terms_; ++k) t -= m[i][k] * memory_.weights[k];
            memory_.weights[i] = mmp::limited(t / m[i][i], kMostWeight);
            rest -= memory_.weights[i] * sum_of(i);
        }
        memory_.start = rest / count + 2048;
    }

    PlanesMemory& memory_;
    const View view_;
    const BlockPlace block_;
    const bool wide_;
    const int used_, depth_, terms_, middle_;
};

}  // namespace mmp
