// What the entries of the fuzzer make of the bytes that they get.
//
// The first bytes choose tools, sizes and threads, within the limits that the container checks; any
// bytes are valid choices. scripts/fuzz/seeds.py writes inputs of this form.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cpu/blocks/planes.h"
#include "cpu/filters/border.h"
#include "cpu/filters/fixed.h"
#include "cpu/lossless/codec.h"
#include "cpu/filters/post.h"
#include "cpu/trees/picture.h"
#include "shared/tools.h"

namespace mmp {

inline const Progress unwatched = [](int64_t, int64_t) {};

// The codings, by the first number of an input.
enum class Coding { kTrees, kBlocks, kDeepBlocks, kLossless };
constexpr int kCodings = 4;

class Bytes {
public:
    Bytes(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}

    // The next number from low to high; low if no bytes are left.
    int number(int low, int high) {
        unsigned value = 0;
        for (int bytes = high - low > 255 ? 2 : 1; bytes > 0 && data_ < end_; --bytes)
            value = value << 8 | *data_++;
        return low + static_cast<int>(value % static_cast<unsigned>(high - low + 1));
    }
    // The next of `parts` equal parts of the rest; the last one takes all.
    Bytes part(int parts) {
        const size_t size = left() / size_t(parts);
        const Bytes found(data_, size);
        data_ += size;
        return found;
    }
    const uint8_t* rest() const { return data_; }
    size_t left() const { return static_cast<size_t>(end_ - data_); }

private:
    const uint8_t* data_;
    const uint8_t* end_;
};

// Ends the process: this is a finding.
[[noreturn]] inline void fail(const char* what) {
    fprintf(stderr, "finding: %s\n", what);
    abort();
}

// Small dictionaries, from 256 to 2000 elements, keep the fuzzer fast.
constexpr int kLimits = 1745;

// The tools come in the order and with the ranges of the header.
#define MMP_NEXT_TOOL(name, low, high) bytes.number(low, high),

inline Tools tree_tools(Bytes& bytes) {
    Tools tools{MMP_TREE_TOOLS(MMP_NEXT_TOOL)};
    tools.dictionary_limit = 256 + (tools.dictionary_limit - 256) % kLimits;
    return tools;
}

inline BlockTools block_tools(Bytes& bytes) {
    BlockTools tools{MMP_BLOCK_TOOLS(MMP_NEXT_TOOL) 0};
    tools.fragment_log2 = tools.fragment_size < 32 ? 4 : tools.fragment_size < 64 ? 5 : 6;
    tools.fragment_size = 1 << tools.fragment_log2;
    return tools;
}

// Slanted waves that stand for the planes which predict a plane.
template <class Sample>
class Waves {
public:
    Waves(Plane plane, Depth<Sample> depth, int count) : planes_(count) {
        for (int p = 0; p < count; ++p)
            for (int row = 0; row < plane.height; ++row)
                for (int column = 0; column < plane.width; ++column)
                    planes_[p].push_back(Sample((row * (p + 3) + column * column) * 977u &
                                                depth.most()));
    }
    EarlierSamples<Sample> samples() const {
        EarlierSamples<Sample> found;
        for (const auto& plane : planes_) found.push_back(plane.data());
        return found;
    }

private:
    std::vector<std::vector<Sample>> planes_;
};

// One picture in 32 is large or long, and most of the others are small: they are quick.
inline Plane plane_of(Bytes& bytes) {
    const int kind = bytes.number(0, 63);
    if (kind == 63) {
        const int sides[2] = {bytes.number(1, 20), bytes.number(1, 20000)};
        const int tall = bytes.number(0, 1);
        return {sides[tall], sides[1 - tall]};
    }
    const int most = kind == 62 ? 600 : kind >= 48 ? 80 : 24;
    return {bytes.number(1, most), bytes.number(1, most)};
}

// Three inputs in four use one thread.
inline int threads_of(Bytes& bytes) {
    static constexpr int kThreads[] = {2, 3, 4, 9};
    const int number = bytes.number(0, 15);
    return number < 4 ? kThreads[number] : 1;
}

// Filters a plane, in one band and in several at once. `filtered` filters rows of it.
template <class Sample, class Filtered>
void filter_in_bands(const std::vector<Sample>& samples, Plane plane, Depth<Sample> depth,
                     int threads, const Filtered& filtered) {
    std::vector<Sample> whole(samples.size()), banded(samples.size());
    filtered({0, plane.height}, whole.data());
    for (const Sample sample : whole)
        if (sample > depth.most()) fail("a filtered sample is beyond the depth");
    if (threads == 1) return;
    std::vector<std::thread> team;
    for (int band = 0; band < threads; ++band) {
        const RowRange rows{int64_t{plane.height} * band / threads,
                            int64_t{plane.height} * (band + 1) / threads};
        team.emplace_back([&, rows] { filtered(rows, banded.data()); });
    }
    for (std::thread& each : team) each.join();
    if (whole != banded) fail("the bands of a filter differ from the whole");
}

// Filters the borders of a picture of tiles of 64x64 whose samples are those of a plane.
template <class Sample>
void filter_borders(Bytes bytes, std::vector<Sample> samples, Plane plane, Depth<Sample> depth) {
    const int planes = bytes.number(1, 4);
    std::vector<uint8_t> fixed(samples.size());
    if (bytes.number(0, 1)) fixed[fixed.size() / 2] = 1;
    const BorderPicture<Sample> picture{samples.data(), plane.height, plane.width / planes,
                                        planes, planes > 2 ? 3 : 1, fixed.data()};
    const BorderGrid grid{64, bytes.number(1, 64), bytes.number(1, 64)};
    border_filter(picture, grid, bytes.number(1, 65535), depth.bits(), 0);
    for (const Sample sample : samples)
        if (sample > depth.most()) fail("a sample beside a border is beyond the depth");
}

// Filters a plane with coefficients and scales from the input.
template <class Sample>
void filter(Bytes bytes, const std::vector<Sample>& samples, Plane plane, Depth<Sample> depth,
            int threads) {
    FilterTable table{};
    for (auto& own : table)
        if (bytes.number(0, 1))
            for (int16_t& weight : own) weight = int16_t(bytes.number(0, 127) - 64);
    const FilterPicture<Sample> picture{samples.data(), plane.height, plane.width, depth};
    filter_in_bands(samples, plane, depth, threads, [&](RowRange rows, Sample* out) {
        post_filter(picture, table, rows, out);
    });
    BankScaling scales;
    for (int& scale : scales) scale = bytes.number(0, kBankScales - 1);
    const uint8_t number = 0;
    const PlaneSteps steps{1 << 30, 1, &number, {bytes.number(1, 65535)}};
    filter_in_bands(samples, plane, depth, threads, [&](RowRange rows, Sample* out) {
        fixed_filters(picture, steps, scales, rows, out);
    });
    filter_borders(bytes, samples, plane, depth);
}

// Runs one input. An exception that it does not catch is a finding, and so is fail().
int run_input(const uint8_t* data, size_t size);

inline LosslessTools lossless_tools(Bytes& bytes, int depth) {
    LosslessTools tools{bytes.number(1, 3), 0};
    tools.max_error = bytes.number(0, 1) ? bytes.number(0, 1 << (depth - 1)) : 0;
    return tools;
}

}  // namespace mmp
