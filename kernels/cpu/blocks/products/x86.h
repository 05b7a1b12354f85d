// Register tiles of x86 processors. Two rows of y are interleaved, so that one instruction
// (vpmaddwd) multiplies pairs and adds the two products. Interleaving works within 128-bit lanes;
// so does packing of the results, which restores the order.
#pragma once

#include <immintrin.h>
#include <string.h>

#include "cpu/blocks/products/tiles.h"

namespace {

struct Vector128 {
    using Type = __m128i;
    static Type load(const int16_t* p) { return _mm_loadu_si128(reinterpret_cast<const Type*>(p)); }
    static Type all(int32_t v) { return _mm_set1_epi32(v); }
    static Type low(Type x, Type y) { return _mm_unpacklo_epi16(x, y); }
    static Type high(Type x, Type y) { return _mm_unpackhi_epi16(x, y); }
    static Type add_products(Type sum, Type x, Type y) {
        return _mm_add_epi32(sum, _mm_madd_epi16(x, y));
    }
    static Type shift_right(Type v, int shift) { return _mm_sra_epi32(v, _mm_cvtsi32_si128(shift)); }
    static Type pack(Type x, Type y) {
        return _mm_max_epi16(_mm_packs_epi32(x, y), _mm_set1_epi16(-kMaxCoefficient));
    }
    static void store(void* p, Type v) { _mm_storeu_si128(static_cast<Type*>(p), v); }
    static void store_ints(int32_t* p, Type low, Type high) {
        store(p, low);
        store(p + 4, high);
    }
};

struct Vector256 {
    using Type = __m256i;
    static Type load(const int16_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const Type*>(p));
    }
    static Type all(int32_t v) { return _mm256_set1_epi32(v); }
    static Type low(Type x, Type y) { return _mm256_unpacklo_epi16(x, y); }
    static Type high(Type x, Type y) { return _mm256_unpackhi_epi16(x, y); }
    static Type add_products(Type sum, Type x, Type y) {
        return _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
    }
    static Type shift_right(Type v, int shift) {
        return _mm256_sra_epi32(v, _mm_cvtsi32_si128(shift));
    }
    static Type pack(Type x, Type y) {
        return _mm256_max_epi16(_mm256_packs_epi32(x, y), _mm256_set1_epi16(-kMaxCoefficient));
    }
    static void store(void* p, Type v) { _mm256_storeu_si256(static_cast<Type*>(p), v); }
    static void store_ints(int32_t* p, Type low, Type high) {
        store(p, _mm256_permute2x128_si256(low, high, 0x20));
        store(p + 8, _mm256_permute2x128_si256(low, high, 0x31));
    }
};

template <class V, int Rows>
class WideTile {
public:
    explicit WideTile(int32_t start) {
        for (auto& row : sums_) row[0] = row[1] = V::all(start);
    }
    void add(const int16_t* x, int x_stride, const int16_t* y, int y_stride) {
        const auto first = V::load(y), second = V::load(y + y_stride);
        const auto low = V::low(first, second), high = V::high(first, second);
#pragma GCC unroll 4
        for (int i = 0; i < Rows; ++i) {
            int32_t pair;
            memcpy(&pair, x + i * x_stride, sizeof pair);
            const auto factors = V::all(pair);
            sums_[i][0] = V::add_products(sums_[i][0], low, factors);
            sums_[i][1] = V::add_products(sums_[i][1], high, factors);
        }
    }
    void store(int shift, int16_t* out, int stride) const {
        for (int i = 0; i < Rows; ++i)
            V::store(out + i * stride, V::pack(V::shift_right(sums_[i][0], shift),
                                               V::shift_right(sums_[i][1], shift)));
    }
    void store(int shift, int32_t* out, int stride) const {
        for (int i = 0; i < Rows; ++i)
            V::store_ints(out + i * stride, V::shift_right(sums_[i][0], shift),
                          V::shift_right(sums_[i][1], shift));
    }

private:
    typename V::Type sums_[Rows][2];
};

// A tile of four columns.
template <int Rows>
class NarrowTile {
public:
    explicit NarrowTile(int32_t start) {
        for (auto& row : sums_) row = _mm_set1_epi32(start);
    }
    void add(const int16_t* x, int x_stride, const int16_t* y, int y_stride) {
        const __m128i pairs =
            _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(y)),
                               _mm_loadl_epi64(reinterpret_cast<const __m128i*>(y + y_stride)));
#pragma GCC unroll 4
        for (int i = 0; i < Rows; ++i) {
            int32_t pair;
            memcpy(&pair, x + i * x_stride, sizeof pair);
            sums_[i] = Vector128::add_products(sums_[i], pairs, _mm_set1_epi32(pair));
        }
    }
    void store(int shift, int16_t* out, int stride) const {
        for (int i = 0; i < Rows; ++i) {
            const __m128i sums = Vector128::shift_right(sums_[i], shift);
            _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i * stride),
                             Vector128::pack(sums, sums));
        }
    }
    void store(int shift, int32_t* out, int stride) const {
        for (int i = 0; i < Rows; ++i)
            Vector128::store(out + i * stride, Vector128::shift_right(sums_[i], shift));
    }

private:
    __m128i sums_[Rows];
};

template <int Rows, int Columns>
struct TileOf;
template <int Rows> struct TileOf<Rows, 4> { using Type = NarrowTile<Rows>; };
template <int Rows> struct TileOf<Rows, 8> { using Type = WideTile<Vector128, Rows>; };
template <int Rows> struct TileOf<Rows, 16> { using Type = WideTile<Vector256, Rows>; };

template <int MostColumns>
struct X86 {
    static constexpr int kMostColumns = MostColumns;
    template <int Rows, int Columns>
    using Tile = typename TileOf<Rows, Columns>::Type;
};

}  // namespace
