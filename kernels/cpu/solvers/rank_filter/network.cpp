// Rank filters by comparison networks.
//
// The picture is filtered in strips of columns whose lines fit the L1 cache. A strip moves down row
// by row, and each of its rows of samples is read once.
#include "cpu/solvers/rank_filter/network.h"

#include <algorithm>
#include <vector>

#include "cpu/solvers/rank_filter/lanes.h"

namespace mmp {

namespace {

constexpr int kStripBytes = 512;
template <class T>
constexpr int64_t kStrip = kStripBytes / sizeof(T);

template <class T, class Order>
class NetworkBand {
public:
    using Lane = typename Order::Lane;
    using V = typename Order::V;
    using Bits = LaneVector<T>;
    static constexpr int kLanes = kLanesOf<T>;

    MMP_INLINE NetworkBand(const BorderedPicture<T>& picture, const Network& network, int64_t first,
                           int64_t last, T* out)
        : picture_(picture), network_(network), first_(first), last_(last), out_(out) {
        width_ = (kStrip<T> + picture.window.width + 2 * kLanes) / kLanes * kLanes;
        border_.resize(width_);
        memory_.resize(network.lines * width_ + kLanes);
        const auto at = reinterpret_cast<uintptr_t>(memory_.data());
        Lane* aligned = memory_.data() + (-at & (kVectorBytes - 1)) / sizeof(T);
        for (int line = 0; line < network.lines; ++line) lines_.push_back(aligned + line * width_);
    }

    // Returns the special values found in the samples.
    MMP_INLINE Unusual filter() {
        const int height = picture_.window.height;
        UnusualSearch<T, !Order::kExact> search;
        for (int64_t left = 0; left < picture_.columns; left += kStrip<T>) {
            const int64_t strip = std::min(kStrip<T>, picture_.columns - left);
            for (int i = 0; i < height - 1; ++i) read(first_ + i, left, strip, i, search);
            for (int64_t row = first_; row < last_; ++row) {
                read(row + height - 1, left, strip, height - 1, search);
                for (int64_t i = 0; i < network_.count; ++i) run(network_.steps[i], strip);
                write(row, left, strip);
                std::rotate(lines_.begin(), lines_.begin() + 1, lines_.begin() + height);
            }
        }
        return search.found();
    }

private:
    // Loads a row of samples under the windows of a strip into a line.
    template <class Search>
    MMP_INLINE void read(int64_t row, int64_t left, int64_t strip, int line, Search& search) {
        const T* samples = picture_.samples + picture_.row_of[row] * picture_.stride;
        const int64_t half = picture_.window.width / 2;
        const int64_t count = strip + picture_.window.width - 1;
        const T* from = samples + left - half;
        if (left < half || left - half + width_ > picture_.columns) {
            const int32_t* column_of = picture_.column_of + left;
            for (int64_t x = 0; x < count; ++x) border_[x] = samples[column_of[x]];
            from = border_.data();
        }
        for (int64_t x = 0; x < count; x += kLanes) {
            const Bits bits = loaded<Bits>(from + x);
            search.look(bits);
            store(lines_[line] + x, Order::lanes(bits));
        }
    }

    MMP_INLINE void run(const NetworkStep& step, int64_t strip) {
        const int64_t count = strip + step.extra;
        const Lane* a = lines_[step.a] + step.a_shift;
        const Lane* b = lines_[step.b] + step.b_shift;
        Lane* low = lines_[step.low];
        const auto all = [&](const auto& work) MMP_INLINED {
            for (int64_t x = 0; x < count; x += kLanes)
                work(x, loaded<V>(a + x), loaded<V>(b + x));
        };
        switch (step.kind) {
        case NetworkStep::kCompare: {
            Lane* high = lines_[step.high];
            all([&](int64_t x, const V& v, const V& w) MMP_INLINED {
                store(low + x, least(v, w));
                store(high + x, greatest(v, w));
            });
            break;
        }
        case NetworkStep::kLeast:
            all([&](int64_t x, const V& v, const V& w) MMP_INLINED {
                store(low + x, least(v, w));
            });
            break;
        case NetworkStep::kGreatest:
            all([&](int64_t x, const V& v, const V& w) MMP_INLINED {
                store(low + x, greatest(v, w));
            });
            break;
        case NetworkStep::kLeastOfGreatest: {
            const Lane* c = lines_[step.c];
            all([&](int64_t x, const V& v, const V& w) MMP_INLINED {
                store(low + x, least(loaded<V>(c + x), greatest(v, w)));
            });
            break;
        }
        case NetworkStep::kGreatestOfLeast: {
            const Lane* c = lines_[step.c];
            all([&](int64_t x, const V& v, const V& w) MMP_INLINED {
                store(low + x, greatest(loaded<V>(c + x), least(v, w)));
            });
            break;
        }
        }
    }

    MMP_INLINE void write(int64_t row, int64_t left, int64_t strip) {
        const Lane* from = lines_[network_.answer] + network_.answer_shift;
        T* to = out_ + row * picture_.columns + left;
        for (int64_t x = 0; x < strip; x += kLanes)
            store_some(to + x, Order::bits(loaded<V>(from + x)), strip - x);
    }

    const BorderedPicture<T>& picture_;
    const Network& network_;
    const int64_t first_, last_;
    T* out_;
    int64_t width_;  // values per line
    std::vector<Lane> memory_;
    std::vector<T> border_;  // a row of samples of a strip that crosses the edge
    std::vector<Lane*> lines_;
};

#define MMP_NETWORK_BAND(T)                                                                 \
    MMP_SIMD_LEVELS bool network_band(const BorderedPicture<T>& picture,                    \
                                      const Network& network, int64_t first, int64_t last,  \
                                      T* out) {                                             \
        return exactly<T>([&](auto order) MMP_INLINED {                                     \
            using Order = decltype(order);                                                  \
            return NetworkBand<T, Order>(picture, network, first, last, out).filter();      \
        });                                                                                 \
    }
MMP_EACH_SAMPLE(MMP_NETWORK_BAND)

}  // namespace

template <class T>
bool network_filter(const BorderedPicture<T>& picture, const Network& network, T* out,
                    ThreadTeam& team) {
    return in_bands(picture, team, [&](int64_t first, int64_t last) {
        return network_band(picture, network, first, last, out);
    });
}

#define MMP_INSTANTIATE(T) \
    template bool network_filter(const BorderedPicture<T>&, const Network&, T*, ThreadTeam&);
MMP_EACH_SAMPLE(MMP_INSTANTIATE)

}  // namespace mmp
