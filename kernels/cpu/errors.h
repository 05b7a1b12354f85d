// What the native code throws; the module turns it into the errors of mmpcodec.errors.
#pragma once

#include <stdexcept>

namespace mmp {

struct TruncatedPayload : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct CorruptPayload : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Cancelled : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace mmp
