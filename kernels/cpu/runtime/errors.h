// Exceptions of the native code. The Python module translates them to errors of mmpcodec.errors.
#pragma once

#include <stdexcept>
#include <string>

namespace mmp {

struct TruncatedPayload : std::runtime_error {
    // Section of docs/format/format.md with the rule that the file breaks.
    const char* section;

    explicit TruncatedPayload(const std::string& problem, const char* section = "Range coder")
        : std::runtime_error(problem), section(section) {}
};

struct CorruptPayload : std::runtime_error {
    // Section of docs/format/format.md with the rule that the file breaks.
    const char* section;

    explicit CorruptPayload(const std::string& problem, const char* section = "Range coder")
        : std::runtime_error(problem), section(section) {}
};

struct Cancelled : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace mmp
