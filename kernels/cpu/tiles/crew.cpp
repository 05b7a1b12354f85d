#include "cpu/tiles/crew.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "cpu/runtime/watch.h"

namespace mmp {

namespace {

constexpr int64_t kLeastFragments = 64;  // for a thread, which takes time to start

// Threads that take tasks of the oldest job that has any left. A task may start a job of its own;
// the thread that waits for the end of the first job takes tasks of those.
class Crew : public Helpers {
public:
    Crew(int threads, Watch& watch) : watch_(watch) {
        for (int i = 1; i < threads; ++i) {
            try {
                members_.emplace_back([this] { serve(); });
            } catch (const std::system_error&) {
                break;  // the system refuses more threads
            }
        }
    }
    ~Crew() override {
        {
            const std::lock_guard lock(mutex_);
            ending_ = true;
        }
        changed_.notify_all();
        for (std::thread& member : members_) member.join();
    }

    int ready() override {
        if (members_.empty()) return 1;
        const std::lock_guard lock(mutex_);
        return 1 + idle_;
    }

    void run(int tasks, const std::function<void(int)>& work) override {
        if (members_.empty() || tasks < 2) return Helpers::run(tasks, work);
        Job job{work, tasks};
        std::unique_lock lock(mutex_);
        const bool is_first = jobs_.empty();
        const auto place = jobs_.insert(jobs_.end(), &job);
        changed_.notify_all();
        while (job.next < job.tasks) take(job, lock);
        while (job.ended < job.tasks)
            if (!is_first)
                wait(lock);
            else if (!take_any(lock))
                wait_idly(lock);
        jobs_.erase(place);
        if (job.failure) std::rethrow_exception(job.failure);
    }

private:
    struct Job {
        const std::function<void(int)>& work;
        const int tasks;
        int next = 0, ended = 0;
        std::exception_ptr failure = nullptr;
    };

    // Runs the next task of a job. After a failure, the others are only counted.
    void take(Job& job, std::unique_lock<std::mutex>& lock) {
        const int task = job.next++;
        if (!job.failure) {
            lock.unlock();
            std::exception_ptr failure;
            try {
                job.work(task);
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            if (!job.failure) job.failure = failure;
        }
        if (++job.ended == job.tasks) changed_.notify_all();
    }

    // Takes a task of the oldest job that has one left; returns whether there was one.
    bool take_any(std::unique_lock<std::mutex>& lock) {
        const auto open = std::find_if(jobs_.begin(), jobs_.end(),
                                       [](const Job* job) { return job->next < job->tasks; });
        if (open == jobs_.end()) return false;
        take(**open, lock);
        return true;
    }

    // Waits for a change. The thread that reports wakes up to do so.
    void wait(std::unique_lock<std::mutex>& lock) {
        if (!watch_.is_owner()) return changed_.wait(lock);
        if (changed_.wait_until(lock, watch_.next_report()) == std::cv_status::no_timeout) return;
        lock.unlock();
        watch_.report();
        lock.lock();
    }
    void wait_idly(std::unique_lock<std::mutex>& lock) {
        ++idle_;
        wait(lock);
        --idle_;
    }

    void serve() {
        std::unique_lock lock(mutex_);
        while (!ending_)
            if (!take_any(lock)) wait_idly(lock);
    }

    Watch& watch_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::list<Job*> jobs_;
    int idle_ = 0;
    bool ending_ = false;
    std::vector<std::thread> members_;
};

size_t bytes_of(const CodedTile& tile) {
    size_t bytes = tile.palette ? tile.palette->numbers.size : 0;
    for (const CodedLayer& layer : tile.layers) bytes += layer.payload.size;
    return bytes;
}

}  // namespace

std::vector<DecodedTile> decode_tiles(const PictureForm& form, const std::vector<TileJob>& jobs,
                                      bool recorded, int threads, const Progress& report,
                                      bool announced, double pause) {
    int64_t total = 0;
    for (const TileJob& job : jobs) total += job.tile.work(form);
    std::vector<int> order(jobs.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
        return bytes_of(jobs[a].tile) > bytes_of(jobs[b].tile);
    });
    const int wanted = int(std::clamp<int64_t>(total / kLeastFragments, 1, threads));
    const int of_tile = std::max(threads / std::max(int(jobs.size()), 1), 1);
    std::vector<DecodedTile> found(jobs.size());
    Watch watch(total, report, pause);
    {
        Crew crew(wanted, watch);
        const Advance advance = [&](int64_t fragments) { watch.advance(fragments); };
        if (announced) watch.report();
        crew.run(int(order.size()), [&](int index) {
            try {
                watch.look();
                const int number = order[index];
                found[number] = decode_tile(form, jobs[number].tile, jobs[number].place, recorded,
                                            of_tile, crew, advance);
            } catch (const Stopped&) {
            } catch (...) {
                watch.fail(std::current_exception());
            }
        });
        watch.rethrow();
        if (announced) watch.report();
    }
    watch.rethrow();
    return found;
}

}  // namespace mmp
