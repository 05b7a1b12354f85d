// Passes the plans of fragments, in coding order, from the thread that reads symbols to the thread
// that rebuilds samples.
#pragma once

#include <stddef.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "cpu/blocks/coder.h"

namespace mmp {

class PlanQueue {
public:
    // Thrown by room() and next() if the other thread has stopped the queue.
    struct Stopped {};

    // The reader is at most `most` plans ahead.
    explicit PlanQueue(size_t most) : plans_(most) {}

    // For the reader: waits until a plan may be overwritten, and passes it on.
    BlockPlan& room() {
        const size_t number = read_.load() & ~kStopped;
        wait_for(built_, number + 1 - std::min(number + 1, plans_.size()));
        return plans_[number % plans_.size()];
    }
    void pass_on() { advance(read_); }

    // For the thread that rebuilds: waits for the next plan, and releases it.
    const BlockPlan& next() {
        const size_t number = built_.load() & ~kStopped;
        wait_for(read_, number + 1);
        return plans_[number % plans_.size()];
    }
    void release() { advance(built_); }

    // Lets the other thread stop once it has to wait.
    void stop() {
        for (std::atomic<size_t>* count : {&read_, &built_}) {
            count->fetch_or(kStopped);
            count->notify_all();
        }
    }

private:
    static constexpr size_t kStopped = size_t{1} << (8 * sizeof(size_t) - 1);

    static void wait_for(const std::atomic<size_t>& count, size_t least) {
        for (size_t now; ((now = count.load()) & ~kStopped) < least; count.wait(now))
            if (now & kStopped) throw Stopped();
    }
    static void advance(std::atomic<size_t>& count) {
        ++count;
        count.notify_all();
    }

    std::vector<BlockPlan> plans_;
    std::atomic<size_t> read_{0}, built_{0};  // number of plans, and a bit that says stopped
};

}  // namespace mmp
