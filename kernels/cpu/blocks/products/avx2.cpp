// AVX2: 16 products of 16-bit integers per instruction.
#include "cpu/blocks/products/x86.h"

namespace mmp {

extern const ProductKernel products_avx2;
const ProductKernel products_avx2{"avx2", [] { return bool(__builtin_cpu_supports("avx2")); },
                                  multiply<X86<16>, int16_t>, multiply<X86<16>, int32_t>};

}  // namespace mmp
