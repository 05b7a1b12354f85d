#pragma once

#include <stdint.h>

#include <functional>

namespace mmp {

// Callback with the number of fragments done and the total. It may throw to cancel the work.
using Progress = std::function<void(int64_t done, int64_t total)>;

}  // namespace mmp
