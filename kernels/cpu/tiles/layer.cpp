#include "cpu/tiles/layer.h"

#include <string.h>

#include "cpu/blocks/codec.h"
#include "cpu/trees/decoder.h"
#include "shared/blocks/steps.h"

namespace mmp {

namespace {

constexpr int kMostTreeThreads = 4;  // more find too little work within a 16x16 fragment

template <class T, class Values>
LayerRecord::Table<T> table_of(int rows, int columns, const Values& values) {
    return {rows, columns, {values.begin(), values.end()}};
}

LayerRecord::Table<int64_t> table_of(const CellRates& cells) {
    return {cells.rows(), cells.columns(), cells.rates()};
}

void record_trees(const Picture& picture, LayerRecord& record) {
    const int8_t* scales = picture.leaf_scales();
    const int rows = picture.padded_height, columns = picture.padded_width;
    record.leaf_scales = {rows, columns, {scales, scales + size_t(rows) * columns}};
    const auto sizes = picture.dictionary_sizes();
    record.dictionary_sizes.assign(sizes.begin(), sizes.end());
}

template <class Sample>
void record_blocks(const CodedBlocks<Sample>& coded, LayerRecord& record) {
    record.rates.assign(coded.tally.rate.begin(), coded.tally.rate.end());
    if (coded.trees) {
        const Picture& trees = coded.trees->picture;
        for (int syntax = 0; syntax < kSyntaxElements; ++syntax)
            record.rates[syntax] += trees.models.tally.rate[syntax];
        record_trees(trees, record);
        record.leaf_scales.rows = coded.picture.height;
        record.leaf_scales.columns = coded.picture.width;
    }
    const int rows = coded.picture.height >> kUnitLog2, columns = coded.picture.width >> kUnitLog2;
    const auto* units = reinterpret_cast<const uint8_t*>(&coded.picture.unit(0, 0));
    record.units = {rows, columns, {units, units + size_t(rows) * columns * sizeof(Unit)}};
    const StepChanges& changes = coded.changes;
    record.changes = table_of<int8_t>(changes.rows(), changes.columns(), changes.values());
    record.cells = table_of(coded.cells);
}

// The steps of the fragments of a plane; `numbers` holds what the result refers to.
PlaneSteps steps_of(const BlockTools& tools, const StepChanges& changes,
                    std::vector<uint8_t>& numbers) {
    constexpr int64_t kWholePlane = int64_t{1} << 30;  // one fragment of this size covers any plane
    if (!tools.delta_step) {
        numbers.assign(1, 0);
        return {kWholePlane, 1, numbers.data(), {tools.step}};
    }
    constexpr int kChanges = 2 * kMostChange + 1;
    std::vector<int> number_of(kChanges, -1);
    for (const int8_t change : changes.values()) number_of[change + kMostChange] = 0;
    std::vector<int> distinct;
    for (int i = 0; i < kChanges; ++i) {
        if (number_of[i] < 0) continue;
        number_of[i] = int(distinct.size());
        distinct.push_back(step_at(tools.step, i - kMostChange));
    }
    numbers.clear();
    for (const int8_t change : changes.values())
        numbers.push_back(uint8_t(number_of[change + kMostChange]));
    return {tools.fragment_size, changes.columns(), numbers.data(), distinct};
}

BankScaling scales_of(int value) {
    BankScaling scales;
    for (int activity = 0; activity < kBankActivities; ++activity)
        scales[activity] = value >> 2 * activity & 3;
    return scales;
}

// Decodes the samples of a plane, and filters them.
template <class Sample>
class LayerDecoder {
public:
    LayerDecoder(const CodedLayer& layer, Depth<Sample> depth,
                 const std::vector<DecodedPlane>& earlier, const LayerSetting& setting,
                 LayerRecord* record)
        : layer_(layer), depth_(depth), setting_(setting), record_(record) {
        for (const DecodedPlane& plane : earlier)
            earlier_.push_back(static_cast<const Sample*>(plane.samples));
    }

    DecodedPlane operator()(const Tools& tools) {
        const auto& [plane, threads, helpers, progress] = setting_;
        const auto coded = decode(layer_.payload.data, layer_.payload.size, plane, tools,
                                  std::min(threads, kMostTreeThreads), progress);
        if (record_) {
            const auto& rates = coded->models.tally.rate;
            record_->rates.assign(rates.begin(), rates.end());
            record_trees(*coded, *record_);
            record_->cells = table_of(coded->cells);
        }
        if constexpr (kIsByte<Sample>) coded->copy_samples(plane, taken());
        return finished();
    }

    DecodedPlane operator()(const LosslessTools& tools) {
        const Plane& plane = setting_.plane;
        const std::vector<uint16_t> samples =
            decode_samples(layer_.payload, {1, plane.height, plane.width, depth_.bits()}, tools,
                           setting_.threads, setting_.progress, record_);
        std::copy(samples.begin(), samples.end(), taken());
        return finished();
    }

    DecodedPlane operator()(const BlockLayerTools& tools) {
        const auto& [plane, threads, helpers, progress] = setting_;
        EarlierSamples<Sample> predicting(earlier_.begin(),
                                          earlier_.begin() + tools.blocks.cross_component);
        auto coded = decode_blocks(layer_.payload.data, layer_.payload.size, plane, depth_,
                                   tools.blocks, tools.trees, predicting, threads, progress,
                                   record_ != nullptr);
        if (record_) record_blocks(*coded, *record_);
        coded->trees.reset();  // dictionaries take much memory
        std::vector<uint8_t> numbers;
        const PlaneSteps steps = steps_of(tools.blocks, coded->changes, numbers);
        samples_ = coded->picture.at(BlockPlace{});
        stride_ = coded->picture.stride();
        owner_ = std::move(coded);
        if (const int bank = tools.blocks.fixed_filters)
            filter([&](const auto& picture, RowRange rows, Sample* out) {
                fixed_filters(picture, steps, scales_of(bank), rows, out);
            });
        return finished();
    }

private:
    // Makes the memory of the next samples.
    Sample* taken() {
        const size_t count = size_t(setting_.plane.height) * setting_.plane.width;
        std::shared_ptr<Sample[]> made(new Sample[count]);
        samples_ = made.get();
        stride_ = setting_.plane.width;
        owner_ = made;
        return made.get();
    }

    // One band without padding is filtered in place. Several need the samples of each other before
    // the filter.
    template <class Filter>
    void filter(const Filter& apply) {
        const auto before = owner_;
        const FilterPicture<Sample> picture{samples_, setting_.plane.height, setting_.plane.width,
                                            depth_, stride_};
        const int64_t bands = bands_of(picture.height, setting_.helpers);
        Sample* const out = bands == 1 && !padded() ? samples_ : taken();
        in_bands(picture.height, bands, setting_.helpers,
                 [&](RowRange rows) { apply(picture, rows, out); });
    }

    // Applies the filters whose coefficients the layer has.
    DecodedPlane finished() {
        if (layer_.post_filter) {
            const auto& table = *reinterpret_cast<const FilterTable*>(layer_.post_filter->data());
            filter([&](const auto& picture, RowRange rows, Sample* out) {
                post_filter(picture, table, rows, out);
            });
        }
        if (!layer_.planes_read.empty()) {
            FilterPlanes<Sample> planes{{}, int(layer_.planes_read.size())};
            for (int i = 0; i < planes.count; ++i)
                planes.samples[i] = earlier_[layer_.planes_read[i]];
            filter([&](const auto& picture, RowRange rows, Sample* out) {
                cross_component_filter(picture, planes, layer_.plane_weights.data(), rows, out);
            });
        }
        if (padded()) remove_padding();
        return {owner_, samples_};
    }

    bool padded() const { return stride_ != setting_.plane.width; }
    void remove_padding() {
        const auto before = owner_;
        const Sample* row = samples_;
        const int64_t stride = stride_;
        Sample* out = taken();
        for (int i = 0; i < setting_.plane.height; ++i, row += stride)
            out = std::copy_n(row, setting_.plane.width, out);
    }

    const CodedLayer& layer_;
    const Depth<Sample> depth_;
    const LayerSetting& setting_;
    LayerRecord* const record_;
    std::vector<const Sample*> earlier_;
    std::shared_ptr<const void> owner_;
    Sample* samples_ = nullptr;
    int64_t stride_ = 0;
};

}  // namespace

std::vector<uint16_t> decode_samples(const Payload& payload, const LosslessShape& shape,
                                     const LosslessTools& tools, int threads,
                                     const Progress& progress, LayerRecord* record) {
    LosslessRates rates;
    std::vector<uint16_t> samples(size_t(shape.planes) * shape.plane_size());
    decode_lossless(payload.data, payload.size, shape, tools, threads, samples.data(), progress,
                    rates);
    if (record) {
        record->rates = {rates.map, rates.residual};
        record->cells = table_of(*rates.cells);
    }
    return samples;
}

DecodedPlane decode_layer(const CodedLayer& layer, int planes, int depth,
                          const std::vector<DecodedPlane>& earlier, const LayerSetting& setting,
                          LayerRecord* record) {
    const auto* lossless = std::get_if<LosslessTools>(&layer.tools);
    if (lossless && planes > 1) {
        const LosslessShape shape{planes, setting.plane.height, setting.plane.width, depth};
        auto samples = std::make_shared<std::vector<uint16_t>>(decode_samples(
            layer.payload, shape, *lossless, setting.threads, setting.progress, record));
        return {samples, samples->data()};
    }
    if (depth > 8)
        return std::visit(
            LayerDecoder<uint16_t>(layer, Depth<uint16_t>(depth), earlier, setting, record),
            layer.tools);
    // Lossless samples can have fewer bits than a byte; Depth<uint8_t> always has 8.
    if (lossless && depth < 8) {
        const LosslessShape shape{1, setting.plane.height, setting.plane.width, depth};
        const std::vector<uint16_t> samples = decode_samples(
            layer.payload, shape, *lossless, setting.threads, setting.progress, record);
        auto bytes = std::make_shared<std::vector<uint8_t>>(samples.begin(), samples.end());
        return {bytes, bytes->data()};
    }
    return std::visit(LayerDecoder<uint8_t>(layer, Depth<uint8_t>(), earlier, setting, record),
                      layer.tools);
}

}  // namespace mmp
