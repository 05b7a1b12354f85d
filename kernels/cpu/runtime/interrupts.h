// Interruption of long work from outside, for example by Ctrl-C.
#pragma once

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

}  // namespace mmp
