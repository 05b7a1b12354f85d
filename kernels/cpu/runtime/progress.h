#pragma once

#include <stdint.h>

#include <functional>

namespace mmp {

// Called with the number of fragments done and the number in all. Throws to stop the work.
using Progress = std::function<void(int64_t done, int64_t total)>;

}  // namespace mmp
