// The entry that libFuzzer calls.
#include "inputs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    return mmp::run_input(data, size);
}
