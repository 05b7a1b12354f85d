// Compares the samples and the weighted sums of each kernel for 16 bits with those in 32 bits, at
// random and at the largest differences. Prints the number of kernels; fails at the first difference.
#include "cpu/filters/taps/taps.h"

#include <stdio.h>

#include <algorithm>
#include <random>

using namespace mmp;

namespace {

constexpr int kWidth = 43, kBlocks = 11, kMargin = 48, kMost = (1 << 13) - 1, kForms = 5;
constexpr ptrdiff_t kStride = 4 * kBlocks + 2 * kMargin;
constexpr int kRows = kFilterBlock + 2 * kBankReach;
constexpr uint16_t kUntouched = 31000;
std::mt19937 source(1);

int any(int low, int high) { return low + int(source() % unsigned(high - low + 1)); }

struct Rows {
    int64_t first, last;
};

// Samples, and forms by number, in one width of lanes. `most` is the largest sample.
template <class Value>
struct Input {
    int most;
    std::vector<Value> x;
    LimitedTaps<Value> fixed[kForms];
    TapWeights<Value, kFilterTaps> post[kForms];
    PlaneTapWeights<Value> plane;
    std::vector<int32_t> numbers;  // the last number is that of blocks without a filter
    Rows rows;

    template <class Form>
    TapRow<Value, Form> row(const Form (&forms)[kForms],
                            std::vector<const Form*>& list) const {
        for (const Form& form : forms) list.push_back(&form);
        list.push_back(nullptr);
        return {first(), kStride, list.data(), numbers.data(), kBlocks};
    }
    const Value* first() const { return x.data() + kBankReach * kStride + kMargin; }
};

template <class Weights>
void set_weights(Weights& weights, int largest, bool extreme) {
    for (auto& own : weights)
        own = extreme ? (any(0, 1) ? largest : -largest) : any(-largest, largest);
}

Input<int32_t> any_input(int most, int round) {
    Input<int32_t> in{most, std::vector<int32_t>(kRows * kStride), {}, {}, {}, {}, {}};
    for (auto& own : in.x) own = round % 2 ? any(0, 1) * most : any(0, most);
    for (auto& form : in.fixed) {
        set_weights(form.weights, 189, round % 3 == 0);
        for (auto& limit : form.limits) limit = any(1, most);
    }
    for (auto& form : in.post) set_weights(form.weights, 64, round % 3 == 0);
    set_weights(in.plane.weights, 64, round % 3 == 0);
    in.numbers.resize(held_blocks(kBlocks));
    for (int32_t& own : in.numbers) own = round % 5 ? any(0, kForms) : kForms;
    in.rows = {any(0, 1), any(2, 4)};
    return in;
}

template <class To, class From, size_t Count>
void copy(const From (&from)[Count], To (&to)[Count]) {
    std::copy(from, from + Count, to);
}

Input<int16_t> narrowed(const Input<int32_t>& in) {
    Input<int16_t> out{in.most, {in.x.begin(), in.x.end()}, {}, {}, {}, in.numbers, in.rows};
    for (int i = 0; i < kForms; ++i) {
        copy(in.fixed[i].weights, out.fixed[i].weights);
        copy(in.fixed[i].limits, out.fixed[i].limits);
        copy(in.post[i].weights, out.post[i].weights);
    }
    copy(in.plane.weights, out.plane.weights);
    return out;
}

// The samples of all filters, then the weighted sums.
template <class Value, class Sample>
std::vector<int32_t> results(const TapKernel<Value, Sample>& kernel, const Input<Value>& in) {
    std::vector<int32_t> found;
    const auto add = [&](const auto& filter) {
        std::vector<Sample> out(4 * kWidth, Sample(kUntouched));
        filter(FilteredRows<Sample>(out.data(), kWidth, 0, in.rows, in.most));
        found.insert(found.end(), out.begin(), out.end());
    };
    std::vector<const LimitedTaps<Value>*> fixed;
    std::vector<const TapWeights<Value, kFilterTaps>*> post;
    const auto row = in.row(in.fixed, fixed);
    add([&](const auto& out) { kernel.fixed(row, out); });
    add([&](const auto& out) { kernel.post(in.row(in.post, post), out); });
    std::vector<Sample> own(4 * kWidth);
    for (size_t i = 0; i < own.size(); ++i) own[i] = Sample(in.x[i]);
    for (int count = 1; count <= kMostPlanesRead; ++count)
        add([&](const auto& out) {
            kernel.plane({{in.first(), in.first() + 1}, count, kStride, in.plane}, own.data(), kWidth, out);
        });
    const int64_t stride = kFilterBlock * held_blocks(kBlocks);
    std::vector<int32_t> sums(4 * stride);
    kernel.fixed_sums(row, sums.data(), stride);
    for (int k = 0; k < 4; ++k)
        found.insert(found.end(), &sums[k * stride], &sums[k * stride] + kFilterBlock * kBlocks);
    return found;
}

template <class Sample>
int count_of_equal(int most) {
    int count = 0;
    for (const auto* kernel : tap_kernels<Sample>()) {
        if (!kernel->supported()) continue;
        ++count;
        for (int round = 0; round < 200; ++round) {
            const auto in = any_input(most, round);
            auto expected = results(tap_kernel<int32_t, uint16_t>(), in);
            auto found = results(*kernel, narrowed(in));
            if (sizeof(Sample) == 1)
                for (int32_t& own : expected)
                    if (own == kUntouched) own = Sample(kUntouched);
            if (found != expected) {
                printf("kernel %d of those that are supported differs, samples up to %d\n", count,
                       most);
                return 0;
            }
        }
    }
    return count;
}

}  // namespace

int main() {
    const int of_bytes = count_of_equal<uint8_t>(255), of_words = count_of_equal<uint16_t>(kMost);
    printf("%d\n", of_words);
    return of_bytes && of_words ? 0 : 1;
}
