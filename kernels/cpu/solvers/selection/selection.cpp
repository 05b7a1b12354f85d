#include "cpu/solvers/selection/selection.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "cpu/solvers/selection/lines.h"
#include "cpu/solvers/selection/split.h"
#include "cpu/solvers/selection/words.h"

namespace mmp {

namespace {

constexpr int64_t kSmall = 2048;        // up to this many values: nth_element
constexpr int64_t kSmallWide = 1 << 14;  // with wide vectors: up to this many, single pivots
constexpr int64_t kShare = 1 << 16;     // least values per task, if there are several tasks
constexpr int64_t kBlock = 4096;        // values per block that is split at all brackets in turn
constexpr int64_t kMaxBrackets = 16;
constexpr int64_t kFewBytes = 128;      // up to this many 8-bit values: no table of counts
constexpr int64_t kFewWords = 128;      // up to this many 16-bit values: nth_element
constexpr int64_t kWordWork = 1 << 21;  // 16-bit values times ranks above this: table of counts
constexpr size_t kFewRanks = 4;         // up to this many ranks: one by one
constexpr int64_t kFewLines = 8;        // fewer lines are searched one by one

// Calls work(key, kind) with a key of type K and with the kind as a compile-time constant.
template <class K, class Work>
void with_kind(Kind kind, const Work& work) {
    using std::integral_constant;
    if (kind == Kind::kUnsigned) return work(K{}, integral_constant<Kind, Kind::kUnsigned>{});
    if (kind == Kind::kSigned) return work(K{}, integral_constant<Kind, Kind::kSigned>{});
    if constexpr (sizeof(K) > 1) work(K{}, integral_constant<Kind, Kind::kFloat>{});
}

template <class Work>
void with_type(const Values& values, const Work& work) {
    switch (values.bytes) {
        case 1: return with_kind<uint8_t>(values.kind, work);
        case 2: return with_kind<uint16_t>(values.kind, work);
        case 4: return with_kind<uint32_t>(values.kind, work);
        default: return with_kind<uint64_t>(values.kind, work);
    }
}

// Calls work(first, last) for contiguous shares of the values, in parallel.
template <class Work>
void share(int64_t count, ThreadTeam& team, const Work& work) {
    const int tasks = static_cast<int>(std::clamp<int64_t>(count / kShare, 1, 256));
    team.run(tasks, [&](uint32_t task) {
        work(count * task / tasks, count * (task + 1) / tasks);
    });
}

// Multi-rank quickselect: writes the keys of ascending ranks to `out` and reorders the keys `first`
// to `last`. The key at `first` has rank `before`. The middle rank splits both keys and ranks.
template <class Keys>
void select_moving(Keys first, Keys last, int64_t before, const int64_t* ranks, int64_t each,
                   uint64_t* out) {
    if (each == 0) return;
    const int64_t rank = ranks[each / 2];
    const Keys wanted = first + (rank - before);
    std::nth_element(first, wanted, last);
    const int64_t low = std::lower_bound(ranks, ranks + each, rank) - ranks;
    const int64_t high = std::upper_bound(ranks, ranks + each, rank) - ranks;
    std::fill(out + low, out + high, *wanted);
    select_moving(first, wanted, before, ranks, low, out);
    select_moving(wanted + 1, last, rank + 1, ranks + high, each - high, out + high);
}

template <class K, Kind kind>
std::vector<K> keys_of(const K* values, int64_t count) {
    std::vector<K> keys(count);
    for (int64_t i = 0; i < count; ++i) keys[i] = key_of<K, kind>(values[i]);
    return keys;
}

// Writes the keys of ascending ranks to `out`, and may reorder `keys`.
template <class K>
void select_keys(std::vector<K>& keys, const std::vector<int64_t>& ranks, uint64_t* out);

// Returns the number of occurrences of each key, for 8-bit and 16-bit types. Several tables, so
// that increments for equal neighbours do not depend on each other.
template <class K, Kind kind>
std::vector<int64_t> count_all(const K* values, int64_t count, ThreadTeam& team) {
    constexpr int kTables = sizeof(K) == 1 ? 4 : 2;
    constexpr int64_t kKeys = int64_t{1} << (8 * sizeof(K));
    constexpr int64_t kMost = int64_t{1} << 31;  // values per task: counts fit 32 bits
    std::vector<int64_t> counts(kKeys);
    std::mutex mutex;
    // A task has at least 8 times as many values as table entries to clear and add.
    const int64_t each = std::clamp<int64_t>((count + 15) / 16, std::max(kShare, 8 * kKeys), kMost);
    team.run(static_cast<uint32_t>((count + each - 1) / each), [&](uint32_t task) {
        std::vector<uint32_t> tables(kTables * kKeys);
        const K* part = values + task * each;
        const int64_t size = std::min(each, count - task * each);
        int64_t i = 0;
        for (; i + kTables <= size; i += kTables)
            for (int k = 0; k < kTables; ++k) ++tables[k * kKeys + part[i + k]];
        for (; i < size; ++i) ++tables[part[i]];
        const std::lock_guard lock(mutex);
        for (int64_t value = 0; value < kKeys; ++value)
            for (int k = 0; k < kTables; ++k)
                counts[key_of<K, kind>(static_cast<K>(value))] += tables[k * kKeys + value];
    });
    return counts;
}

template <class K, Kind kind>
int64_t select_by_counts(const K* values, int64_t count, const std::vector<int64_t>& ranks,
                         uint64_t* out, ThreadTeam& team) {
    const std::vector<int64_t> counts = count_all<K, kind>(values, count, team);
    int64_t before = 0;
    size_t key = 0;
    for (size_t i = 0; i < ranks.size(); ++i) {
        while (before + counts[key] <= ranks[i]) before += counts[key++];
        out[i] = key;
    }
    return kind == Kind::kFloat ? counts.back() : 0;
}

// Returns brackets of keys that contain the wanted ranks, unless the sample is not representative.
// Source: R. Floyd and R. Rivest, "Expected time bounds for selection", 1975.
template <class K, Kind kind>
std::vector<Bracket<K>> brackets_of(const K* values, int64_t count, const std::vector<int64_t>& ranks) {
    const int64_t size = static_cast<int64_t>(std::pow(static_cast<double>(count), 2.0 / 3));
    const int64_t step = count / size;
    std::vector<K> sample(size);
    uint64_t random = 0x9E3779B97F4A7C15ull;
    for (int64_t i = 0; i < size; ++i) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        sample[i] = key_of<K, kind>(values[i * step + static_cast<int64_t>((random >> 33) % step)]);
    }
    // Four standard deviations of a rank in the sample.
    const int64_t margin = 2 * static_cast<int64_t>(std::sqrt(static_cast<double>(size))) + 1;
    std::vector<std::pair<int64_t, int64_t>> places;
    for (const int64_t rank : ranks) {
        const int64_t place = static_cast<int64_t>(static_cast<double>(rank) / count * size);
        if (!places.empty() && place - margin <= places.back().second)
            places.back().second = place + margin;
        else
            places.push_back({place - margin, place + margin});
    }
    std::vector<int64_t> ends;
    for (const auto& [low, high] : places)
        for (const int64_t end : {low, high})
            if (end >= 0 && end < size && (ends.empty() || end > ends.back())) ends.push_back(end);
    std::vector<uint64_t> bounds(ends.size());
    if (!ends.empty()) select_keys(sample, ends, bounds.data());
    const auto bound = [&](int64_t end) {
        if (end < 0) return K{0};
        if (end >= size) return kNan<K>;
        return static_cast<K>(bounds[std::lower_bound(ends.begin(), ends.end(), end) - ends.begin()]);
    };
    std::vector<Bracket<K>> brackets;
    for (const auto& [low, high] : places) {
        const K first = bound(low), last = bound(high);
        if (!brackets.empty() && first <= brackets.back().high)
            brackets.back().high = last;
        else
            brackets.push_back({first, last});
    }
    return brackets;
}

// Finds the keys of the ranks inside the brackets; returns false if a bracket misses a rank.
template <class K>
bool search_brackets(std::vector<Bracket<K>>& brackets, const std::vector<int64_t>& ranks,
                     uint64_t* out) {
    size_t i = 0;
    for (Bracket<K>& bracket : brackets) {
        std::vector<int64_t> inner;
        const size_t first = i;
        const int64_t inside = bracket.found;
        for (; i < ranks.size(); ++i) {
            const int64_t rank = ranks[i] - bracket.below;
            if (rank < 0) return false;
            if (rank < bracket.at_low)
                out[i] = bracket.low;
            else if (rank - bracket.at_low < inside)
                inner.push_back(rank - bracket.at_low);
            else if (rank - bracket.at_low - inside < bracket.at_high)
                out[i] = bracket.high;
            else
                break;
        }
        if (inner.empty()) continue;
        bracket.inside.resize(inside);
        std::vector<uint64_t> found(inner.size());
        select_keys(bracket.inside, inner, found.data());
        size_t next = 0;
        for (size_t k = first; k < i && next < inner.size(); ++k)
            if (ranks[k] - bracket.below - bracket.at_low == inner[next]) out[k] = found[next++];
    }
    return i == ranks.size();
}

// Whether ranks are searched one by one, with wide vectors.
template <class K>
bool one_by_one(int64_t count, const std::vector<int64_t>& ranks) {
    constexpr int64_t kLeast = 64;
    return sizeof(K) >= 4 && count >= kLeast && ranks.size() <= kFewRanks && is_wide();
}

int64_t small() {
    return is_wide() ? kSmallWide : kSmall;
}

// Searches ranks one by one; returns the number of NaN.
template <class K, Kind kind>
int64_t select_each(const K* values, int64_t count, const std::vector<int64_t>& ranks,
                    uint64_t* out) {
    int64_t nans = 0;
    if constexpr (sizeof(K) >= 4) {
        const std::unique_ptr<K[]> room(new K[count + kVector<K>]);
        for (size_t i = 0; i < ranks.size(); ++i)
            out[i] = i > 0 && ranks[i] == ranks[i - 1]
                         ? out[i - 1]
                         : select_one<K, kind>(values, count, ranks[i], room.get(), nans);
    }
    return nans;
}

template <class K, Kind kind>
int64_t select_moving_all(const K* values, int64_t count, const std::vector<int64_t>& ranks,
                          uint64_t* out) {
    if (one_by_one<K>(count, ranks)) return select_each<K, kind>(values, count, ranks, out);
    std::vector<K> keys = keys_of<K, kind>(values, count);
    select_moving(keys.begin(), keys.end(), 0, ranks.data(), ranks.size(), out);
    return kind == Kind::kFloat ? std::count(keys.begin(), keys.end(), kNan<K>) : 0;
}

// Selects by brackets. Reads all values once, unless a bracket misses a rank.
template <class K, Kind kind>
int64_t select_by_brackets(const K* values, int64_t count, const std::vector<int64_t>& ranks,
                           uint64_t* out, ThreadTeam& team) {
    std::vector<Bracket<K>> brackets = brackets_of<K, kind>(values, count, ranks);
    if (static_cast<int64_t>(brackets.size()) > kMaxBrackets)
        return select_moving_all<K, kind>(values, count, ranks, out);
    std::mutex mutex;
    int64_t nans = 0;
    share(count, team, [&](int64_t first, int64_t last) {
        std::vector<Bracket<K>> mine;
        for (const Bracket<K>& bracket : brackets) mine.push_back({bracket.low, bracket.high});
        int64_t own_nans = 0;
        for (int64_t begin = first; begin < last; begin += kBlock) {
            const int64_t size = std::min(kBlock, last - begin);
            for (Bracket<K>& bracket : mine) {
                bracket.make_room(size);
                const int64_t seen = split<K, kind>(values + begin, size, bracket);
                if (&bracket == &mine.front()) own_nans += seen;
            }
        }
        const std::lock_guard lock(mutex);
        nans += own_nans;
        for (size_t b = 0; b < mine.size(); ++b) brackets[b].add(mine[b]);
    });
    // The recursion terminates only if each bracket holds at most half of the keys.
    const bool shrunk = std::all_of(brackets.begin(), brackets.end(), [&](const Bracket<K>& bracket) {
        return 2 * bracket.found <= count;
    });
    if (shrunk && search_brackets(brackets, ranks, out)) return nans;
    return select_moving_all<K, kind>(values, count, ranks, out);
}

template <class K>
void select_keys(std::vector<K>& keys, const std::vector<int64_t>& ranks, uint64_t* out) {
    if constexpr (sizeof(K) >= 4) {
        ThreadTeam alone(1);
        const int64_t count = static_cast<int64_t>(keys.size());
        if (count > small()) {
            select_by_brackets<K, Kind::kUnsigned>(keys.data(), count, ranks, out, alone);
            return;
        }
    }
    if (one_by_one<K>(static_cast<int64_t>(keys.size()), ranks))
        select_each<K, Kind::kUnsigned>(keys.data(), keys.size(), ranks, out);
    else
        select_moving(keys.begin(), keys.end(), 0, ranks.data(), ranks.size(), out);
}

template <class K, Kind kind>
int64_t select_of(const K* values, int64_t count, const std::vector<int64_t>& ranks, uint64_t* out,
                  ThreadTeam& team) {
    // A table of counts is faster if it is smaller than the array of values.
    if constexpr (sizeof(K) == 2) {
        const int64_t work = count * static_cast<int64_t>(ranks.size());
        if (count > kFewWords && work <= kWordWork)
            return select_words(values, count, kind, ranks, out);
    }
    if constexpr (sizeof(K) <= 2) {
        if (count > (sizeof(K) == 1 ? kFewBytes : int64_t{1} << 18))
            return select_by_counts<K, kind>(values, count, ranks, out, team);
    } else if (count > small()) {
        return select_by_brackets<K, kind>(values, count, ranks, out, team);
    }
    return select_moving_all<K, kind>(values, count, ranks, out);
}

// Selects ranks in any order.
template <class K, Kind kind>
int64_t select_any_order(const K* values, int64_t count, const int64_t* ranks, int64_t each,
                         uint64_t* out, ThreadTeam& team) {
    std::vector<int64_t> wanted(ranks, ranks + each);
    if (std::is_sorted(wanted.begin(), wanted.end()))
        return select_of<K, kind>(values, count, wanted, out, team);
    std::sort(wanted.begin(), wanted.end());
    std::vector<uint64_t> found(each);
    const int64_t nans = select_of<K, kind>(values, count, wanted, found.data(), team);
    for (int64_t k = 0; k < each; ++k)
        out[k] = found[std::lower_bound(wanted.begin(), wanted.end(), ranks[k]) - wanted.begin()];
    return nans;
}

// Selects from `some` adjacent lines; `line` is the number of the first one.
template <class K, Kind kind>
void select_long_lines(const Lines& lines, const Ranks& ranks, int64_t line, int64_t some, K* keys,
                       int64_t* nans) {
    ThreadTeam alone(1);
    const int64_t length = lines.length, inner = lines.inner;
    const K* data = static_cast<const K*>(lines.data);
    data += line / inner * length * inner + line % inner;
    std::vector<K> copies;
    if (inner > 1) {
        copies.resize(some * length);
        for (int64_t n = 0; n < length; ++n)
            for (int64_t i = 0; i < some; ++i) copies[i * length + n] = data[n * inner + i];
        data = copies.data();
    }
    std::vector<uint64_t> found(ranks.each);
    for (int64_t i = 0; i < some; ++i) {
        const int64_t* wanted = ranks.data + (ranks.rows == 1 ? 0 : line + i) * ranks.each;
        const int64_t seen = select_any_order<K, kind>(data + i * length, length, wanted,
                                                       ranks.each, found.data(), alone);
        if (kind == Kind::kFloat) nans[line + i] = seen;
        for (int64_t k = 0; k < ranks.each; ++k)
            keys[(line + i) * ranks.each + k] = static_cast<K>(found[k]);
    }
}

// Returns the longest line for which sorting networks are faster than other methods.
int64_t longest_line([[maybe_unused]] int bytes) {
#ifdef MMP_X86
    // Without AVX2, the compiler has no vector comparison of 64-bit integers.
    static const bool compares_64 = __builtin_cpu_supports("avx2");
    if (bytes == 8 && !compares_64) return 16;
#endif
    return kLongestLine;
}

}  // namespace

int64_t select(const Values& values, const std::vector<int64_t>& ranks, uint64_t* keys,
               ThreadTeam& team) {
    int64_t nans = 0;
    with_type(values, [&](auto key, auto kind) {
        using K = decltype(key);
        nans = select_any_order<K, decltype(kind)::value>(static_cast<const K*>(values.data),
                                                          values.count, ranks.data(), ranks.size(),
                                                          keys, team);
    });
    return nans;
}

void select_lines(const Lines& lines, const Ranks& ranks, void* keys, int64_t* nans,
                  ThreadTeam& team) {
    constexpr int64_t kTasks = 32768, kTogether = 16;
    const int64_t count = lines.outer * lines.inner;
    if (lines.length <= longest_line(lines.bytes) && count >= kFewLines)
        return select_short_lines(lines, ranks, keys, nans, team);
    // The lines of a task are adjacent in memory.
    const int64_t side = lines.inner == 1 ? 1 : std::min(lines.inner, kTogether);
    const int64_t parts = (lines.inner + side - 1) / side, all = lines.outer * parts;
    const int64_t some = (all + kTasks - 1) / kTasks;
    with_type({lines.data, count, lines.kind, lines.bytes}, [&](auto key, auto kind) {
        using K = decltype(key);
        team.run(static_cast<uint32_t>((all + some - 1) / some), [&](uint32_t task) {
            for (int64_t i = task * some; i < std::min(all, (task + 1) * some); ++i) {
                const int64_t first = i % parts * side;
                select_long_lines<K, decltype(kind)::value>(
                    lines, ranks, i / parts * lines.inner + first,
                    std::min(side, lines.inner - first), static_cast<K*>(keys), nans);
            }
        });
    });
}

void digit_counts(const Values& values, uint64_t prefix, int shift, int bits, int64_t* counts,
                  ThreadTeam& team) {
    std::fill(counts, counts + (int64_t{1} << bits), 0);
    std::mutex mutex;
    with_type(values, [&](auto key, auto kind) {
        using K = decltype(key);
        const K* data = static_cast<const K*>(values.data);
        const uint64_t digit = (uint64_t{1} << bits) - 1, start = prefix >> shift >> bits;
        share(values.count, team, [&](int64_t first, int64_t last) {
            std::vector<int64_t> own(digit + 1);
            for (int64_t i = first; i < last; ++i) {
                const uint64_t from = uint64_t{key_of<K, decltype(kind)::value>(data[i])} >> shift;
                own[from & digit] += from >> bits == start;
            }
            const std::lock_guard lock(mutex);
            for (uint64_t i = 0; i <= digit; ++i) counts[i] += own[i];
        });
    });
}

}  // namespace mmp
