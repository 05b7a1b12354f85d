#include "cpu/lossless/codec.h"

#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "cpu/lossless/fast_coder.h"
#include "cpu/lossless/fit.h"
#include "cpu/lossless/pixels/block_choice.h"
#include "cpu/lossless/pixels/blocks.h"
#include "cpu/lossless/pixels/pixel_coder.h"
#include "cpu/lossless/plane_coder.h"
#include "cpu/lossless/source_colours/corrections.h"
#include "cpu/lossless/stream_coder.h"
#include "cpu/lossless/two_values/periods.h"
#include "cpu/lossless/two_values/plane.h"
#include "cpu/lossless/values.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

namespace {

constexpr char kSection[] = "Lossless samples";
constexpr char kTwoValuesSection[] = "Two values";
constexpr int kStrip = 16;  // rows between calls of progress, which counts 16x16 fragments
constexpr int kFast = 1;      // the form of the fast mode
constexpr int kRowsBehind = 2;  // a plane reads one row below its own of the planes before it

struct RowCoder {
    virtual ~RowCoder() = default;
    virtual void code_row(int row) = 0;
};

}  // namespace

struct TwoValuesRows : RowCoder {
    virtual void begin(TwoValuesPlane<StreamCoder> plane) = 0;
    // Returns the pixels of a row of the plane that was begun last.
    virtual const uint8_t* row(int row) const = 0;
};

namespace {

// Codes the pixels of the blocks that repeat, by the settings of a form.
template <int Form>
class Repeating {
public:
    Repeating(const pixels::ColourShape& shape, const pixels::Blocks& blocks, StreamCoder& coder,
              int width, int height)
        : blocks_(blocks), pixels_(shape, width, height, coder), width_(width) {}

    // The colours of a row are given if they are written.
    MMP_INLINE void code_row(int row, const pixels::Colour* given) {
        pixels_.begin_row(row);
        for (int column = 0, end; column < width_; column = end) {
            end = blocks_.end_of(row, column);
            if (blocks_.repeats(row, column))
                pixels_.code_pixels(column, end, given);
            else
                pixels_.leave(column, end);
        }
        pixels_.end_row();
    }
    const pixels::Colour* row(int row) { return pixels_.rows().at(row, 0); }

private:
    const pixels::Blocks& blocks_;
    pixels::PixelCoder<StreamCoder, pixels::kSettings[Form - 1]> pixels_;
    const int width_;
};

template <int Models>
using Coder = PlaneCoder<StreamCoder, Models>;
template <class Sum>
using Fast = FastCoder<StreamCoder, Sum>;

// Template functions cannot be compiled for several SIMD levels. Inlined, the arithmetic could move
// to before the change of the rounding.
template <int Form>
using TwoValues = TwoValuesCoder<StreamCoder, Form>;

#define MMP_CODE_ROW(...)                                                               \
    MMP_SIMD_LEVELS __attribute__((noinline)) void code_row(__VA_ARGS__& one, int row) { \
        one.code_row(row);                                                              \
    }
MMP_CODE_ROW(Fast<int32_t>)
MMP_CODE_ROW(Fast<int64_t>)
MMP_CODE_ROW(Coder<8>)
MMP_CODE_ROW(Coder<24>)
MMP_CODE_ROW(TwoValues<1>)
MMP_CODE_ROW(TwoValues<2>)
MMP_CODE_ROW(TwoValues<3>)

#define MMP_CODE_PIXELS(Form)                                                             \
    MMP_SIMD_LEVELS __attribute__((noinline)) void code_pixels(                           \
        Repeating<Form>& one, int row, const pixels::Colour* given) {                     \
        one.code_row(row, given);                                                         \
    }
MMP_CODE_PIXELS(1)
MMP_CODE_PIXELS(2)
MMP_CODE_PIXELS(3)

template <class One, class Base = RowCoder>
class RowsOf : public Base {
public:
    template <class... Arguments>
    explicit RowsOf(Arguments&&... arguments) : one_(std::forward<Arguments>(arguments)...) {}

    void code_row(int row) override {
        const Nearest nearest;
        // Called directly, a function of several SIMD levels is taken for one that throws nothing.
        void (*volatile code)(One&, int) = mmp::code_row;
        code(one_, row);
    }

protected:
    One one_;
};

template <int Form>
class TwoValuesRowsOf : public RowsOf<TwoValues<Form>, TwoValuesRows> {
public:
    using RowsOf<TwoValues<Form>, TwoValuesRows>::RowsOf;

    void begin(TwoValuesPlane<StreamCoder> plane) override { this->one_.begin(std::move(plane)); }
    const uint8_t* row(int row) const override { return this->one_.row(row); }
};

// A plane and what codes it.
struct Part {
    std::unique_ptr<StreamCoder> coder;
    int height = 0, width = 0;
    std::vector<int> before;  // numbers of the planes that predict it, the last one first
    const uint16_t* given = nullptr;  // samples to encode
    std::vector<uint16_t> values;
    std::unique_ptr<LosslessPlane> plane;
    std::shared_ptr<RowCoder> rows;         // none if the plane has one value
    const TwoValuesRows* pixels = nullptr;  // instead of a plane, if it is alone with two values
    int ink = 0;                            // number of the value of pixels that are 1
    int64_t map_rate = 0;
};

std::unique_ptr<RowCoder> rows_of(const std::vector<Part>& parts, int number,
                                  const LosslessTools& tools, const pixels::Blocks* blocks) {
    const std::vector<int>& numbers = parts[number].before;
    PlanesBeside planes{parts[number].plane.get(), {nullptr, nullptr}, int(numbers.size())};
    for (int back = 0; back < planes.count; ++back)
        planes.before[back] = parts[numbers[back]].plane.get();
    LosslessPlane& own = *parts[number].plane;
    StreamCoder& coder = *parts[number].coder;
    const auto make = [&]<class One>() -> std::unique_ptr<RowCoder> {
        return std::make_unique<RowsOf<One>>(planes, own, tools, blocks, coder);
    };
    if (tools.form == kFast)
        return planes.bits() <= 8 ? make.template operator()<Fast<int32_t>>()
                                  : make.template operator()<Fast<int64_t>>();
    return tools.form == 2 ? make.template operator()<Coder<8>>()
                           : make.template operator()<Coder<24>>();
}

std::shared_ptr<TwoValuesRows> two_values_rows(const LosslessShape& shape,
                                               const LosslessTools& tools) {
    const LosslessChain alone{shape.width, shape.height};
    const LosslessChain& chain = tools.chain ? *tools.chain : alone;
    const int line_bits = line_bits_of(shape.height, shape.width);
    const auto make = [&]<int Form>() -> std::shared_ptr<TwoValuesRows> {
        return std::make_shared<TwoValuesRowsOf<Form>>(chain.most_width, chain.most_rows,
                                                        line_bits);
    };
    switch (tools.form) {
        case 1: return make.template operator()<1>();
        case 2: return make.template operator()<2>();
        default: return make.template operator()<3>();
    }
}

// Codes what precedes the pixels of a plane of two values that is alone.
void begin_two_values(Part& part, const uint16_t* given, const LosslessShape& shape,
                      const LosslessTools& tools) {
    StreamCoder& coder = *part.coder;
    const int64_t count = shape.plane_size();
    const int64_t second = given ? std::count(given, given + count, part.values[1]) : 0;
    part.ink = coder.map_bit(kBitTotal / 2, 2 * second <= count);
    TwoValuesPlane<StreamCoder> plane{shape.height, shape.width, {}, nullptr, &coder};
    if (given) {
        plane.given = std::make_unique<BitRows>(shape.width, shape.height);
        for (int row = 0; row < shape.height; ++row)
            plane.given->set_row(row, given + int64_t{row} * shape.width, shape.width,
                                 part.values[part.ink]);
        plane.periods = periods_of(given, shape.height, shape.width);
    }
    plane.periods.columns = 1 + int(coder.plain(plane.periods.columns - 1, 2));
    plane.periods.rows = 1 + int(coder.plain(plane.periods.rows - 1, 2));
    if (tools.chain && shape.width > tools.chain->most_width)
        throw std::invalid_argument("width is above most_width of the chain");
    std::shared_ptr<TwoValuesRows> rows = tools.chain ? std::move(tools.chain->rows) : nullptr;
    const bool continues = rows != nullptr;
    if (coder.plain(continues, 1) != continues)
        throw CorruptPayload(continues ? "the plane begins anew, but continues another one"
                                       : "the plane continues another one, which is not given",
                             kTwoValuesSection);
    part.map_rate = coder.rate();
    coder.cells.start_at(part.map_rate);
    if (!continues) rows = two_values_rows(shape, tools);
    rows->begin(std::move(plane));
    part.pixels = rows.get();
    part.rows = std::move(rows);
}

// Whether fewer than half of the samples are equal to the one left of them.
bool is_noisy(const LosslessPlane& plane) {
    int64_t equal = 0;
    for (int row = 0; row < plane.height(); ++row)
        for (int column = 1; column < plane.width(); ++column)
            equal += *plane.sample(row, column) == *plane.sample(row, column - 1);
    return 2 * equal < int64_t{plane.height()} * plane.width();
}

// Whether the pixels of a picture may be coded whole.
bool may_repeat(const std::vector<Part>& parts, const LosslessTools& tools) {
    if (tools.max_error) return false;
    return std::any_of(parts.begin(), parts.end(),
                       [](const Part& part) { return part.plane && part.plane->most > 0; });
}

pixels::ColourShape colours_of(const std::vector<Part>& parts) {
    pixels::ColourShape shape;
    for (const Part& part : parts) shape.add(part.plane->most);
    return shape;
}

// Returns the colours of all pixels, row by row.
std::vector<pixels::Colour> packed(const std::vector<Part>& parts, const LosslessShape& shape) {
    const pixels::ColourShape colours = colours_of(parts);
    std::vector<pixels::Colour> found(size_t(shape.plane_size()));
    for (size_t k = 0; k < parts.size(); ++k) {
        auto to = found.begin();
        for (int row = 0; row < shape.height; ++row) {
            const int32_t* samples = parts[k].plane->sample(row, 0);
            for (int column = 0; column < shape.width; ++column)
                *to++ |= colours.part(samples[column], int(k));
        }
    }
    return found;
}

// Codes which blocks repeat; returns none if no block does.
std::optional<pixels::Blocks> code_blocks(StreamCoder& coder,
                                          const std::vector<pixels::Colour>& given,
                                          const pixels::ColourShape& colours,
                                          const LosslessShape& shape, int form) {
    pixels::Blocks blocks(shape.width, shape.height);
    if (!given.empty())
        blocks = pixels::repeating_blocks(given, colours, shape.width, shape.height, form);
    if (!coder.map_bit(kBitTotal / 2, blocks.any(true))) return std::nullopt;
    blocks.code(coder);
    return blocks;
}

template <int Form>
void code_pixels_by(std::vector<Part>& parts, const std::vector<pixels::Colour>& given,
                    const pixels::Blocks& blocks, const LosslessShape& shape,
                    const std::function<void(int)>& at_row) {
    const pixels::ColourShape colours = colours_of(parts);
    const auto one = std::make_unique<Repeating<Form>>(colours, blocks, *parts[0].coder,
                                                       shape.width, shape.height);
    void (*volatile code)(Repeating<Form>&, int, const pixels::Colour*) = code_pixels;
    for (int row = 0; row < shape.height; ++row) {
        at_row(row);
        code(*one, row, given.empty() ? nullptr : &given[size_t(row) * shape.width]);
        if (!given.empty()) continue;
        const pixels::Colour* found = one->row(row);
        for (size_t k = 0; k < parts.size(); ++k) {
            int32_t* samples = parts[k].plane->sample(row, 0);
            for (int column = 0; column < shape.width; ++column)
                if (blocks.repeats(row, column))
                    samples[column] = colours.sample(found[column], int(k));
        }
    }
}

// Codes the pixels of the blocks that repeat.
void code_pixels(std::vector<Part>& parts, const std::vector<pixels::Colour>& given,
                 const pixels::Blocks& blocks, const LosslessShape& shape,
                 const LosslessTools& tools, const std::function<void(int)>& at_row) {
    switch (tools.form) {
        case 1: return code_pixels_by<1>(parts, given, blocks, shape, at_row);
        case 2: return code_pixels_by<2>(parts, given, blocks, shape, at_row);
        default: return code_pixels_by<3>(parts, given, blocks, shape, at_row);
    }
}

// Codes the rows of all planes. Several threads code a plane each, two rows behind the one before;
// one codes plane after plane, whose models then share no cache.
void code_rows(std::vector<Part>& parts, const LosslessShape& shape, int threads,
               const std::function<void(int64_t)>& progress) {
    const int count = int(parts.size());
    const int64_t across = cells_along(shape.width);
    if (std::min(threads, count) <= 1) {
        for (int number = 0; number < count; ++number)
            for (int row = 0; row < shape.height; ++row) {
                if (row % kStrip == 0)
                    progress(across * (number * int64_t{cells_along(shape.height)} + row / kStrip));
                if (row < parts[number].height && parts[number].rows)
                    parts[number].rows->code_row(row);
            }
        return;
    }
    ThreadTeam team(std::min(threads, count));
    // A fault of a plane is thrown after the planes before it have ended, as with one thread.
    std::vector<std::exception_ptr> faults(parts.size());
    uint32_t sound = uint32_t(count);  // planes before the first one with a fault
    const int last = shape.height + kRowsBehind * (count - 1);
    for (int turn = 0; turn < last; ++turn) {
        if (turn % kStrip == 0)
            progress(across * count * (turn / kStrip));
        team.run(sound, [&](uint32_t number) {
            const int row = turn - kRowsBehind * int(number);
            if (row < 0 || row >= parts[number].height || !parts[number].rows) return;
            try {
                parts[number].rows->code_row(row);
            } catch (...) {
                faults[number] = std::current_exception();
            }
        });
        while (sound && std::any_of(faults.begin(), faults.begin() + sound, std::identity{}))
            --sound;
        if (!sound) break;
    }
    if (sound < faults.size()) std::rethrow_exception(faults[sound]);
}

// Codes what red, green and blue were made from, and gives each plane its size and its samples.
SourceColours begin_planes(std::vector<Part>& parts, const uint16_t* given,
                           const SourcePlanes* source, const LosslessShape& shape,
                           const LosslessTools& tools) {
    SourceColours colours = source ? source->colours : SourceColours{};
    constexpr int kLeast = SourceColours::kLeastSize;
    const bool has_colours = shape.planes >= 3 && shape.depth == 8 && !tools.max_error;
    if (has_colours && std::min(shape.height, shape.width) >= kLeast)
        colours = code_colours(*parts[0].coder, colours);
    for (int number = 0; number < int(parts.size()); ++number) {
        Part& part = parts[number];
        part.height = shape.height, part.width = shape.width;
        if (given) part.given = given + number * shape.plane_size();
        for (int back = 1; back <= std::min(number, 2); ++back) part.before.push_back(number - back);
        if (!colours.kind || number > 2) continue;
        if (number) {
            part.height = colours.count(SourceColours::kRows, shape.height);
            part.width = colours.count(SourceColours::kColumns, shape.width);
            part.coder->row_step = 1 + colours.halved[SourceColours::kRows];
            part.coder->column_step = 1 + colours.halved[SourceColours::kColumns];
        }
        if (source) part.given = (number ? source->chroma[number - 1] : source->luma).data();
    }
    // Planes of other sizes predict nothing.
    if (colours.any_halved()) {
        parts[1].before = {}, parts[2].before = {1};
        if (parts.size() > 3) parts[3].before = {0};
    }
    return colours;
}

// Codes what precedes the rows of a plane.
void begin_plane(Part& part, int count, const LosslessShape& shape, const LosslessTools& tools) {
    const int64_t size = int64_t{part.height} * part.width;
    if (tools.max_error) {
        part.values.resize(size_t{1} << shape.depth);
        std::iota(part.values.begin(), part.values.end(), 0);
    } else {
        part.values = code_values(*part.coder, part.given, size, shape.depth);
    }
    if (count == 1 && !tools.max_error && part.values.size() == 2) {
        begin_two_values(part, part.given, shape, tools);
        return;
    }
    if (tools.chain)
        throw CorruptPayload("the plane has " + std::to_string(part.values.size()) +
                                 " values, those of a chain have 2",
                             kTwoValuesSection);
    const int most = int(part.values.size()) - 1;
    part.plane = std::make_unique<LosslessPlane>(part.height, part.width, most);
    if (part.given) {
        std::vector<int32_t> number_of(size_t{1} << shape.depth);
        for (int i = 0; i <= most; ++i) number_of[part.values[i]] = i;
        const uint16_t* samples = part.given;
        for (int row = 0; row < part.height; ++row)
            for (int column = 0; column < part.width; ++column)
                *part.plane->sample(row, column) = number_of[*samples++];
    }
}

SourceColours code_planes(std::vector<Part>& parts, const uint16_t* given,
                          const SourcePlanes* source, const LosslessShape& shape,
                          const LosslessTools& tools, int threads, const Progress& progress) {
    const int count = int(parts.size());
    const SourceColours colours = begin_planes(parts, given, source, shape, tools);
    for (Part& part : parts) begin_plane(part, count, shape, tools);
    std::vector<pixels::Colour> whole;
    std::optional<pixels::Blocks> blocks;
    if (!colours.kind && may_repeat(parts, tools)) {
        if (given) whole = packed(parts, shape);
        blocks = code_blocks(*parts[0].coder, whole, colours_of(parts), shape,
                             tools.form);
    }
    const bool all_repeat = blocks && !blocks->any(false);
    for (Part& part : parts) {
        if (!part.plane) continue;
        if (tools.form != kFast && part.plane->most > 0 && !all_repeat)
            part.plane->noisy = part.coder->map_bit(kBitTotal / 2, given && is_noisy(*part.plane));
        part.map_rate = part.coder->rate();
        part.coder->cells.start_at(part.map_rate);
    }
    const int64_t across = cells_along(shape.width), squares = across * cells_along(shape.height);
    const int64_t total = squares * (count + blocks.has_value());
    if (blocks) {
        code_pixels(parts, whole, *blocks, shape, tools, [&](int row) {
            if (row % kStrip == 0) progress(across * (row / kStrip), total);
        });
        whole = {};
    }
    for (int number = 0; number < count; ++number)
        if (parts[number].plane && parts[number].plane->most > 0 && !all_repeat)
            parts[number].rows = rows_of(parts, number, tools, blocks ? &*blocks : nullptr);
    const int64_t before = blocks ? squares : 0;
    if (!all_repeat)
        code_rows(parts, shape, threads, [&](int64_t done) {
            progress(std::min(total, before + done), total);
        });
    progress(total, total);
    if (tools.chain) tools.chain->rows = std::static_pointer_cast<TwoValuesRows>(parts[0].rows);
    return colours;
}

// Corrections of a chroma plane in order: encodes those that are given, or decodes them.
class Corrections {
public:
    Corrections(StreamCoder& coder, const std::vector<Correction>* given, int64_t pixels)
        : coder_(coder, pixels), given_(given) {
        advance();
    }
    // Returns what is added at a place; those before were asked for.
    int at(int64_t place) {
        if (!has_next_ || next_.place != place) return 0;
        const int difference = next_.difference;
        advance();
        return difference;
    }

private:
    void advance() {
        const bool ends = given_ && index_ == given_->size();
        has_next_ = coder_.code(given_ && !ends ? &(*given_)[index_++] : nullptr, next_);
    }

    CorrectionCoder<StreamCoder> coder_;
    const std::vector<Correction>* given_;
    size_t index_ = 0;
    Correction next_{};
    bool has_next_ = false;
};

void copy_plane(const Part& part, uint16_t* to) {
    for (int row = 0; row < part.height; ++row) {
        const uint8_t* pixels = part.pixels ? part.pixels->row(row) : nullptr;
        for (int column = 0; column < part.width; ++column)
            *to++ = part.values[pixels ? int(bits(pixels, column, 1)) ^ !part.ink
                                       : *part.plane->sample(row, column)];
    }
}

// Makes planes of green, red and blue from those of luma and chroma, whose samples are lost.
void copy_colours(std::vector<Part>& parts, const SourceColours& colours,
                  const SourcePlanes* source, const LosslessShape& shape, uint16_t* to) {
    for (int number = 1; number < 3; ++number) {
        Part& part = parts[number];
        for (int row = 0; row < part.height; ++row) {
            int32_t* samples = part.plane->sample(row, 0);
            for (int column = 0; column < part.width; ++column)
                samples[column] = part.values[samples[column]];
        }
    }
    const auto plane = [&](int number) {
        const LosslessPlane& own = *parts[number].plane;
        return ChromaPlane<int32_t>(colours, own.sample(0, 0), own.stride());
    };
    const ChromaPlane<int32_t> first = plane(1), second = plane(2);
    std::optional<Corrections> corrections[2];
    const int64_t size = shape.plane_size();
    for (int k = 0; k < 2 && colours.any_halved(); ++k)
        corrections[k].emplace(*parts[k + 1].coder, source ? &source->corrections[k] : nullptr,
                               size);
    for (int row = 0; row < shape.height; ++row)
        for (int column = 0; column < shape.width; ++column) {
            const int64_t place = int64_t{row} * shape.width + column;
            int chroma[2] = {first.at(row, column), second.at(row, column)};
            for (int k = 0; k < 2 && corrections[k]; ++k)
                chroma[k] = std::clamp(chroma[k] + corrections[k]->at(place), 0, 255);
            const int luma = parts[0].values[*parts[0].plane->sample(row, column)];
            const auto [red, green, blue] = colours.pixel(luma, {chroma[0], chroma[1]});
            to[place] = green, to[size + place] = red, to[2 * size + place] = blue;
        }
}

// Gives the decoded samples, and the rates of all planes.
void finish_planes(std::vector<Part>& parts, const SourceColours& colours,
                   const SourcePlanes* source, const LosslessShape& shape, uint16_t* to,
                   LosslessRates& rates) {
    const int made = colours.kind ? 3 : 0;
    if (made) copy_colours(parts, colours, source, shape, to);
    for (int number = made; number < int(parts.size()); ++number)
        copy_plane(parts[number], to + number * shape.plane_size());
    rates.cells.emplace(shape.height, shape.width);
    for (Part& part : parts) {
        rates.map += part.map_rate, rates.residual += part.coder->rate() - part.map_rate;
        rates.cells->add(part.coder->cells);
    }
}

// Reads the size of a stream: a number, as section "Container" of docs/format/format.md defines it.
uint64_t read_size(const uint8_t*& from, const uint8_t* end, int stream) {
    constexpr int kMostBytes = 9;
    const std::string name = "size of stream " + std::to_string(stream);
    uint64_t value = 0;
    for (int i = 0; i < kMostBytes; ++i) {
        if (from == end) throw TruncatedPayload("payload ends within the " + name, kSection);
        const uint8_t byte = *from++;
        value |= uint64_t(byte & 127) << (7 * i);
        if (byte < 128) {
            if (i > 0 && byte == 0) break;
            return value;
        }
    }
    throw CorruptPayload(name + " is not a number in shortest form", kSection);
}

}  // namespace

std::vector<uint8_t> encode_lossless(const uint16_t* samples, const LosslessShape& shape,
                                    const LosslessTools& tools, const SourcePlanes* source,
                                    int threads, uint16_t* decoded, const Progress& progress,
                                    LosslessRates& rates) {
    std::vector<Part> parts(shape.planes);
    for (Part& part : parts) part.coder = std::make_unique<StreamCoder>(shape);
    const SourceColours colours =
        code_planes(parts, samples, source, shape, tools, threads, progress);
    finish_planes(parts, colours, source, shape, decoded, rates);
    std::vector<uint8_t> payload;
    for (int number = 0; number < shape.planes; ++number) {
        size_t size = parts[number].coder->encoder.finish().size();
        if (number == shape.planes - 1) break;
        for (; size > 127; size >>= 7) payload.push_back(uint8_t(size & 127) | 128);
        payload.push_back(uint8_t(size));
    }
    for (Part& part : parts) {
        const std::vector<uint8_t>& stream = part.coder->encoder.payload();
        payload.insert(payload.end(), stream.begin(), stream.end());
    }
    return payload;
}

void decode_lossless(const uint8_t* payload, size_t size, const LosslessShape& shape,
                    const LosslessTools& tools, int threads, uint16_t* samples,
                    const Progress& progress, LosslessRates& rates) {
    const uint8_t *from = payload, *end = payload + size;
    std::vector<uint64_t> sizes(shape.planes);
    for (int number = 0; number < shape.planes - 1; ++number)
        sizes[number] = read_size(from, end, number);
    std::vector<Part> parts(shape.planes);
    for (int number = 0; number < shape.planes; ++number) {
        const size_t left = size_t(end - from);
        if (number == shape.planes - 1) sizes[number] = left;
        if (sizes[number] > left)
            throw TruncatedPayload("stream " + std::to_string(number) + " has " +
                                       std::to_string(sizes[number]) + " bytes, the payload has " +
                                       std::to_string(left) + " left",
                                   kSection);
        parts[number].coder = std::make_unique<StreamCoder>(shape, from, size_t(sizes[number]));
        from += sizes[number];
    }
    const SourceColours colours =
        code_planes(parts, nullptr, nullptr, shape, tools, threads, progress);
    finish_planes(parts, colours, nullptr, shape, samples, rates);
    for (Part& part : parts) part.coder->decoder.finish();
}

}  // namespace mmp
