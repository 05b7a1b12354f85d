// Stopping long work from outside, as Ctrl-C does.
#pragma once

#include <exception>

namespace mmp {

class Interrupted : public std::exception {
public:
    const char* what() const noexcept override { return "interrupted"; }
};

// How to find out whether the thread that calls shall stop.
void ask_for_interrupts(bool (*ask)());

// Whether it shall; each thread asks ten times a second at most.
bool interrupted();

// Throws Interrupted if it shall.
void stop_if_interrupted();

}  // namespace mmp
