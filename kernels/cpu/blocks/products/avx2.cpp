// AVX2: 16 products of 16-bit integers per instruction.
#include "cpu/blocks/products/x86.h"

namespace {

struct Avx2 {
    static constexpr int kMostColumns = 16;
    template <int Rows, int Columns>
    using Tile = typename TileOf<Rows, Columns>::Type;
};

}  // namespace

namespace mmp {

extern const ProductKernel products_avx2;
const ProductKernel products_avx2{"avx2", [] { return bool(__builtin_cpu_supports("avx2")); },
                                  multiply<Avx2, int16_t>, multiply<Avx2, int32_t>};

}  // namespace mmp
