#include "cpu/runtime/interrupts.h"

#include <atomic>
#include <chrono>

namespace mmp {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPause{100};

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

}  // namespace mmp
