#include "cpu/tiles/checksum.h"

#include <string.h>

#include <array>

namespace mmp {

namespace {

constexpr uint32_t kPolynomial = 0xEDB88320;  // reflected: bit 31 is x^0

using Slices = std::array<std::array<uint32_t, 256>, 8>;

// The state after a byte and 0 to 7 bytes of zero.
constexpr Slices slices() {
    Slices found{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t state = byte;
        for (int bit = 0; bit < 8; ++bit) state = state >> 1 ^ (state & 1 ? kPolynomial : 0);
        found[0][byte] = state;
    }
    for (int zeros = 1; zeros < 8; ++zeros)
        for (uint32_t byte = 0; byte < 256; ++byte) {
            const uint32_t before = found[zeros - 1][byte];
            found[zeros][byte] = before >> 8 ^ found[0][before & 255];
        }
    return found;
}
constexpr Slices kSlices = slices();

// Eight bytes at a time: M. E. Kounavis, F. L. Berry, "Novel table lookup-based algorithms for
// high-performance CRC generation", 2008.
uint32_t by_slices(uint32_t state, const uint8_t* bytes, size_t size) {
    for (; size >= 8; bytes += 8, size -= 8) {
        state ^= bytes[0] | bytes[1] << 8 | bytes[2] << 16 | uint32_t{bytes[3]} << 24;
        state = kSlices[7][state & 255] ^ kSlices[6][state >> 8 & 255] ^
                kSlices[5][state >> 16 & 255] ^ kSlices[4][state >> 24] ^ kSlices[3][bytes[4]] ^
                kSlices[2][bytes[5]] ^ kSlices[1][bytes[6]] ^ kSlices[0][bytes[7]];
    }
    for (; size; ++bytes, --size) state = state >> 8 ^ kSlices[0][(state ^ *bytes) & 255];
    return state;
}

#ifdef MMP_X86

typedef long long Carryless __attribute__((vector_size(16)));

#define MMP_CARRYLESS __attribute__((target("sse2,pclmul")))

MMP_CARRYLESS inline Carryless loaded_bytes(const uint8_t* bytes) {
    Carryless vector;
    memcpy(&vector, bytes, sizeof vector);
    return vector;
}

// Moves 128 bits of the polynomial as far as `by` says.
MMP_CARRYLESS inline Carryless folded(Carryless bits, Carryless by) {
    return __builtin_ia32_pclmulqdq128(bits, by, 0x00) ^
           __builtin_ia32_pclmulqdq128(bits, by, 0x11);
}

// Source: V. Gopal et al., "Fast CRC computation for generic polynomials using PCLMULQDQ
// instruction", Intel 2009. At least 64 bytes.
MMP_CARRYLESS uint32_t by_products(uint32_t state, const uint8_t* bytes, size_t size) {
    const Carryless by_64 = {0x154442bd4, 0x1c6e41596}, by_16 = {0x1751997d0, 0x0ccaa009e};
    Carryless part[4];
    for (int i = 0; i < 4; ++i) part[i] = loaded_bytes(bytes + 16 * i);
    part[0] ^= Carryless{static_cast<long long>(state), 0};
    for (bytes += 64, size -= 64; size >= 64; bytes += 64, size -= 64)
        for (int i = 0; i < 4; ++i)
            part[i] = folded(part[i], by_64) ^ loaded_bytes(bytes + 16 * i);
    Carryless all = part[0];
    for (int i = 1; i < 4; ++i) all = folded(all, by_16) ^ part[i];
    for (; size >= 16; bytes += 16, size -= 16) all = folded(all, by_16) ^ loaded_bytes(bytes);
    uint8_t left[16];
    memcpy(left, &all, sizeof left);
    return by_slices(by_slices(0, left, sizeof left), bytes, size);
}

const bool kHasProducts = __builtin_cpu_supports("pclmul");

#endif

// Product of two polynomials.
uint32_t product(uint32_t a, uint32_t b) {
    uint32_t found = 0;
    for (uint32_t power = uint32_t{1} << 31; power; power >>= 1) {
        if (a & power) found ^= b;
        b = b >> 1 ^ (b & 1 ? kPolynomial : 0);
    }
    return found;
}

}  // namespace

uint32_t crc32(uint32_t crc, const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
#ifdef MMP_X86
    if (size >= 64 && kHasProducts) return ~by_products(~crc, bytes, size);
#endif
    return ~by_slices(~crc, bytes, size);
}

uint32_t joined_crc(uint32_t first, uint32_t second, uint64_t size) {
    uint32_t square = uint32_t{1} << 23;  // x^8
    for (; size; size >>= 1, square = product(square, square))
        if (size & 1) first = product(first, square);
    return first ^ second;
}

}  // namespace mmp
