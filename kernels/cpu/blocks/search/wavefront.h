// Searches the fragments of several rows at once, in threads.
//
// A fragment needs decoded samples of its own row and of the row above, up to two largest blocks
// after it. Its costs come from models that have counted no more than these fragments, so plans
// depend neither on the number of threads nor on their pace; see
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
    // Receives the plan of each fragment in coding order.
    using Take = std::function<void(int row, int column, const BlockPlan& plan)>;

    // `source` has the size of the picture, whose samples and units the search writes. Each fragment
    // has its step change and its lambda.
    Wavefront(const Sample* source, BlockPicture<Sample>& picture, const BlockTools& tools,
              const BlockEffort& effort, StepChanges& changes, const std::vector<int64_t>& lambdas,
              ThreadTeam& team);
    ~Wavefront();

    // Searches all fragments. Exceptions of `take` end the search.
    void run(int threads, const Take& take);

private:
    // What one thread needs for a search.
    struct Worker {
        explicit Worker(Wavefront& wavefront);

        ThreadTeam alone{1};
        BlockModels models;
        BlockCosts costs;
        BlockSearch<Sample> search;
        BlockCoder<BlockCounter, Sample> counter;
    };

    void search_row(Worker& worker, int row);
    void start_models(int row, int column, BlockModels& models) const;
    void wait_for(int row, int columns);
    void finish(int row, int column, BlockPlan&& plan);
    // Passes on the next plans in coding order, at most this many, if they are there. While another
    // thread passes on plans, this one waits for it or passes on none. Returns whether it passed on
    // any.
    bool pass_on(size_t most, bool waits = false);
    void stop();

    const Sample* source_;
    BlockPicture<Sample>& picture_;
    const BlockTools tools_;
    const BlockEffort effort_;
    StepChanges& changes_;
    const std::vector<int64_t>& lambdas_;
    ThreadTeam& team_;
    const int side_, rows_, columns_, lag_;
    const BlockPicture<Sample> coarse_;
    const Take* take_ = nullptr;

    std::unique_ptr<std::atomic<int>[]> done_;  // searched fragments of each row
    std::atomic<int> next_row_{0};
    std::atomic<bool> stopped_{false};
    // By column: the models after the fragment of the latest row.
    std::vector<BlockModels> line_;

    std::vector<std::atomic<BlockPlan*>> plans_;  // of searched fragments that wait for others
    std::mutex passing_;
    std::atomic<size_t> passed_{0};
    size_t most_kept_ = 0;  // plans, above which threads wait for those that pass on
    bool refused_ = false;  // `take` threw an exception
};

}  // namespace mmp
