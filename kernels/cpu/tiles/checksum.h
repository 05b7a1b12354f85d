// CRC-32 of bytes, as zlib computes it.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace mmp {

// Returns the CRC of bytes that follow others whose CRC is `crc`; 0 if there are none.
uint32_t crc32(uint32_t crc, const void* bytes, size_t size);

// Returns the CRC of two pieces of data, of which the second has `size` bytes.
uint32_t joined_crc(uint32_t first, uint32_t second, uint64_t size);

}  // namespace mmp
