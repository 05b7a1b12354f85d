// A team of threads that run many small jobs with little waiting.
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
    // The calling thread is one of the team. Work that may take long looks at the deadline.
    explicit ThreadTeam(int threads, Deadline deadline = kNoDeadline);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    static constexpr int kMostTasks = (1 << 16) - 1;

    // Calls work(0) to work(tasks - 1), each once, and returns when all have returned. If tasks
    // throw, the exception of the lowest one is thrown again after all have ended; tasks above it
    // that have not begun by then are left out.
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

    // Number of the job (32 bits), its tasks (16), tasks handed out (16). A task is handed out by
    // raising the last part, so a late thread finds no task left.
    std::atomic<uint64_t> state_{0};
    std::atomic<uint32_t> unfinished_{0};
    std::atomic<bool> stopping_{false};
    Job job_{};
    static constexpr uint32_t kNone = UINT32_MAX;
    std::atomic<uint32_t> failed_{kNone};  // the lowest task that has thrown
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
    std::vector<std::thread> workers_;
    const Deadline deadline_;
};

}  // namespace mmp
