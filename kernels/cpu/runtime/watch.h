// Progress of work that several threads share, and its early end.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "cpu/runtime/progress.h"

namespace mmp {

// Ends the work of a thread after an error in another one.
struct Stopped {};

// Counts the work that all threads have done, and reports it from the thread that made the watch.
class Watch {
public:
    using Clock = std::chrono::steady_clock;

    // `pause` is the least number of seconds between two reports of look().
    Watch(int64_t total, const Progress& report, double pause)
        : total_(total),
          report_(report),
          pause_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(pause))),
          owner_(std::this_thread::get_id()),
          reported_(Clock::now()) {}

    void advance(int64_t work) {
        done_ += work;
        look();
    }
    // Reports, if it is time; ends the work of the calling thread if another one has failed.
    void look() {
        if (is_owner() && Clock::now() >= next_report()) report();
        if (stopped_) throw Stopped();
    }
    // Reports now. Only the thread that made the watch may call it.
    void report() {
        if (stopped_) return;
        try {
            report_(std::min<int64_t>(done_, total_), total_);
        } catch (...) {
            fail(std::current_exception());
        }
        reported_ = Clock::now();
    }
    void fail(const std::exception_ptr& failure) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = failure;
        stopped_ = true;
    }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }
    bool is_owner() const { return std::this_thread::get_id() == owner_; }
    Clock::time_point next_report() const { return reported_ + pause_; }

private:
    const int64_t total_;
    const Progress& report_;
    const Clock::duration pause_;
    const std::thread::id owner_;
    Clock::time_point reported_;
    std::atomic<int64_t> done_{0};
    std::atomic<bool> stopped_{false};
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace mmp
