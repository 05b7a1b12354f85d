#pragma once

#include <stdint.h>

#include <functional>

namespace mmp {

// Called with the fragments done and their number; throws to stop.
using Progress = std::function<void(int64_t done, int64_t total)>;

}  // namespace mmp
