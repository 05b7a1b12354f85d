// Compares the weighted sums of each kernel for 16 bits with those in 32 bits, at random and at the
// largest differences. Prints the number of kernels; fails at the first difference.
#include "cpu/filters/taps/taps.h"

#include <stdio.h>

#include <algorithm>
#include <random>

using namespace mmp;

namespace {

constexpr int kBlocks = 11, kMargin = 32, kMost = (1 << 13) - 1;
constexpr ptrdiff_t kStride = 4 * kBlocks + 2 * kMargin;
constexpr int kRows = kFilterBlock + 2 * kBankReach;
std::mt19937 source(1);

int any(int low, int high) { return low + int(source() % unsigned(high - low + 1)); }

template <class Value, class Form>
std::vector<int32_t> sums_of(void (*weigh)(const TapRow<Value, Form>&), const Value* samples,
                             const std::vector<Form>& forms, const std::vector<int>& used) {
    const int64_t held = held_blocks(kBlocks);
    std::vector<const Form*> of_blocks(held);
    for (int k = 0; k < kBlocks; ++k) of_blocks[k] = used[k] < 0 ? nullptr : &forms[used[k]];
    std::vector<int32_t> sums(4 * 4 * held);
    weigh({samples + kBankReach * kStride + kMargin, kStride, of_blocks.data(), kBlocks,
           sums.data(), 4 * held});
    std::vector<int32_t> own;
    for (int row = 0; row < 4; ++row)
        own.insert(own.end(), &sums[row * 4 * held], &sums[row * 4 * held] + 4 * kBlocks);
    return own;
}

// A form in both widths.
template <template <class> class Form>
void set_limits(Form<int16_t>& narrow, Form<int32_t>& wide) {
    for (int tap = 0; tap < kBankTaps; ++tap)
        for (int k = 0; k < 4; ++k)
            narrow.limits[tap][k] = wide.limits[tap][k] = k ? wide.limits[tap][0] : any(1, kMost);
}
template <class Narrow, class Wide>
void set_limits(Narrow&, Wide&) {}

template <class Narrow, class Wide>
bool equal(void (*narrow)(const TapRow<int16_t, Narrow>&), void (*wide)(const TapRow<int32_t, Wide>&),
           int largest) {
    for (int round = 0; round < 200; ++round) {
        std::vector<int16_t> x(kRows * kStride);
        for (auto& own : x) own = round % 2 ? any(0, 1) * kMost : any(0, kMost);
        const std::vector<int32_t> deep(x.begin(), x.end());
        std::vector<Narrow> forms(5);
        std::vector<Wide> wide_forms(5);
        for (int i = 0; i < 5; ++i) {
            for (size_t tap = 0; tap < std::size(forms[i].weights); ++tap)
                forms[i].weights[tap] = wide_forms[i].weights[tap] =
                    round % 3 ? any(-largest, largest) : (any(0, 1) ? largest : -largest);
            set_limits(forms[i], wide_forms[i]);
        }
        std::vector<int> used(kBlocks);
        for (int& own : used) own = round % 5 ? any(-1, 4) : -1;
        if (sums_of(narrow, x.data(), forms, used) !=
            sums_of(wide, deep.data(), wide_forms, used))
            return false;
    }
    return true;
}

}  // namespace

int main() {
    int count = 0;
    const auto& deep = tap_kernel<int32_t>();
    for (const auto* kernel : tap_kernels()) {
        if (!kernel->supported()) continue;
        ++count;
        if (!equal(kernel->fixed, deep.fixed, 189) || !equal(kernel->post, deep.post, 64) ||
            !equal(kernel->plane, deep.plane, 64)) {
            printf("kernel %d of those that are supported differs\n", count);
            return 1;
        }
    }
    printf("%d\n", count);
}
