// Coding the levels of a stripe of a picture of JPEG, in both directions.
// Source: section "Levels of a stripe", of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "cpu/jpeg/picture.h"

namespace mmp::jpeg {

// `form` is 1 to 3. The rows are those of MCUs.
std::vector<uint8_t> encode_levels(const Picture& picture, int first_row, int rows, int form);
void decode_levels(const uint8_t* payload, size_t size, Picture& picture, int first_row, int rows,
                   int form);

}  // namespace mmp::jpeg
