// Early end of long computations: by an interrupt such as Ctrl-C, or by a time limit.
#pragma once

#include <chrono>
#include <exception>

namespace mmp {

class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

// Sets the callback that returns whether the calling thread should stop.
void ask_for_interrupts(bool (*ask)());

// Whether the calling thread should stop. A thread calls the callback at most ten times a second.
bool interrupted();

// Throws Interrupted if the calling thread should stop.
void stop_if_interrupted();

using Deadline = std::chrono::steady_clock::time_point;
constexpr Deadline kNoDeadline = Deadline::max();

class OutOfTime : public std::exception {
public:
    const char* what() const noexcept override { return "out of time"; }
};

// Returns the time point `seconds` from now; a negative number means no deadline.
Deadline deadline_in(double seconds);

bool is_over(Deadline deadline);

// Throws Interrupted if the calling thread should stop, or OutOfTime if the deadline has passed.
void stop_if_over(Deadline deadline);

}  // namespace mmp
