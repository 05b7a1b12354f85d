// Kernel without SIMD instructions, for any processor.
#include "cpu/blocks/products/tiles.h"

namespace {

struct Generic {
    static constexpr int kMostColumns = 8;

    template <int Rows, int Columns>
    class Tile {
    public:
        explicit Tile(int32_t start) {
            for (auto& row : sums_)
                for (int32_t& sum : row) sum = start;
        }
        void add(const int16_t* x, int x_stride, const int16_t* y, int y_stride) {
            for (int i = 0; i < Rows; ++i)
                for (int j = 0; j < Columns; ++j)
                    sums_[i][j] += x[i * x_stride] * y[j] + x[i * x_stride + 1] * y[y_stride + j];
        }
        void store(int shift, int16_t* out, int stride) const {
            for (int i = 0; i < Rows; ++i)
                for (int j = 0; j < Columns; ++j)
                    out[i * stride + j] = int16_t(saturated(sums_[i][j] >> shift));
        }
        void store(int shift, int32_t* out, int stride) const {
            for (int i = 0; i < Rows; ++i)
                for (int j = 0; j < Columns; ++j) out[i * stride + j] = sums_[i][j] >> shift;
        }

    private:
        int32_t sums_[Rows][Columns];
    };
};

}  // namespace

namespace mmp {

extern const ProductKernel products_generic;
const ProductKernel products_generic{"generic", [] { return true; }, multiply<Generic, int16_t>,
                                     multiply<Generic, int32_t>};

}  // namespace mmp
