// What CUDA C++ has built in: indices, barriers, operations of warps, atomic operations, arithmetic.
#pragma once

#define threadIdx (emulated::fiber->thread)
#define blockIdx (emulated::block->index)
#define blockDim (emulated::block->launch->block)
#define gridDim (emulated::block->launch->grid)

// What these operations have as their last parameter.
#define EMULATED_HERE emulated::Location where = emulated::Location::current()

inline void __syncthreads(EMULATED_HERE) { emulated::barrier("__syncthreads", 0, where); }
inline int __syncthreads_count(int value, EMULATED_HERE) {
    emulated::barrier("__syncthreads_count", value != 0, where);
    return int(emulated::block->last_sum);
}
inline int __syncthreads_or(int value, EMULATED_HERE) {
    return __syncthreads_count(value, where) > 0;
}
inline void __syncwarp(uint32_t mask = ~0u, EMULATED_HERE) {
    emulated::meet("__syncwarp", mask, 0, where);
}

template <class T>
T __shfl_sync(uint32_t mask, T value, int from, int width = 32, EMULATED_HERE) {
    const int lane = emulated::fiber->lane, start = lane & -width;
    return emulated::shuffle("__shfl_sync", mask, value, start + (from & (width - 1)), true, where);
}
template <class T>
T __shfl_up_sync(uint32_t mask, T value, int step, int width = 32, EMULATED_HERE) {
    const int lane = emulated::fiber->lane, from = lane - step;
    return emulated::shuffle("__shfl_up_sync", mask, value, from, from >= (lane & -width), where);
}
template <class T>
T __shfl_down_sync(uint32_t mask, T value, int step, int width = 32, EMULATED_HERE) {
    const int lane = emulated::fiber->lane, from = lane + step;
    const bool inside = from < (lane & -width) + width;
    return emulated::shuffle("__shfl_down_sync", mask, value, from, inside, where);
}
template <class T>
T __shfl_xor_sync(uint32_t mask, T value, int bits, int width = 32, EMULATED_HERE) {
    const int lane = emulated::fiber->lane, from = lane ^ bits;
    const bool inside = from < (lane & -width) + width;
    return emulated::shuffle("__shfl_xor_sync", mask, value, from, inside, where);
}
inline uint32_t __ballot_sync(uint32_t mask, int value, EMULATED_HERE) {
    const uint32_t own = uint32_t(value != 0) << emulated::fiber->lane;
    return emulated::reduce("__ballot_sync", mask, own, [](auto a, auto b) { return a | b; }, where);
}
inline int __any_sync(uint32_t mask, int value, EMULATED_HERE) {
    return __ballot_sync(mask, value, where) != 0;
}
inline int __all_sync(uint32_t mask, int value, EMULATED_HERE) {
    return __ballot_sync(mask, !value, where) == 0;
}
template <class T>
uint32_t __match_any_sync(uint32_t mask, T value, EMULATED_HERE) {
    const uint64_t own = emulated::packed(value);
    const uint64_t* values = emulated::meet("__match_any_sync", mask, own, where);
    uint32_t equal = 0;
    for (int lane = 0; lane < 32; ++lane)
        if (emulated::fiber->present >> lane & 1 && values[lane] == own) equal |= 1u << lane;
    return equal;
}

#define EMULATED_REDUCE(NAME, JOINED)                                                      \
    template <class T>                                                                     \
    T NAME(uint32_t mask, T value, EMULATED_HERE) {                                        \
        return emulated::reduce(#NAME, mask, value, [](T a, T b) { return T(JOINED); }, where); \
    }
EMULATED_REDUCE(__reduce_add_sync, a + b)
EMULATED_REDUCE(__reduce_min_sync, a < b ? a : b)
EMULATED_REDUCE(__reduce_max_sync, a < b ? b : a)
EMULATED_REDUCE(__reduce_xor_sync, a ^ b)

// Atomic operations return the value before.
#define EMULATED_ATOMIC(NAME, RESULT)                                                        \
    template <class T>                                                                       \
    T NAME(T* place, std::type_identity_t<T> value) {                                        \
        T before = __atomic_load_n(place, __ATOMIC_RELAXED);                                 \
        while (!__atomic_compare_exchange_n(place, &before, T(RESULT), false,                \
                                            __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {           \
        }                                                                                    \
        return before;                                                                       \
    }
EMULATED_ATOMIC(atomicAdd, before + value)
EMULATED_ATOMIC(atomicSub, before - value)
EMULATED_ATOMIC(atomicMin, before < value ? before : value)
EMULATED_ATOMIC(atomicMax, before < value ? value : before)
EMULATED_ATOMIC(atomicXor, before ^ value)
EMULATED_ATOMIC(atomicExch, value)
template <class T>
T atomicCAS(T* place, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    __atomic_compare_exchange_n(place, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}

inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { emulated::pause(); }
inline long long clock64() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

template <class T>
T __ldg(const T* place) { return *place; }
template <class T>
T __ldcg(const T* place) { return *place; }
inline int __mulhi(int a, int b) { return int(int64_t{a} * b >> 32); }
template <class T>
void __stcg(T* place, T value) { *place = value; }

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
    const std::common_type_t<A, B> first = a, second = b;
    return second < first ? second : first;
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
    const std::common_type_t<A, B> first = a, second = b;
    return first < second ? second : first;
}
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline int __popc(uint32_t x) { return __builtin_popcount(x); }
inline int __popcll(uint64_t x) { return __builtin_popcountll(x); }
inline int __ffs(uint32_t x) { return __builtin_ffs(int(x)); }
inline int __ffsll(uint64_t x) { return __builtin_ffsll(int64_t(x)); }
inline int __clz(uint32_t x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(uint64_t x) { return x ? __builtin_clzll(x) : 64; }
inline uint32_t __umulhi(uint32_t x, uint32_t y) { return uint32_t(uint64_t{x} * y >> 32); }
inline int __viaddmax_s32(int x, int y, int least) {
    return max(int(uint32_t(x) + uint32_t(y)), least);
}
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
    return uint32_t((uint64_t{high} << 32 | low) >> (shift & 31));
}
inline uint32_t __byte_perm(uint32_t x, uint32_t y, uint32_t which) {
    const uint64_t bytes = uint64_t{y} << 32 | x;
    uint32_t out = 0;
    for (int n = 0; n < 4; ++n) {
        const uint32_t digit = which >> 4 * n & 15;
        const uint8_t byte = uint8_t(bytes >> 8 * (digit & 7));
        out |= uint32_t(digit & 8 ? uint8_t(int8_t(byte) >> 7) : byte) << 8 * n;
    }
    return out;
}
inline uint32_t __vabsdiffu4(uint32_t x, uint32_t y) {
    uint32_t out = 0;
    for (int n = 0; n < 32; n += 8)
        out |= uint32_t(abs(int(x >> n & 255) - int(y >> n & 255))) << n;
    return out;
}
inline uint32_t __dp4a(uint32_t x, uint32_t y, uint32_t sum) {
    for (int n = 0; n < 32; n += 8) sum += (x >> n & 255) * (y >> n & 255);
    return sum;
}
inline int __dp4a(int x, int y, int sum) {
    for (int n = 0; n < 32; n += 8) sum += int8_t(x >> n) * int8_t(y >> n);
    return sum;
}

namespace emulated {

// mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32, called by all lanes.
inline void multiply(uint32_t a0, uint32_t a1, uint32_t b, int32_t (&sum)[4]) {
    uint64_t rows[32], columns[32];
    const Location here = Location::current();
    memcpy(rows, meet("mma.sync", ~0u, uint64_t{a1} << 32 | a0, here), sizeof(rows));
    memcpy(columns, meet("mma.sync", ~0u, b, here), sizeof(columns));
    const int row = fiber->lane / 4 * 4, column = fiber->lane % 4 * 8;
    for (int n = 0; n < 4; ++n)
        for (int i = 0; i < 4; ++i) {
            const uint32_t x = uint32_t(rows[row + n] >> i / 2 * 32);
            sum[i] = __dp4a(x, uint32_t(columns[column + i % 2 * 4 + n]), uint32_t(sum[i]));
        }
}

}  // namespace emulated
