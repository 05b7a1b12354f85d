// A queue from one thread to another whose items are used again, with all their memory.
#pragma once

#include <stddef.h>

#include <algorithm>
#include <atomic>
#include <vector>

namespace mmp {

template <class Item>
class RingQueue {
public:
    // Thrown by room() and next() if the other thread has stopped the queue.
    struct Stopped {};

    // The first thread is at most `most` items ahead.
    explicit RingQueue(size_t most) : items_(most) {}

    // For the first thread: waits until an item may be overwritten, and passes it on.
    Item& room() {
        const size_t number = filled_.load() & ~kStopped;
        wait_for(released_, number + 1 - std::min(number + 1, items_.size()));
        return items_[number % items_.size()];
    }
    void pass_on() { advance(filled_); }

    // For the second thread: waits for the next item, and releases it.
    Item& next() {
        const size_t number = released_.load() & ~kStopped;
        wait_for(filled_, number + 1);
        return items_[number % items_.size()];
    }
    void release() { advance(released_); }

    // Lets the other thread stop once it has to wait.
    void stop() {
        for (std::atomic<size_t>* count : {&filled_, &released_}) {
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

    std::vector<Item> items_;
    std::atomic<size_t> filled_{0}, released_{0};  // number of items, and a bit that says stopped
};

}  // namespace mmp
