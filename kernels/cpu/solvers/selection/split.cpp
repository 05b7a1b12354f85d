#include "cpu/solvers/selection/split.h"

namespace mmp {

template <class K, Kind kind>
int64_t split_plain(const K* values, int64_t count, Bracket<K>& bracket) {
    int64_t below = 0, nans = 0;
    const K width = static_cast<K>(bracket.high - bracket.low);
    for (int64_t i = 0; i < count; ++i) {
        const K key = key_of<K, kind>(values[i]);
        if (kind == Kind::kFloat) nans += is_nan(values[i]);
        below += key < bracket.low;
        if (static_cast<K>(key - bracket.low) > width) continue;
        if (key == bracket.low)
            ++bracket.at_low;
        else if (key == bracket.high)
            ++bracket.at_high;
        else
            bracket.inside[bracket.found++] = key;
    }
    bracket.below += below;
    return nans;
}

bool is_wide() {
#ifdef MMP_X86
    static const bool wide = __builtin_cpu_supports("avx512f");
    return wide;
#else
    return false;
#endif
}

template <class K, Kind kind>
K select_one([[maybe_unused]] const K* values, [[maybe_unused]] int64_t count,
             [[maybe_unused]] int64_t rank, [[maybe_unused]] K* keys,
             [[maybe_unused]] int64_t& nans) {
#ifdef MMP_X86
    return avx512::select_one<K, kind>(values, count, rank, keys, nans);
#else
    __builtin_unreachable();
#endif
}

template <class K, Kind kind>
int64_t split(const K* values, int64_t count, Bracket<K>& bracket) {
#ifdef MMP_X86
    if (is_wide()) return avx512::split<K, kind>(values, count, bracket);
#endif
    return split_plain<K, kind>(values, count, bracket);
}

#define MMP_SPLIT(K, kind)                                                    \
    template K select_one<K, kind>(const K*, int64_t, int64_t, K*, int64_t&); \
    template int64_t split<K, kind>(const K*, int64_t, Bracket<K>&);          \
    template int64_t split_plain<K, kind>(const K*, int64_t, Bracket<K>&);
MMP_SPLIT(uint32_t, Kind::kUnsigned)
MMP_SPLIT(uint32_t, Kind::kSigned)
MMP_SPLIT(uint32_t, Kind::kFloat)
MMP_SPLIT(uint64_t, Kind::kUnsigned)
MMP_SPLIT(uint64_t, Kind::kSigned)
MMP_SPLIT(uint64_t, Kind::kFloat)
#undef MMP_SPLIT

}  // namespace mmp
