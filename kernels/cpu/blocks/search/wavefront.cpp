#include "cpu/blocks/search/wavefront.h"

#include <algorithm>
#include <utility>

#include "cpu/blocks/search/coarse.h"

namespace mmp {

namespace {

// Progress of a row after a failure: exceeds the number of fragments in any row.
constexpr int kStopped = 1 << 30;

// Number of plans that a thread passes on after it has found one. One would not clear the backlog:
// of the rows that are searched in parallel, only the plans of the first row come next in coding
// order; the plans of the other rows wait until that row ends.
constexpr size_t kPassedAtOnce = 2;

}  // namespace

template <class Sample>
Wavefront<Sample>::Wavefront(const Sample* source, BlockPicture<Sample>& picture,
                             const BlockTools& tools, const BlockEffort& effort,
                             StepChanges& changes, const std::vector<int64_t>& lambdas,
                             const CellWeights& weights, ThreadTeam& team)
    : source_(source),
      picture_(picture),
      tools_(tools),
      effort_(effort),
      changes_(changes),
      lambdas_(lambdas),
      weights_(weights),
      team_(team),
      side_(1 << tools.fragment_log2),
      rows_((picture.height + side_ - 1) / side_),
      columns_((picture.width + side_ - 1) / side_),
      lag_(2 * kMaxSide / side_),
      coarse_(coarsely_quantised(source, picture, tools, changes, team)),
      done_(std::make_unique<std::atomic<int>[]>(rows_)),
      line_(columns_),
      plans_(size_t(rows_) * columns_) {}

template <class Sample>
Wavefront<Sample>::~Wavefront() {
    for (std::atomic<BlockPlan*>& plan : plans_) delete plan.load();
}

template <class Sample>
Wavefront<Sample>::Worker::Worker(Wavefront& wavefront)
    : costs(wavefront.picture_.depth.extra(), wavefront.tools_.fine_contexts),
      search(wavefront.source_, wavefront.picture_, wavefront.coarse_, wavefront.tools_,
             wavefront.changes_, wavefront.weights_, wavefront.effort_, nullptr, alone),
      counter(wavefront.picture_, wavefront.tools_, wavefront.changes_, nullptr,
              BlockCounter(models)) {}

template <class Sample>
void Wavefront<Sample>::run(int threads, const Take& take) {
    take_ = &take;
    const int most = std::min(rows_, (columns_ + lag_ - 1) / lag_);
    const int workers = std::min(threads, most);
    most_kept_ = 2 * size_t(workers) * columns_;
    team_.run(uint32_t(workers), [&](uint32_t) {
        try {
            Worker worker(*this);
            for (int row; (row = next_row_++) < rows_ && !stopped_;) search_row(worker, row);
        } catch (...) {
            stop();
            throw;
        }
    });
    pass_on(plans_.size());
}

template <class Sample>
void Wavefront<Sample>::search_row(Worker& worker, int row) {
    for (int column = 0; column < columns_; ++column) {
        if (row > 0) wait_for(row - 1, std::min(column + lag_, columns_));
        if (stopped_) return;
        start_models(row, column, worker.models);
        const int top = row * side_, left = column * side_;
        worker.costs.refresh(worker.models, lambdas_[changes_.number(top, left)]);
        BlockPlan plan;
        worker.search.find(top, left, worker.models, worker.costs, plan);
        worker.search.write(picture_);
        worker.counter.code(top, left, plan);
        line_[column] = worker.models;
        finish(row, column, std::move(plan));
        done_[row].fetch_add(1, std::memory_order_release);
        done_[row].notify_all();
    }
}

template <class Sample>
void Wavefront<Sample>::start_models(int row, int column, BlockModels& models) const {
    const BlockModels& above = line_[std::min(column + lag_, columns_) - 1];
    if (column == 0) {
        if (row == 0)
            mmp::start_models(tools_, is_small(picture_.height, picture_.width), models);
        else
            models = above;
    } else if (row > 0) {
        models.merge(above);
    }
}

template <class Sample>
void Wavefront<Sample>::wait_for(int row, int columns) {
    for (int done; (done = done_[row].load(std::memory_order_acquire)) < columns;)
        if (!pass_on(1)) done_[row].wait(done, std::memory_order_acquire);
}

template <class Sample>
void Wavefront<Sample>::finish(int row, int column, BlockPlan&& plan) {
    const size_t number = size_t(row) * columns_ + column;
    plans_[number].store(new BlockPlan(std::move(plan)), std::memory_order_release);
    pass_on(kPassedAtOnce, passed_ + most_kept_ < number);
}

template <class Sample>
bool Wavefront<Sample>::pass_on(size_t most, bool waits) {
    std::unique_lock lock(passing_, std::defer_lock);
    if (waits)
        lock.lock();
    else if (!lock.try_lock())
        return false;
    size_t passed = 0;
    for (; passed < most && !refused_ && passed_ < plans_.size(); ++passed) {
        const std::unique_ptr<BlockPlan> plan(
            plans_[passed_].exchange(nullptr, std::memory_order_acquire));
        if (!plan) break;
        const int number = int(passed_++);
        refused_ = true;  // reset unless take() throws
        (*take_)(number / columns_ * side_, number % columns_ * side_, *plan);
        refused_ = false;
    }
    return passed > 0;
}

template <class Sample>
void Wavefront<Sample>::stop() {
    stopped_ = true;
    for (int row = 0; row < rows_; ++row) {
        done_[row].fetch_add(kStopped);
        done_[row].notify_all();
    }
}

template class Wavefront<uint8_t>;
template class Wavefront<uint16_t>;

}  // namespace mmp
