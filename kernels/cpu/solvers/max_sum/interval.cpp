#include "cpu/solvers/max_sum/interval.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/transpose.h"

namespace mmp {

namespace {

constexpr int64_t kChunk = 1024;                       // values that are summarised at once
constexpr int32_t kNarrow = INT32_MAX / (kChunk / 16);  // magnitudes whose segment sums fit 32 bits
constexpr int64_t kUnfit = -1;

template <class T>
constexpr int kLanes = 64 / sizeof(T);

// Summaries of the segments of a chunk, one segment per lane. Sums start at the segment's first
// value.
template <class T>
struct Segments {
    T total[kLanes<T>];
    T best[kLanes<T>];     // largest sum of an interval
    T largest[kLanes<T>];  // largest sum of a non-empty prefix
    T least[kLanes<T>];    // smallest sum of a prefix other than the whole segment
};

template <class T>
MMP_INLINE void summarise_chunk(const T* chunk, Segments<T>& segments) {
    constexpr int64_t kLength = kChunk / kLanes<T>;
    constexpr int kSide = kSquareSide<T>;
    using Lanes = typename Vector<T, kLanes<T>>::Type;
    alignas(64) T columns[kChunk];
    for (int lane = 0; lane < kLanes<T>; lane += kSide) {
        const T* lines[kSide];
        for (int i = 0; i < kSide; ++i) lines[i] = chunk + (lane + i) * kLength;
        for (int64_t n = 0; n < kLength; n += kSide)
            transpose_square(lines, n, columns + n * kLanes<T> + lane, kLanes<T>);
    }
    Lanes sum{}, least{};
    Lanes best = Lanes{} + std::numeric_limits<T>::min(), largest = best;
    for (int64_t n = 0; n < kLength; ++n) {
        least = least < sum ? least : sum;
        sum += loaded<Lanes>(columns + n * kLanes<T>);
        const Lanes gain = sum - least;
        best = best > gain ? best : gain;
        largest = largest > sum ? largest : sum;
    }
    store(segments.total, sum);
    store(segments.best, best);
    store(segments.largest, largest);
    store(segments.least, least);
}

MMP_SIMD_LEVELS void summarise(const int32_t* chunk, Segments<int32_t>& segments) {
    summarise_chunk(chunk, segments);
}
MMP_SIMD_LEVELS void summarise(const int64_t* chunk, Segments<int64_t>& segments) {
    summarise_chunk(chunk, segments);
}

MMP_SIMD_LEVELS bool is_narrow(const int32_t* chunk) {
    int32_t bits = 0;
    for (int64_t i = 0; i < kChunk; ++i) bits |= chunk[i] ^ chunk[i] >> 31;
    return bits < kNarrow;
}

// Returns an OR of bits that bounds the values: each magnitude is at most this plus 1.
MMP_SIMD_LEVELS int64_t magnitude_bits(const int64_t* values, int64_t count) {
    int64_t bits = 0;
    for (int64_t i = 0; i < count; ++i) bits |= values[i] < 0 ? ~values[i] : values[i];
    return bits;
}

template <class From, class To>
MMP_INLINE void convert(const From* from, To* to) {
    for (int64_t i = 0; i < kChunk; ++i) to[i] = static_cast<To>(from[i]);
}

template <class From>
MMP_INLINE void scale_values(const From* from, double scale, int64_t* to) {
    for (int64_t i = 0; i < kChunk; ++i)
        to[i] = static_cast<int64_t>(__builtin_rint(static_cast<double>(from[i]) * scale));
}

MMP_SIMD_LEVELS void widen(const int8_t* from, int32_t* to) { convert(from, to); }
MMP_SIMD_LEVELS void widen(const uint8_t* from, int32_t* to) { convert(from, to); }
MMP_SIMD_LEVELS void widen(const int16_t* from, int32_t* to) { convert(from, to); }
MMP_SIMD_LEVELS void widen(const uint16_t* from, int32_t* to) { convert(from, to); }
MMP_SIMD_LEVELS void widen(const int32_t* from, int64_t* to) { convert(from, to); }
MMP_SIMD_LEVELS void widen(const uint32_t* from, int64_t* to) { convert(from, to); }
MMP_SIMD_LEVELS void narrow(const int64_t* from, int32_t* to) { convert(from, to); }
MMP_SIMD_LEVELS void scaled(const float* from, double scale, int64_t* to) {
    scale_values(from, scale, to);
}
MMP_SIMD_LEVELS void scaled(const double* from, double scale, int64_t* to) {
    scale_values(from, scale, to);
}

// The values of a sequence, converted to integers.
template <class Value>
struct Sequence {
    const Value* values;
    int64_t count;
    double scale;

    int64_t operator[](int64_t i) const {
        if constexpr (std::is_floating_point_v<Value>)
            return static_cast<int64_t>(__builtin_rint(static_cast<double>(values[i]) * scale));
        else
            return static_cast<int64_t>(values[i]);
    }
};

// Upper bound of the sum of magnitudes.
class Bound {
public:
    // Adds `count` values; returns whether the sum of all magnitudes is certainly below 2^63.
    bool add(int64_t bits, int64_t count) {
        constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
        if (bits >= kMost / kChunk - 1) return false;
        const int64_t more = (bits + 1) * count;
        if (more > kMost - sum_) return false;
        sum_ += more;
        return true;
    }

private:
    int64_t sum_ = 0;
};

// Search over chunks that tracks the running sum. It remembers only the chunks in which the best
// interval starts and stops; the exact places are found at the end.
class Search {
public:
    template <class T>
    void take(const Segments<T>& segments, int64_t begin) {
        const int64_t sum_before = sum_, least_before = least_, least_chunk = least_chunk_;
        const int64_t least_sum = least_sum_;
        bool is_better = false;
        for (int lane = 0; lane < kLanes<T>; ++lane) {
            const int64_t largest = sum_ + segments.largest[lane];
            if (largest > most_) {
                most_ = largest;
                most_chunk_ = begin;
                most_sum_ = sum_before;
            }
            const int64_t through = largest - least_;
            const int64_t found = std::max<int64_t>(through, segments.best[lane]);
            is_better |= found > best_;
            best_ = std::max(best_, found);
            if (sum_ + segments.least[lane] < least_) {
                least_ = sum_ + segments.least[lane];
                least_chunk_ = begin;
                least_sum_ = sum_before;
            }
            sum_ += segments.total[lane];
        }
        if (is_better) last_ = {begin, sum_before, least_before, least_chunk, least_sum};
    }

    // Processes the values after the last whole chunk and returns the best interval.
    template <class Value>
    Interval finish(const Sequence<Value>& values, int64_t rest) const {
        const State now{rest, sum_, least_, least_chunk_, least_sum_};
        const Interval found = scan(values, now, best_, false);
        if (found.stop) return with_start(values, found, now);
        return with_start(values, scan(values, last_, best_, true), last_);
    }

    // finish(), and the best prefix and suffix of the sequence.
    template <class Value>
    Summary summary(const Sequence<Value>& values, int64_t rest) const {
        int64_t sum = sum_, least = least_, most = most_, start = -1, stop = 0;
        for (int64_t i = rest; i < values.count; ++i) {
            if (sum < least) {
                least = sum;
                start = i;
            }
            sum += values[i];
            if (sum > most) {
                most = sum;
                stop = i + 1;
            }
        }
        if (start < 0) start = place_of(values, least_, least_chunk_, least_sum_);
        if (!stop) stop = place_of(values, most_, most_chunk_, most_sum_, 1);
        return {sum, {most, 0, stop}, {sum - least, start, values.count}, finish(values, rest)};
    }

private:
    // State of the search before a chunk.
    struct State {
        int64_t begin, sum, least, least_chunk, least_sum;
    };

    // Scans a chunk for the first interval with the largest sum, above `limit` or equal to it. A
    // start of -1 lies before the chunk; a stop of 0 means no interval.
    template <class Value>
    static Interval scan(const Sequence<Value>& values, const State& state, int64_t limit,
                         bool equal) {
        int64_t sum = state.sum, least = state.least, start = -1;
        Interval found{limit, 0, 0};
        const int64_t end = std::min(values.count, state.begin + kChunk);
        for (int64_t i = state.begin; i < end; ++i) {
            if (sum < least) {
                least = sum;
                start = i;
            }
            sum += values[i];
            const int64_t gain = sum - least;
            if (gain > found.sum || (equal && !found.stop && gain == found.sum))
                found = {gain, start, i + 1};
        }
        return found;
    }

    template <class Value>
    static Interval with_start(const Sequence<Value>& values, Interval found, const State& state) {
        if (found.start < 0)
            found.start = place_of(values, state.least, state.least_chunk, state.least_sum);
        return found;
    }

    // Returns the first place, at least `after` values after the beginning of a chunk, where the
    // running sum equals `wanted`. `sum` is the running sum before the chunk.
    template <class Value>
    static int64_t place_of(const Sequence<Value>& values, int64_t wanted, int64_t chunk,
                            int64_t sum, int64_t after = 0) {
        int64_t place = chunk;
        for (; place < chunk + after; ++place) sum += values[place];
        for (; sum != wanted; ++place) sum += values[place];
        return place;
    }

    int64_t sum_ = 0, best_ = std::numeric_limits<int64_t>::min();
    // Smallest running sum before a start; the chunk of the first start that has it, and the
    // running sum before this chunk.
    int64_t least_ = 0, least_chunk_ = 0, least_sum_ = 0;
    // Largest running sum before a stop; its chunk and the running sum before the chunk.
    int64_t most_ = std::numeric_limits<int64_t>::min(), most_chunk_ = 0, most_sum_ = 0;
    State last_{0, 0, 0, 0, 0};
};

// Processes all whole chunks and returns the place after them. With `bound` (for int64), it stops
// before values whose sum may overflow and returns kUnfit.
template <class Value>
int64_t take_chunks(const Sequence<Value>& values, Search& search, Bound* bound = nullptr) {
    alignas(64) int32_t narrow_chunk[kChunk];
    alignas(64) int64_t wide_chunk[kChunk];
    const auto take = [&]<class T>(const T* chunk, int64_t begin) {
        Segments<T> segments;
        summarise(chunk, segments);
        search.take(segments, begin);
    };
    int64_t begin = 0;
    for (; begin + kChunk <= values.count; begin += kChunk) {
        const Value* chunk = values.values + begin;
        if constexpr (sizeof(Value) < 4) {
            widen(chunk, narrow_chunk);
            take(narrow_chunk, begin);
        } else if constexpr (std::is_same_v<Value, int32_t>) {
            if (is_narrow(chunk)) {
                take(chunk, begin);
            } else {
                widen(chunk, wide_chunk);
                take(wide_chunk, begin);
            }
        } else if constexpr (std::is_same_v<Value, int64_t>) {
            const int64_t bits = magnitude_bits(chunk, kChunk);
            if (bound && !bound->add(bits, kChunk)) return kUnfit;
            if (bits < kNarrow) {
                narrow(chunk, narrow_chunk);
                take(narrow_chunk, begin);
            } else {
                take(chunk, begin);
            }
        } else {
            if constexpr (std::is_floating_point_v<Value>)
                scaled(chunk, values.scale, wide_chunk);
            else
                widen(chunk, wide_chunk);
            take(wide_chunk, begin);
        }
    }
    if constexpr (std::is_same_v<Value, int64_t>) {
        const int64_t rest = values.count - begin;
        if (bound && !bound->add(magnitude_bits(values.values + begin, rest), rest)) return kUnfit;
    }
    return begin;
}

template <class Bits, class Value>
MMP_INLINE Bits largest_bits(const Value* values, int64_t count) {
    Bits most = 0;
    for (int64_t i = 0; i < count; ++i) {
        Bits bits;
        memcpy(&bits, values + i, sizeof bits);
        most = std::max<Bits>(most, bits & std::numeric_limits<Bits>::max());
    }
    return most;
}

MMP_SIMD_LEVELS int32_t most_bits(const float* values, int64_t count) {
    return largest_bits<int32_t>(values, count);
}
MMP_SIMD_LEVELS int64_t most_bits(const double* values, int64_t count) {
    return largest_bits<int64_t>(values, count);
}

}  // namespace

template <class Value>
Interval largest_interval(const Value* values, int64_t count, double scale) {
    const Sequence<Value> sequence{values, count, scale};
    Search search;
    const int64_t rest = take_chunks(sequence, search);
    return search.finish(sequence, rest);
}

bool largest_interval(const int64_t* values, int64_t count, Interval& found) {
    const Sequence<int64_t> sequence{values, count, 1};
    Search search;
    Bound bound;
    const int64_t rest = take_chunks(sequence, search, &bound);
    if (rest == kUnfit) return false;
    found = search.finish(sequence, rest);
    return true;
}

template <class Value>
Summary interval_summary(const Value* values, int64_t count, double scale) {
    const Sequence<Value> sequence{values, count, scale};
    Search search;
    const int64_t rest = take_chunks(sequence, search);
    return search.summary(sequence, rest);
}

template <class Value>
double largest_magnitude(const Value* values, int64_t count) {
    const auto bits = most_bits(values, count);
    Value value;
    memcpy(&value, &bits, sizeof value);
    return value == value ? static_cast<double>(value) : std::numeric_limits<double>::infinity();
}

#define MMP_INSTANTIATE(T)                                        \
    template Interval largest_interval(const T*, int64_t, double); \
    template Summary interval_summary(const T*, int64_t, double);
MMP_EACH_VALUE(MMP_INSTANTIATE)
template double largest_magnitude(const float*, int64_t);
template double largest_magnitude(const double*, int64_t);

}  // namespace mmp
