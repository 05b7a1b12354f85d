#include "cpu/trees/search/index.h"

namespace mmp {

#ifdef MMP_X86
extern const SearchKernel search_avx512vnni, search_avx2;
#endif
extern const SearchKernel search_generic;

const std::vector<SearchKernel>& search_kernels() {
    // Never freed: daemon threads may still read it while the process exits.
    static const auto& kernels = *new std::vector<SearchKernel>{
#ifdef MMP_X86
        search_avx512vnni, search_avx2,
#endif
        search_generic};
    return kernels;
}

}  // namespace mmp
