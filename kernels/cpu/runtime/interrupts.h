// The end of long work before it is done: from outside, for example by Ctrl-C, or by a time limit.
#pragma once

#include <chrono>
#include <exception>

namespace mmp {

class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

// Sets the callback that tells whether the calling thread should stop.
void ask_for_interrupts(bool (*ask)());

// Whether the calling thread should stop. A thread asks the callback at most ten times a second.
bool interrupted();

// Throws Interrupted if the calling thread should stop.
void stop_if_interrupted();

using Deadline = std::chrono::steady_clock::time_point;
constexpr Deadline kNoDeadline = Deadline::max();

class OutOfTime : public std::exception {
public:
    const char* what() const noexcept override { return "out of time"; }
};

// Returns the time after a number of seconds; no deadline if the number is negative.
Deadline deadline_in(double seconds);

bool is_over(Deadline deadline);

// Throws Interrupted if the calling thread should stop, or OutOfTime if the deadline has passed.
void stop_if_over(Deadline deadline);

}  // namespace mmp
