#include "cpu/runtime/interrupts.h"

#include <algorithm>
#include <atomic>

namespace mmp {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};
constexpr double kMostSeconds = 1e9;  // larger durations overflow the clock

std::atomic<bool (*)()> how_to_ask{nullptr};

}  // namespace

void ask_for_interrupts(bool (*ask)()) { how_to_ask = ask; }

bool interrupted() {
    thread_local Clock::time_point asked{};
    const Clock::time_point now = Clock::now();
    if (now - asked < kPause) return false;
    asked = now;
    const auto ask = how_to_ask.load();
    return ask && ask();
}

void stop_if_interrupted() {
    if (interrupted()) throw Interrupted();
}

Deadline deadline_in(double seconds) {
    if (seconds < 0) return kNoDeadline;
    const std::chrono::duration<double> span{std::min(seconds, kMostSeconds)};
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
}

bool is_over(Deadline deadline) { return deadline != kNoDeadline && Clock::now() > deadline; }

void stop_if_over(Deadline deadline) {
    stop_if_interrupted();
    if (is_over(deadline)) throw OutOfTime();
}

}  // namespace mmp
