#include "cpu/blocks/products/products.h"

namespace mmp {

#ifdef MMP_X86
extern const ProductKernel products_avx512, products_avx2;
#endif
extern const ProductKernel products_generic;

const std::vector<const ProductKernel*>& product_kernels() {
    static const std::vector<const ProductKernel*> kernels{
#ifdef MMP_X86
        &products_avx512, &products_avx2,
#endif
        &products_generic};
    return kernels;
}

const ProductKernel& products() {
    static const ProductKernel& best = *[] {
        for (const ProductKernel* kernel : product_kernels())
            if (kernel->supported()) return kernel;
        return &products_generic;
    }();
    return best;
}

}  // namespace mmp
