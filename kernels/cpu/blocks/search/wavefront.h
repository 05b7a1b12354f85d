// Searches fragments of several rows in parallel (wavefront).
//
// A fragment needs decoded samples of its own row and of the row above, up to two largest blocks to
// its right. Its costs come from models that have learned from no fragments beyond these, so plans
// depend neither on the number of threads nor on their timing; see
// docs/decisions/0019-wavefront.md.
#pragma once

#include <stdint.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "cpu/blocks/search/search.h"

namespace mmp {

template <class Sample>
class Wavefront {
public:
    // Callback that gets the plan of each fragment in coding order.
    using Take = std::function<void(int row, int column, const BlockPlan& plan)>;

    // `source` has the padded size of the picture. The search writes decoded samples and units to
    // `picture`. `changes` and `lambdas` hold the step change and the lambda of each fragment.
    Wavefront(const Sample* source, BlockPicture<Sample>& picture, const BlockTools& tools,
              const BlockEffort& effort, StepChanges& changes, const std::vector<int64_t>& lambdas,
              const CellWeights& weights, ThreadTeam& team);
    ~Wavefront();

    // Searches all fragments. An exception of `take` ends the search and is thrown again.
    void run(int threads, const Take& take);

private:
    // Scratch memory of one thread.
    struct Worker {
        explicit Worker(Wavefront& wavefront);

        ThreadTeam alone{1};
        BlockModels models;
        BlockCosts costs;
        BlockSearch<Sample> search;
        BlockCoder<BlockCounter> counter;
    };

    void search_row(Worker& worker, int row);
    void start_models(int row, int column, BlockModels& models) const;
    void wait_for(int row, int columns);
    void finish(int row, int column, BlockPlan&& plan);
    // Passes on the next plans in coding order, at most `most`, as far as they are found. One
    // thread at a time does this; another thread waits for it if `waits`, else returns at once.
    // Returns whether it passed on any plan.
    bool pass_on(size_t most, bool waits = false);
    void stop();

    const Sample* source_;
    BlockPicture<Sample>& picture_;
    const BlockTools tools_;
    const BlockEffort effort_;
    StepChanges& changes_;
    const std::vector<int64_t>& lambdas_;
    const CellWeights& weights_;
    ThreadTeam& team_;
    const int side_, rows_, columns_, lag_;
    const BlockPicture<Sample> coarse_;
    const Take* take_ = nullptr;

    std::unique_ptr<std::atomic<int>[]> done_;  // number of searched fragments of each row
    std::atomic<int> next_row_{0};
    std::atomic<bool> stopped_{false};
    // By column of fragments: the models after the fragment of the latest row.
    std::vector<BlockModels> line_;

    std::vector<std::atomic<BlockPlan*>> plans_;  // plans of searched fragments, not passed on yet
    std::mutex passing_;
    std::atomic<size_t> passed_{0};
    size_t most_kept_ = 0;  // backlog of plans from which threads wait
    bool refused_ = false;  // whether `take` has thrown
};

}  // namespace mmp
