// Any processor: vectors of four sums.
#include "cpu/blocks/products/tiles.h"
#include "cpu/runtime/simd.h"

namespace {

struct Generic {
    static constexpr int kMostColumns = 8;

    template <int Rows, int Columns>
    class Tile {
        static constexpr int kVectors = Columns / 4;

    public:
        explicit MMP_INLINE Tile(int32_t start) {
            for (auto& row : sums_)
                for (Ints4& sums : row) sums = Ints4{} + start;
        }
        MMP_INLINE void add(const int16_t* x, int x_stride, const int16_t* y, int y_stride) {
            Shorts8 upper{}, lower{};
            memcpy(&upper, y, Columns * sizeof *y);
            memcpy(&lower, y + y_stride, Columns * sizeof *y);
            const Shorts8 pairs[] = {interleaved_low(upper, lower), interleaved_high(upper, lower)};
            for (int i = 0; i < Rows; ++i, x += x_stride) {
                int32_t factors;
                memcpy(&factors, x, sizeof factors);
                const auto two = reinterpret_cast<Shorts8>(Ints4{} + factors);
                for (int k = 0; k < kVectors; ++k)
                    sums_[i][k] += products_of_pairs(pairs[k], two);
            }
        }
        MMP_INLINE void store(int shift, int16_t* out, int stride) const {
            for (int i = 0; i < Rows; ++i, out += stride)
                for (int k = 0; k < kVectors; ++k) {
                    Ints4 sums = sums_[i][k] >> shift;
                    sums = sums > kMaxCoefficient ? Ints4{} + kMaxCoefficient : sums;
                    sums = sums < -kMaxCoefficient ? Ints4{} - kMaxCoefficient : sums;
                    mmp::store(out + 4 * k, __builtin_convertvector(sums, Shorts4));
                }
        }
        MMP_INLINE void store(int shift, int32_t* out, int stride) const {
            for (int i = 0; i < Rows; ++i, out += stride)
                for (int k = 0; k < kVectors; ++k) mmp::store(out + 4 * k, sums_[i][k] >> shift);
        }

    private:
        Ints4 sums_[Rows][kVectors];
    };
};

}  // namespace

namespace mmp {

extern const ProductKernel products_generic;
const ProductKernel products_generic{"generic", [] { return true; }, multiply<Generic, int16_t>,
                                     multiply<Generic, int32_t>};

}  // namespace mmp
