#include "cpu/runtime/thread_team.h"

#include <system_error>
#include <utility>

namespace mmp {

namespace {

// Number of polls before a waiting thread sleeps: longer than the gap between two jobs, shorter
// than a time slice.
constexpr int kSpins = 4000;

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

constexpr uint64_t kTaskMask = 0xFFFF;
constexpr int kTasksShift = 16, kJobShift = 32;

}  // namespace

ThreadTeam::ThreadTeam(int threads, Deadline deadline) : deadline_(deadline) {
    for (int i = 1; i < threads; ++i) {
        try {
            workers_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
            break;  // the system refuses more threads
        }
    }
}

ThreadTeam::~ThreadTeam() {
    stopping_ = true;
    state_ = ((state_ >> kJobShift) + 1) << kJobShift;
    state_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void ThreadTeam::run_job(Job job, uint32_t tasks) {
    job_ = job;
    unfinished_.store(tasks, std::memory_order_relaxed);
    const uint64_t number = (state_.load(std::memory_order_relaxed) >> kJobShift) + 1;
    state_.store(number << kJobShift | uint64_t{tasks} << kTasksShift, std::memory_order_release);
    state_.notify_all();
    work_on_job();
    int spin = 0;
    while (const uint32_t unfinished = unfinished_.load(std::memory_order_acquire))
        if (++spin < kSpins)
            pause();
        else
            unfinished_.wait(unfinished, std::memory_order_acquire);
    if (!failure_) return;
    failed_ = kNone;
    std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadTeam::call_task(uint32_t task) {
    if (task > failed_) return;
    try {
        job_.call(job_.context, task);
    } catch (...) {
        const std::lock_guard lock(failure_mutex_);
        if (task > failed_) return;
        failure_ = std::current_exception();
        failed_ = task;
    }
}

void ThreadTeam::work_on_job() {
    uint64_t state = state_.load(std::memory_order_acquire);
    while ((state & kTaskMask) < (state >> kTasksShift & kTaskMask)) {
        if (!state_.compare_exchange_weak(state, state + 1, std::memory_order_acq_rel)) continue;
        const uint32_t task = state & kTaskMask;
        call_task(task);
        if (unfinished_.fetch_sub(1, std::memory_order_release) == 1) unfinished_.notify_all();
        state = state_.load(std::memory_order_acquire);
    }
}

void ThreadTeam::serve() {
    while (!stopping_.load(std::memory_order_relaxed)) {
        work_on_job();
        const uint64_t seen = state_.load(std::memory_order_acquire);
        if ((seen & kTaskMask) < (seen >> kTasksShift & kTaskMask)) continue;
        int spin = 0;
        while (spin < kSpins && state_.load(std::memory_order_acquire) == seen) {
            pause();
            ++spin;
        }
        if (spin == kSpins && !stopping_) state_.wait(seen);
    }
}

}  // namespace mmp
