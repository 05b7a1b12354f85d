#pragma once

#include <stdint.h>

#include <functional>

namespace mmp {

// A callback with the number of fragments done and their total. It throws to stop the work.
using Progress = std::function<void(int64_t done, int64_t total)>;

}  // namespace mmp
