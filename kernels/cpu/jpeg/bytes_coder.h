// Bytes of no known kind, such as marker segments: eight contexts for each bit, mixed.
// Source: section "Bytes" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace mmp::jpeg {

std::vector<uint8_t> encode_bytes(const std::vector<uint8_t>& bytes);
std::vector<uint8_t> decode_bytes(const uint8_t* payload, size_t size, size_t count);

}  // namespace mmp::jpeg
