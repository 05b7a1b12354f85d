#include "cpu/trees/search/index.h"

namespace mmp {

#ifdef MMP_X86
extern const SearchKernel search_avx512vnni, search_avx2;
#endif
extern const SearchKernel search_generic;

const std::vector<SearchKernel>& search_kernels() {
    static const std::vector<SearchKernel> kernels{
#ifdef MMP_X86
        search_avx512vnni, search_avx2,
#endif
        search_generic};
    return kernels;
}

}  // namespace mmp
