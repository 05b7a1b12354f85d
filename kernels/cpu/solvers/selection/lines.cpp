#include "cpu/solvers/selection/lines.h"

#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/transpose.h"

namespace mmp {

namespace {

// A step of the sorting network, with column offsets in lanes.
struct Step {
    enum What : uint32_t {
        kPair,   // compare-exchange of two columns
        kLarger, // kPair, but only column 1 is needed
        kFlip,   // compare-exchange columns 0 and 3, 1 and 2; then 0 and 1, 2 and 3
        kSecond, // kFlip, but only column 1 is needed
        kSort,   // sorts the block of columns at offset 0
        kMerge,  // bitonic merge of 16 columns at offset 0
    };
    What what;
    uint32_t places[4];
};

constexpr int64_t kBlock = 16;

// Sorting network for `length` columns, without the steps that do not affect wanted columns. Blocks
// are sorted in registers, then merged in pairs (bitonic). Two layers of a merge become one step if
// possible. Columns up to a multiple of `block` are padded with the largest number; comparators
// with columns beyond would change nothing. Source: K. Batcher, "Sorting networks and their
// applications", AFIPS 1968.
class Network {
public:
    Network(int64_t length, std::vector<bool> wanted, int64_t lanes)
        : block(length <= 4 ? 4 : length <= 8 ? 8 : kBlock),
          columns((length + block - 1) / block * block) {
        wanted.resize(columns);
        for (int64_t first = 0; first < columns; first += block) add(Step::kSort, {first});
        for (int64_t half = block; half < columns; half *= 2)
            for (int64_t first = 0; first + half < columns; first += 2 * half) merge(first, half);
        std::vector<Step> kept;
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
            const auto touched = columns_of(*step);
            const auto is_wanted = [&](int64_t column) { return wanted[column]; };
            const auto count = std::count_if(touched.begin(), touched.end(), is_wanted);
            if (count == 0) continue;
            if (count == 1 && wanted[touched[1]]) {
                if (step->what == Step::kPair) step->what = Step::kLarger;
                if (step->what == Step::kFlip) step->what = Step::kSecond;
            }
            for (const int64_t column : touched) wanted[column] = true;
            for (uint32_t& place : step->places) place *= static_cast<uint32_t>(lanes);
            kept.push_back(*step);
        }
        steps.assign(kept.rbegin(), kept.rend());
    }

    const int64_t block, columns;
    std::vector<Step> steps;

private:
    // Merges two adjacent sequences of `half` sorted columns.
    void merge(int64_t first, int64_t half) {
        const int64_t last = first + 2 * half - 1, quarter = half / 2;
        for (int64_t i = 0; i < quarter; ++i) {
            const int64_t a = first + i, b = a + quarter, d = last - i, c = d - quarter;
            if (d < columns) {
                add(Step::kFlip, {a, b, c, d});
                continue;
            }
            if (c < columns) add(Step::kPair, {b, c});
            add(Step::kPair, {a, b});
        }
        const int64_t end = std::min(last + 1, columns);
        for (int64_t distance = quarter / 2; distance >= kBlock; distance /= 2)
            for (int64_t i = first; i + distance < end; ++i)
                if (((i - first) & distance) == 0) add(Step::kPair, {i, i + distance});
        for (int64_t i = first; i < end; i += kBlock) add(Step::kMerge, {i});
    }

    void add(Step::What what, const std::vector<int64_t>& places) {
        Step step{what, {}};
        std::copy(places.begin(), places.end(), step.places);
        steps.push_back(step);
    }

    std::vector<int64_t> columns_of(const Step& step) const {
        const int64_t many = step.what == Step::kSort ? block : kBlock;
        if (step.what == Step::kPair) return {step.places[0], step.places[1]};
        if (step.what == Step::kFlip) return {step.places, step.places + 4};
        std::vector<int64_t> all(many);
        for (int64_t i = 0; i < many; ++i) all[i] = step.places[0] + i;
        return all;
    }
};

struct Comparator {
    int low, high;
};

template <int Count>
struct Comparators {
    std::array<Comparator, Count> all{};
};

constexpr int kComparatorsOf4 = 5, kComparatorsOf8 = 19, kComparatorsOf16 = 63;

// Returns Batcher's merge exchange network. Source: D. Knuth, "The Art of Computer Programming",
// volume 3, second edition, algorithm 5.2.2M.
template <int Length, int Count>
constexpr Comparators<Count> merge_exchange() {
    Comparators<Count> found;
    int next = 0;
    for (int p = Length / 2; p > 0; p /= 2)
        for (int q = Length / 2, distance = p, bit = 0;; distance = q - p, q /= 2, bit = p) {
            for (int i = 0; i + distance < Length; ++i)
                if ((i & p) == bit) found.all[next++] = {i, i + distance};
            if (q == p) break;
        }
    return found;
}

// Returns the comparators of a bitonic merge of one block.
constexpr Comparators<32> bitonic_merge() {
    Comparators<32> found;
    int next = 0;
    for (int distance = 8; distance > 0; distance /= 2)
        for (int i = 0; i < 16; ++i)
            if ((i & distance) == 0) found.all[next++] = {i, i + distance};
    return found;
}

template <class T>
constexpr int kLanes = 64 / sizeof(T);

template <class T>
using Column = typename Vector<T, kLanes<T>>::Type;

template <class T>
constexpr T kHighest = std::numeric_limits<T>::max();

template <class T>
constexpr T kInfiniteBits = sizeof(T) == 2   ? static_cast<T>(0x7C00)
                            : sizeof(T) == 4 ? static_cast<T>(0x7F800000)
                                             : static_cast<T>(0x7FF0000000000000);

// Lines `first` to first + count - 1, which one vector holds and one network sorts.
template <class T>
struct Group {
    const T* values;
    int64_t count;
};

// Transposes contiguous lines into columns. Unused lanes repeat the last line.
template <class T>
MMP_INLINE void transpose(Group<T> group, int64_t length, T* columns) {
    constexpr int kSide = kSquareSide<T>;
    for (int lane = 0; lane < kLanes<T>; lane += kSide) {
        const T* lines[kSide];
        for (int i = 0; i < kSide; ++i)
            lines[i] = group.values + std::min<int64_t>(lane + i, group.count - 1) * length;
        if (length < kSide) {
            for (int64_t n = 0; n < length; ++n)
                for (int i = 0; i < kSide; ++i) columns[n * kLanes<T> + lane + i] = lines[i][n];
            continue;
        }
        // The last square may overlap the previous one.
        for (int64_t n = 0; n < length; n += kSide) {
            const int64_t first = std::min(n, length - kSide);
            transpose_square(lines, first, columns + first * kLanes<T> + lane, kLanes<T>);
        }
    }
}

// Copies lines that are columns of a matrix with rows of `inner` values.
template <class T>
MMP_INLINE void copy_columns(Group<T> group, int64_t length, int64_t inner, T* columns) {
    for (int64_t n = 0; n < length; ++n) {
        const T* from = group.values + n * inner;
        if (group.count == kLanes<T>)
            memcpy(columns + n * kLanes<T>, from, 64);
        else
            memcpy(columns + n * kLanes<T>, from, group.count * sizeof(T));
    }
}

// Converts bits to signed integers that sort like the values, and counts the NaN of each line.
template <class T>
MMP_INLINE void to_signed(Kind kind, T* columns, int64_t length, T* nans) {
    if (kind == Kind::kSigned) return;
    Column<T> count{};
    for (int64_t n = 0; n < length; ++n) {
        auto bits = loaded<Column<T>>(columns + n * kLanes<T>);
        if (kind == Kind::kUnsigned) {
            bits = bits ^ std::numeric_limits<T>::min();
        } else if constexpr (sizeof(T) > 1) {
            const auto nan = (bits & kHighest<T>) > kInfiniteBits<T>;
            bits = bits ^ (bits >> (8 * sizeof(T) - 1) & kHighest<T>);
            bits = nan ? Column<T>{} + kHighest<T> : bits;
            count = nan ? count + 1 : count;
        }
        store(columns + n * kLanes<T>, bits);
    }
    store(nans, count);
}

// One XOR gives the maximum from the minimum.
template <class Lanes>
MMP_INLINE void exchange(Lanes& a, Lanes& b) {
    const Lanes low = a < b ? a : b;
    b = a ^ b ^ low;
    a = low;
}

// Loads `Columns` adjacent columns into registers, applies the comparators, and stores them.
template <class T, int Columns, class Table, size_t... column, size_t... number>
MMP_INLINE void in_registers(T* columns, const Table& table, std::index_sequence<column...>,
                             std::index_sequence<number...>) {
    Column<T> held[Columns];
    ((held[column] = loaded<Column<T>>(columns + column * kLanes<T>)), ...);
    (exchange(held[table.all[number].low], held[table.all[number].high]), ...);
    (store(columns + column * kLanes<T>, held[column]), ...);
}

template <class T, int Columns, int Count>
MMP_INLINE void in_registers(T* columns, const Comparators<Count>& table) {
    in_registers<T, Columns>(columns, table, std::make_index_sequence<Columns>{},
                             std::make_index_sequence<Count>{});
}

template <class T>
MMP_INLINE void sort_block(T* columns, int64_t block) {
    constexpr auto k4 = merge_exchange<4, kComparatorsOf4>();
    constexpr auto k8 = merge_exchange<8, kComparatorsOf8>();
    constexpr auto k16 = merge_exchange<16, kComparatorsOf16>();
    if (block == 4)
        in_registers<T, 4>(columns, k4);
    else if (block == 8)
        in_registers<T, 8>(columns, k8);
    else
        in_registers<T, 16>(columns, k16);
}

template <class T>
MMP_INLINE void sort_flip(T* columns, const uint32_t* places) {
    auto a = loaded<Column<T>>(columns + places[0]), b = loaded<Column<T>>(columns + places[1]);
    auto c = loaded<Column<T>>(columns + places[2]), d = loaded<Column<T>>(columns + places[3]);
    exchange(a, d);
    exchange(b, c);
    exchange(a, b);
    exchange(c, d);
    store(columns + places[0], a);
    store(columns + places[1], b);
    store(columns + places[2], c);
    store(columns + places[3], d);
}

template <class T>
MMP_INLINE void sort_second(T* columns, const uint32_t* places) {
    auto a = loaded<Column<T>>(columns + places[0]), b = loaded<Column<T>>(columns + places[1]);
    const auto c = loaded<Column<T>>(columns + places[2]);
    const auto d = loaded<Column<T>>(columns + places[3]);
    a = a < d ? a : d;
    b = b < c ? b : c;
    store(columns + places[1], a > b ? a : b);
}

template <class T>
MMP_INLINE void run_step(const Step& step, int64_t block, T* columns) {
    constexpr auto kMerge = bitonic_merge();
    switch (step.what) {
        case Step::kPair: {
            auto a = loaded<Column<T>>(columns + step.places[0]);
            auto b = loaded<Column<T>>(columns + step.places[1]);
            exchange(a, b);
            store(columns + step.places[0], a);
            store(columns + step.places[1], b);
            return;
        }
        case Step::kLarger: {
            const auto a = loaded<Column<T>>(columns + step.places[0]);
            const auto b = loaded<Column<T>>(columns + step.places[1]);
            return store(columns + step.places[1], a > b ? a : b);
        }
        case Step::kFlip: return sort_flip(columns, step.places);
        case Step::kSecond: return sort_second(columns, step.places);
        case Step::kSort: return sort_block(columns + step.places[0], block);
        case Step::kMerge: return in_registers<T, 16>(columns + step.places[0], kMerge);
    }
}

template <class T>
struct Job {
    const Step *first, *last;
    int64_t block;
    Kind kind;
    int64_t length, inner;
};

// Sorts the lines of a group as far as the wanted columns need.
template <class T>
MMP_INLINE void sort_group(const Job<T>& job, Group<T> group, T* columns, T* nans) {
    if (job.inner == 1)
        transpose(group, job.length, columns);
    else
        copy_columns(group, job.length, job.inner, columns);
    to_signed(job.kind, columns, job.length, nans);
    for (const Step* step = job.first; step != job.last; ++step)
        run_step(*step, job.block, columns);
}

#define MMP_SORT(T)                                                                            \
    MMP_SIMD_LEVELS void sort(const Job<T>& job, Group<T> group, T* columns, T* nans) {        \
        sort_group(job, group, columns, nans);                                                 \
    }
MMP_SORT(int8_t)
MMP_SORT(int16_t)
MMP_SORT(int32_t)
MMP_SORT(int64_t)

template <class T>
void select_of(const Lines& lines, const Ranks& ranks, void* keys_out, int64_t* nans,
               ThreadTeam& team) {
    constexpr int kTasks = 1024;
    const int64_t length = lines.length, inner = lines.inner, each = ranks.each;
    std::vector<bool> wanted(length);
    for (int64_t i = 0; i < ranks.rows * each; ++i) wanted[ranks.data[i]] = true;
    const Network network(length, wanted, kLanes<T>);
    // A row of groups covers the lines that are adjacent in memory.
    const int64_t side = inner == 1 ? lines.outer : inner, rows = inner == 1 ? 1 : lines.outer;
    const int64_t groups_a_row = (side + kLanes<T> - 1) / kLanes<T>, groups = rows * groups_a_row;
    const uint32_t tasks = static_cast<uint32_t>(std::min<int64_t>(groups, kTasks));
    using Key = std::make_unsigned_t<T>;
    Key* keys = static_cast<Key*>(keys_out);
    constexpr Key kTopBit = static_cast<Key>(Key{1} << (8 * sizeof(T) - 1));
    team.run(tasks, [&](uint32_t task) {
        // Columns and steps get different page offsets, so that loads from one do not stall on
        // stores to the other (4K aliasing).
        const size_t own_at = network.columns * 64, steps_at = own_at + 64;
        const size_t bytes = steps_at + network.steps.size() * sizeof(Step);
        std::vector<uint8_t> room(bytes + 64);
        uint8_t* start = room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64);
        T* columns = reinterpret_cast<T*>(start);
        T* own = reinterpret_cast<T*>(start + own_at);
        Step* steps = reinterpret_cast<Step*>(start + steps_at);
        std::copy(network.steps.begin(), network.steps.end(), steps);
        const Job<T> job{steps, steps + network.steps.size(), network.block, lines.kind, length,
                         inner};
        std::fill(columns + length * kLanes<T>, own, kHighest<T>);
        for (int64_t g = groups * task / tasks; g < groups * (task + 1) / tasks; ++g) {
            const int64_t row = g / groups_a_row, first = g % groups_a_row * kLanes<T>;
            const int64_t count = std::min<int64_t>(kLanes<T>, side - first);
            const T* begin = static_cast<const T*>(lines.data) + row * length * inner +
                             first * (inner == 1 ? length : 1);
            const Group<T> group{begin, count};
            sort(job, group, columns, own);
            const int64_t line = row * side + first;
            for (int64_t k = 0; k < each; ++k)
                for (int64_t i = 0; i < count; ++i) {
                    const int64_t from = ranks.rows == 1 ? 0 : line + i;
                    const int64_t rank = ranks.data[from * each + k];
                    keys[(line + i) * each + k] =
                        static_cast<Key>(columns[rank * kLanes<T> + i]) ^ kTopBit;
                }
            if (lines.kind == Kind::kFloat)
                for (int64_t i = 0; i < count; ++i) nans[line + i] = own[i];
        }
    });
}

}  // namespace

void select_short_lines(const Lines& lines, const Ranks& ranks, void* keys, int64_t* nans,
                        ThreadTeam& team) {
    switch (lines.bytes) {
        case 1: return select_of<int8_t>(lines, ranks, keys, nans, team);
        case 2: return select_of<int16_t>(lines, ranks, keys, nans, team);
        case 4: return select_of<int32_t>(lines, ranks, keys, nans, team);
        default: return select_of<int64_t>(lines, ranks, keys, nans, team);
    }
}

}  // namespace mmp
