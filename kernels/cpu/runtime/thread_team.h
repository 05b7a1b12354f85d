// A team of threads for many small jobs with low latency.
#pragma once

#include <stdint.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#include "cpu/runtime/interrupts.h"

namespace mmp {

class ThreadTeam {
public:
    // The calling thread is a member of the team. Tasks that may take long call look() to observe
    // the deadline.
    explicit ThreadTeam(int threads, Deadline deadline = kNoDeadline);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    static constexpr int kMostTasks = (1 << 16) - 1;

    // Calls work(0) to work(tasks - 1), once each, and returns when all have ended. If tasks throw,
    // the exception of the lowest task number is rethrown after all have ended; higher tasks that
    // have not begun by then are skipped.
    template <class Work>
    void run(uint32_t tasks, const Work& work) {
        if (workers_.empty() || tasks < 2) {
            for (uint32_t task = 0; task < tasks; ++task) work(task);
            return;
        }
        run_job({[](const void* context, uint32_t task) {
                     (*static_cast<const Work*>(context))(task);
                 },
                 &work},
                tasks);
    }

    // Throws Interrupted or OutOfTime; see stop_if_over.
    void look() const { stop_if_over(deadline_); }

private:
    struct Job {
        void (*call)(const void* context, uint32_t task);
        const void* context;
    };

    void run_job(Job job, uint32_t tasks);
    void work_on_job();
    void call_task(uint32_t task);
    void serve();

    // Packed: job number (32 bits), number of tasks (16), tasks handed out (16). Adding 1 hands out
    // a task, so a thread that comes late to an old job finds no task left.
    std::atomic<uint64_t> state_{0};
    std::atomic<uint32_t> unfinished_{0};
    std::atomic<bool> stopping_{false};
    Job job_{};
    static constexpr uint32_t kNone = UINT32_MAX;
    std::atomic<uint32_t> failed_{kNone};  // lowest task that has thrown
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::vector<std::thread> workers_;
    const Deadline deadline_;
};

}  // namespace mmp
