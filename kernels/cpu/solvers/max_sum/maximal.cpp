#include "cpu/solvers/max_sum/maximal.h"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "cpu/runtime/simd.h"
#include "cpu/solvers/max_sum/interval.h"

namespace mmp {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kNone = -1;

// An interval all of whose prefixes and suffixes have positive sums. Running sums and places are
// relative to the beginning of the piece.
struct Candidate {
    int64_t left, right;  // running sums before the start and before the stop
    int32_t start, stop;
    int64_t below;  // number of the last earlier candidate with a smaller `left`, or kNone
};

// The candidates of a piece that no other candidate contains: `first` to `last` - 1. A candidate is
// open if its `below` is kNone. Only an open candidate can merge with a candidate of an earlier
// piece; the result contains all candidates between the two. So only the first candidate of a piece
// can start before the piece.
struct Piece {
    int64_t begin, total;
    std::vector<Candidate> candidates;
    std::vector<int32_t> open;
    int64_t first = 0, last = 0;
    int64_t start = kNone;  // start of the first candidate, if before the piece
    int64_t before = 0;     // sum of the values before the piece
};

template <class From>
MMP_INLINE void scale_values(const From* from, int64_t count, double scale, int64_t* to) {
    for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<int64_t>(__builtin_rint(static_cast<double>(from[i]) * scale));
}

MMP_SIMD_LEVELS void scaled(const float* from, int64_t count, double scale, int64_t* to) {
    scale_values(from, count, scale, to);
}

MMP_SIMD_LEVELS void scaled(const double* from, int64_t count, double scale, int64_t* to) {
    scale_values(from, count, scale, to);
}

// Search within one piece; its memory is reused for the next pieces.
class PieceSearch {
public:
    explicit PieceSearch(int64_t size) : places_(size + 2), sums_(size + 2), stack_(size / 2 + 2) {}

    template <class Value>
    void search(const Value* values, int64_t count, double scale, int64_t number, Piece& piece) {
        if constexpr (std::is_floating_point_v<Value>) {
            rounded_.resize(count);
            scaled(values, count, scale, rounded_.data());
            find_runs(rounded_.data(), count);
        } else {
            find_runs(values, count);
        }
        piece.total = sums_[count_];
        join_runs();
        // Candidate numbers are unique in the whole sequence: at most one candidate per value.
        piece.candidates.assign(stack_.begin() + 1, stack_.begin() + size_);
        piece.last = size_ - 1;
        for (int64_t i = 0; i < piece.last; ++i) {
            int64_t& below = piece.candidates[i].below;
            below = below ? number + below - 1 : kNone;
            if (below == kNone) piece.open.push_back(static_cast<int32_t>(i));
        }
    }

private:
    // Writes alternately the starts and stops of the runs of positive values, with the running sums
    // before them. It is branchless, because branches on the values would be mispredicted.
    template <class Value>
    void find_runs(const Value* values, int64_t count) {
        int64_t sum = 0, found = 0;
        bool is_positive = false;
        int32_t* const places = places_.data();
        int64_t* const sums = sums_.data();
        for (int64_t i = 0; i < count; ++i) {
            places[found] = static_cast<int32_t>(i);
            sums[found] = sum;
            const bool now = values[i] > 0;
            found += now != is_positive;
            is_positive = now;
            sum += static_cast<int64_t>(values[i]);
        }
        places[found] = static_cast<int32_t>(count);
        sums[found] = sum;
        // The entry after the last run holds the sum of all values.
        found += is_positive;
        sums[found] = sum;
        count_ = found;
    }

    // Fills the stack with the candidates of the piece; a sentinel at the bottom never merges.
    void join_runs() {
        stack_[0] = {std::numeric_limits<int64_t>::min(), kMost, 0, 0, 0};
        size_ = 1;
        for (int64_t run = 0; run < count_; run += 2) {
            Candidate now{sums_[run], sums_[run + 1], places_[run], places_[run + 1], size_ - 1};
            for (;;) {
                while (stack_[now.below].left >= now.left) now.below = stack_[now.below].below;
                const Candidate& other = stack_[now.below];
                if (other.right >= now.right) break;
                now.left = other.left;
                now.start = other.start;
                size_ = now.below;
                now.below = other.below;
            }
            stack_[size_++] = now;
        }
    }

    std::vector<int32_t> places_;
    std::vector<int64_t> sums_;
    int64_t count_ = 0;  // number of places
    std::vector<Candidate> stack_;
    int64_t size_ = 0;
    std::vector<int64_t> rounded_;
};

// Merges candidates across pieces, from left to right. Candidate i of piece p has number p * size +
// i.
class Join {
public:
    Join(std::vector<Piece>& pieces, int64_t size) : pieces_(pieces), size_(size) {}

    void take(int64_t number) {
        Piece& piece = pieces_[number];
        piece.before = sum_;
        sum_ += piece.total;
        int64_t previous = kNone;
        if (!kept_.empty()) previous = kept_.back() * size_ + pieces_[kept_.back()].last - 1;
        for (const int32_t i : piece.open) {
            // The `left` sums of open candidates decrease.
            if (piece.before + piece.candidates[i].left <= lowest_) break;
            join(number, i, previous);
            previous = number * size_ + i;
        }
        if (piece.first < piece.last) kept_.push_back(number);
        if (!piece.open.empty())
            lowest_ = std::min(lowest_, piece.before + piece.candidates[piece.open.back()].left);
    }

    // Pieces that still have candidates.
    const std::vector<int64_t>& kept() const { return kept_; }

private:
    Candidate& candidate(int64_t number) {
        return pieces_[number / size_].candidates[number % size_];
    }
    int64_t left_of(int64_t number) {
        return pieces_[number / size_].before + candidate(number).left;
    }
    int64_t right_of(int64_t number) {
        return pieces_[number / size_].before + candidate(number).right;
    }

    // Merges an open candidate with earlier ones; `previous` is the last earlier candidate.
    void join(int64_t number, int64_t i, int64_t previous) {
        Piece& piece = pieces_[number];
        Candidate& now = piece.candidates[i];
        int64_t left = piece.before + now.left;
        const int64_t right = piece.before + now.right;
        int64_t other = previous;
        for (;;) {
            while (other != kNone && left_of(other) >= left) other = candidate(other).below;
            if (other == kNone || right_of(other) >= right) break;
            left = left_of(other);
            take_in(number, other);
            piece.first = i;
            other = candidate(other).below;
        }
        now.left = left - piece.before;
        now.below = other;
    }

    // Removes candidate `other`, of piece `number` or an earlier one, and all candidates between it
    // and the merging candidate.
    void take_in(int64_t number, int64_t other) {
        const int64_t place = other / size_, index = other % size_;
        // Within its own piece, such a candidate has already merged with one of an earlier piece.
        if (place == number) return;
        while (kept_.back() > place) kept_.pop_back();
        Piece& earlier = pieces_[place];
        const bool is_outer = index == earlier.first && earlier.start != kNone;
        pieces_[number].start = is_outer ? earlier.start : earlier.begin + candidate(other).start;
        earlier.last = index;
        if (earlier.last == earlier.first) kept_.pop_back();
    }

    std::vector<Piece>& pieces_;
    const int64_t size_;
    std::vector<int64_t> kept_;
    int64_t sum_ = 0, lowest_ = kMost;
};

// Calls work(first, last) for a few ranges of `count` numbers, because each range has scratch
// memory.
template <class Work>
void share(int64_t count, ThreadTeam& team, const Work& work) {
    constexpr int64_t kTasks = 64;
    const int64_t each = count / kTasks + 1;
    team.run(static_cast<uint32_t>((count + each - 1) / each), [&](uint32_t task) {
        work(task * each, std::min(count, (task + 1) * each));
    });
}

void write(const Piece& piece, int64_t* starts, int64_t* stops, int64_t* sums) {
    for (int64_t i = piece.first; i < piece.last; ++i) {
        const Candidate& each = piece.candidates[i];
        *starts++ = piece.begin + each.start;
        *stops++ = piece.begin + each.stop;
        *sums++ = each.right - each.left;
    }
}

}  // namespace

template <class Value>
Intervals maximal_intervals(const Value* values, int64_t count, double scale, int64_t size,
                            ThreadTeam& team) {
    std::vector<Piece> pieces((count + size - 1) / size);
    share(static_cast<int64_t>(pieces.size()), team, [&](int64_t first, int64_t last) {
        PieceSearch search(std::min(size, count));
        for (int64_t i = first; i < last; ++i) {
            pieces[i].begin = i * size;
            const int64_t length = std::min(size, count - i * size);
            search.search(values + i * size, length, scale, i * size, pieces[i]);
        }
    });
    Join join(pieces, size);
    for (size_t i = 0; i < pieces.size(); ++i) join.take(static_cast<int64_t>(i));
    const std::vector<int64_t>& kept = join.kept();
    std::vector<int64_t> places(kept.size() + 1);
    for (size_t i = 0; i < kept.size(); ++i)
        places[i + 1] = places[i] + pieces[kept[i]].last - pieces[kept[i]].first;
    const int64_t found = places.back();
    Intervals answer{found, std::unique_ptr<int64_t[]>(new int64_t[3 * found])};
    int64_t* starts = answer.numbers.get();
    share(static_cast<int64_t>(kept.size()), team, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
            const Piece& piece = pieces[kept[i]];
            int64_t* out = starts + places[i];
            write(piece, out, out + found, out + 2 * found);
            if (piece.start != kNone) *out = piece.start;
        }
    });
    return answer;
}

#define MMP_INSTANTIATE(T) \
    template Intervals maximal_intervals(const T*, int64_t, double, int64_t, ThreadTeam&);
MMP_EACH_VALUE(MMP_INSTANTIATE)

}  // namespace mmp
