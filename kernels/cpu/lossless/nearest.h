// Rounding of floating point to nearest, as Fit needs.
#pragma once

#include <fenv.h>

namespace mmp {

// Floating point rounds to nearest while it lives, also if the caller's does not.
class Nearest {
public:
    Nearest() : before_(fegetround()) {
        if (before_ != FE_TONEAREST) fesetround(FE_TONEAREST);
    }
    ~Nearest() {
        if (before_ != FE_TONEAREST) fesetround(before_);
    }

private:
    const int before_;
};

}  // namespace mmp
