// Encodes samples made of any bytes, and decodes the payload.
//
// The decoder must find what the encoder says it coded, and the source where the coding is
// lossless. The payload must not depend on threads or on the level of SIMD.
#include "inputs.h"

#include "cpu/blocks/codec.h"
#include "cpu/trees/decoder.h"
#include "cpu/trees/encoder.h"

namespace mmp {

namespace {

// Samples are the rest of the input again and again, with a slope, and noise in some pictures.
template <class Sample>
std::vector<Sample> samples_of(Bytes& bytes, size_t count, int width, int depth) {
    const int slope = bytes.number(0, 7), noise = bytes.number(0, 3);
    const unsigned most = (1u << depth) - 1;
    uint32_t state = 1;
    std::vector<Sample> samples(count);
    for (size_t i = 0; i < count; ++i) {
        unsigned value = bytes.left() ? bytes.rest()[i % bytes.left()] : 0;
        if (depth > 8) value <<= depth - 8;
        value += unsigned(slope) * unsigned(i / size_t(width) + i % size_t(width));
        state = state * 1664525 + 1013904223;
        if (noise == 3) value += state >> (32 - depth);
        samples[i] = Sample(value & most);
    }
    return samples;
}

// Lambda in 2^-16: none in a quarter of the inputs.
int64_t lambda_of(Bytes& bytes) {
    const int kind = bytes.number(0, 3);
    const int64_t value = bytes.number(1, 65535);
    return kind == 0 ? 0 : kind == 1 ? value << 20 : value << 10;
}

const SearchKernel& kernel_of(int number) {
    const auto& kernels = search_kernels();
    const SearchKernel& kernel = kernels[size_t(number) % kernels.size()];
    return kernel.supported() ? kernel : kernels.back();
}

BlockEffort effort_of(Bytes& bytes) {
    static constexpr int kFactors[] = {0, 16, 64, 128, kAlways};
    const auto factor = [&] { return kFactors[bytes.number(0, 4)]; };
    BlockEffort effort{bytes.number(1, 12), bytes.number(1, 8), bytes.number(1, 4),
                       bytes.number(4, 120), bytes.number(0, 2), bytes.number(1, 4),
                       bytes.number(0, 1), factor(), factor(),
                       bytes.number(0, 1), factor(), bytes.number(1, 9),
                       bytes.number(-1, 60), 0, bytes.number(0, 110), bytes.number(0, 110),
                       0, bytes.number(0, 8)};
    if (!effort.every_angle) effort.settled = bytes.number(0, 64);
    effort.inherited = !effort.every_angle && bytes.number(0, 1);
    return effort;
}

void trees(Bytes bytes, Plane plane, int threads, int kernel) {
    const Tools tools = tree_tools(bytes);
    const RateOptions rates{lambda_of(bytes), bytes.number(0, 1) == 1};
    const size_t count = size_t(plane.height) * plane.width;
    const auto source = samples_of<uint8_t>(bytes, count, plane.width, 8);
    const EncoderOptions options{rates, threads, &kernel_of(kernel)};
    const auto [payload, coded] = encode(source.data(), plane, tools, options, unwatched);
    std::vector<uint8_t> said(count), found(count);
    coded->copy_samples(plane, said.data());
    decode(payload.data(), payload.size(), plane, tools, 1, unwatched)
        ->copy_samples(plane, found.data());
    if (said != found) fail("trees decode to other samples");
    const bool lossless = rates.lambda_fixed == 0 && tools.redundancy_radius == 0;
    if (lossless && source != found) fail("lossless trees lose");
    const EncoderOptions plain{rates, 1, &search_kernels().back()};
    if (threads > 1 || kernel)
        if (encode(source.data(), plane, tools, plain, unwatched).first != payload)
            fail("threads or SIMD change the payload of trees");
}

template <class Sample>
std::vector<Sample> shown(const CodedBlocks<Sample>& coded, Plane plane) {
    std::vector<Sample> samples;
    for (int row = 0; row < plane.height; ++row) {
        const Sample* from = coded.picture.at(row, 0);
        samples.insert(samples.end(), from, from + plane.width);
    }
    return samples;
}

template <class Sample>
void blocks(Bytes bytes, Plane plane, Depth<Sample> depth, int threads, int kernel) {
    BlockTools tools = block_tools(bytes);
    std::optional<Tools> trees;
    tools.dictionary &= kIsByte<Sample>;
    if (tools.dictionary) trees = tree_tools(bytes);
    const RateOptions rates{std::max(int64_t{1}, lambda_of(bytes)), false};
    const BlockEffort effort = effort_of(bytes);
    const auto source =
        samples_of<Sample>(bytes, size_t(plane.height) * plane.width, plane.width, depth.bits());
    const Waves<Sample> earlier(plane, depth, tools.cross_component);
    const auto encoded = [&](int team, int number) {
        const BlockOptions options{rates, effort, team, kernel_of(number)};
        return encode_blocks(source.data(), plane, depth, tools, trees, earlier.samples(),
                             options, unwatched);
    };
    const auto [payload, coded] = encoded(threads, kernel);
    const auto decoded = decode_blocks(payload.data(), payload.size(), plane, depth, tools, trees,
                                       earlier.samples(), threads, unwatched);
    const auto samples = shown(*decoded, plane);
    if (shown(*coded, plane) != samples) fail("blocks decode to other samples");
    if ((threads > 1 || kernel) && encoded(1, 0).first != payload)
        fail("threads or SIMD change the payload of blocks");
    filter(bytes, samples, plane, depth, threads);
}

void exact(Bytes bytes, Plane plane, int threads) {
    const LosslessShape shape{bytes.number(1, 4), plane.height, plane.width, bytes.number(1, 16)};
    const LosslessTools tools = lossless_tools(bytes, shape.depth);
    const size_t count = size_t(shape.planes * shape.plane_size());
    const auto source = samples_of<uint16_t>(bytes, count, plane.width, shape.depth);
    LosslessRates rates, again;
    std::vector<uint16_t> shown(count), found(count);
    const auto payload = encode_lossless(source.data(), shape, tools, nullptr, threads,
                                         shown.data(), unwatched, rates);
    decode_lossless(payload.data(), payload.size(), shape, tools, threads, found.data(), unwatched,
                 again);
    if (shown != found) fail("lossless samples decode to other samples");
    for (size_t i = 0; i < count; ++i)
        if (std::abs(int{source[i]} - int{found[i]}) > tools.max_error)
            fail("lossless samples are off by more than the largest error");
    if (rates.map != again.map || rates.residual != again.residual)
        fail("rates of lossless samples differ");
}

}  // namespace

int run_input(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    const auto coding = Coding(bytes.number(0, kCodings - 1));
    const int threads = threads_of(bytes);
    const int kernel = bytes.number(0, 3);
    Plane plane = plane_of(bytes);
    plane.width = std::min(plane.width, 3000), plane.height = std::min(plane.height, 3000);
    switch (coding) {
        case Coding::kTrees: trees(bytes, plane, threads, kernel); break;
        case Coding::kBlocks: blocks(bytes, plane, Depth<uint8_t>(), threads, kernel); break;
        case Coding::kDeepBlocks: {
            const int depth = bytes.number(9, 16);
            blocks(bytes, plane, Depth<uint16_t>(depth), threads, kernel);
            break;
        }
        default: exact(bytes, plane, threads);
    }
    return 0;
}

}  // namespace mmp
