// Passes the plans of fragments, in coding order, from a thread that reads symbols to the thread
// that rebuilds samples.
#pragma once

#include <stddef.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "cpu/blocks/coder.h"

namespace mmp {

class PlanQueue {
public:
    // Callback that fills the plan of a fragment; the number counts fragments in coding order.
    using Read = std::function<void(size_t number, BlockPlan& plan)>;

    // Starts a thread that reads the plans of `fragments` fragments, at most `most` ahead.
    PlanQueue(size_t fragments, size_t most, Read read)
        : read_plan_(std::move(read)), plans_(most), reader_([this, fragments] { run(fragments); }) {}
    ~PlanQueue() {
        {
            const std::lock_guard lock(mutex_);
            stopped_ = true;
        }
        changed_.notify_all();
        reader_.join();
    }
    PlanQueue(const PlanQueue&) = delete;
    PlanQueue& operator=(const PlanQueue&) = delete;

    // Calls work(plan) with the next plan. Rethrows the exception that reading the plan threw.
    template <class Work>
    void next(const Work& work) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return read_ > built_ || failure_; });
            if (read_ == built_) std::rethrow_exception(failure_);
        }
        work(std::as_const(plans_[built_ % plans_.size()]));
        {
            const std::lock_guard lock(mutex_);
            ++built_;
        }
        changed_.notify_all();
    }

private:
    void run(size_t fragments) {
        try {
            for (size_t number = 0; number < fragments; ++number) {
                {
                    std::unique_lock lock(mutex_);
                    changed_.wait(lock,
                                  [&] { return number - built_ < plans_.size() || stopped_; });
                    if (stopped_) return;
                }
                read_plan_(number, plans_[number % plans_.size()]);
                {
                    const std::lock_guard lock(mutex_);
                    ++read_;
                }
                changed_.notify_all();
            }
        } catch (...) {
            {
                const std::lock_guard lock(mutex_);
                failure_ = std::current_exception();
            }
            changed_.notify_all();
        }
    }

    const Read read_plan_;
    std::vector<BlockPlan> plans_;
    std::mutex mutex_;
    std::condition_variable changed_;
    size_t read_ = 0, built_ = 0;  // numbers of plans read, and of plans that next() has returned from
    bool stopped_ = false;
    std::exception_ptr failure_;
    std::thread reader_;  // last, because it uses the other members
};

}  // namespace mmp
