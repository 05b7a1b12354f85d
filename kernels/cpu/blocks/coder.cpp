#include "cpu/blocks/coder.h"

#include <algorithm>
#include <utility>

#include "cpu/blocks/quantisation_matrix.h"
#include "cpu/blocks/trained_transforms.h"

namespace mmp {

template <class Sample>
Predictor<Sample>::Predictor(const BlockTools& tools, const BlockPicture<Sample>& picture,
                             const BlockPlace& block)
    : tools_(tools),
      picture_(picture),
      block_(block),
      references_(picture.references(block)),
      decoded_(picture) {
    smooth_references();
}

template <class Sample>
Predictor<Sample>::Predictor(const BlockTools& tools, const BlockPicture<Sample>& picture,
                             const BlockPlace& block, int above, int left, Decoded decoded)
    : tools_(tools),
      picture_(picture),
      block_(block),
      references_(picture.references(block, above, left)),
      decoded_(decoded) {
    smooth_references();
}

template <class Sample>
void Predictor<Sample>::smooth_references() {
    const int length = block_.height() + block_.width();
    if (length >= kSmoothedFrom) references_.smooth(length, smooth_);
}

namespace {

// Predicts from the references; smooth references only if the mode needs them.
template <class Sample>
void predict_from_references(const BlockTools& tools, const References<Sample>& references,
                             const References<Sample>& smooth, const BlockPlace& block, int mode,
                             Depth<Sample> depth, Sample* out) {
    predict_block(mode, references, smooth, block.a, block.b, depth, out);
    if (tools.pdpc) blend_block(mode, references, smooth, block.a, block.b, depth, out);
}

// Predicts by a mode that has no references; returns whether it did.
template <class Sample>
bool predict_otherwise(const BlockTools& tools, const BlockPicture<Sample>& picture,
                       const BlockPlace& block, int mode, const Decoded& decoded, Sample* out) {
    if (from_planes(mode))
        predict_from_planes(picture, block, mode, tools.cross_component, out);
    else if (mode == kTemplates)
        predict_templates(picture, block, tools.templates, decoded, out);
    else
        return false;
    return true;
}

}  // namespace

template <class Sample>
void Predictor<Sample>::predict(int mode, Sample* out) const {
    if (!predict_otherwise(tools_, picture_, block_, mode, decoded_, out))
        predict_from_references(tools_, references_, smooth_, block_, mode, picture_.depth, out);
}

template <class Sample>
void predict_mode(const BlockTools& tools, const BlockPicture<Sample>& picture,
                  const BlockPlace& block, int mode, Sample* out) {
    if (predict_otherwise(tools, picture, block, mode, Decoded(picture), out)) return;
    const References<Sample> references = picture.references(block);
    References<Sample> smooth;
    if (uses_smooth(mode, block.a, block.b))
        references.smooth(block.height() + block.width(), smooth);
    predict_from_references(tools, references, smooth, block, mode, picture.depth, out);
}

template <class Sample>
void rebuild(const BlockPlace& block, int mode, int type, int16_t* coefficients, Extent extent,
             const BlockTools& tools, const Sample* prediction, Depth<Sample> depth, Sample* out,
             ptrdiff_t stride) {
    if (type == kTransformSkip)
        return skip_inverse(coefficients, block.a, block.b, prediction, depth, out, stride);
    if (type == kTrained) {
        trained_inverse(coefficients, block.a, block.b, mode);
        extent = extent_of(coefficients, block.a, block.b);
    }
    if (tools.quantisation_matrix)
        unweight(coefficients, block.a, block.b, tools.quantisation_matrix);
    transform_inverse(coefficients, extent, block.a, block.b, bases_of(block, type, tools),
                      prediction, depth, out, stride);
}

#define MMP_INSTANTIATE(Sample)                                                                    \
    template class Predictor<Sample>;                                                              \
    template void predict_mode(const BlockTools&, const BlockPicture<Sample>&, const BlockPlace&,  \
                               int, Sample*);                                                      \
    template void rebuild(const BlockPlace&, int, int, int16_t*, Extent, const BlockTools&,        \
                          const Sample*, Depth<Sample>, Sample*, ptrdiff_t);
MMP_INSTANTIATE(uint8_t)
MMP_INSTANTIATE(uint16_t)

void BlockWriter::encode(int model, uint32_t one, int value) {
    const uint32_t frequency = value ? one : kBitTotal - one;
    coder_.encode(value ? 0 : one, frequency, kBitTotal);
    tally_.add(syntax_of(model), frequency, kBitTotal);
}

int BlockWriter::bit(int model, int value) {
    encode(model, models_.bits[model].one, value);
    models_.bits[model].count(value);
    return value;
}

int BlockWriter::mean_bit(int model, int other, int value) {
    encode(model, mean_probability(models_.bits[model], models_.bits[other]), value);
    models_.bits[model].count(value);
    models_.bits[other].count(value);
    return value;
}

int BlockWriter::plain(int count, int value) {
    if (count == 0) return 0;
    coder_.encode(value, 1, 1u << count);
    tally_.add(kLevelSyntax, 1, 1u << count);
    return value;
}

int BlockWriter::other(int size, const LikelyModes& likely, uint64_t allowed, int mode) {
    uint32_t weights[kModes];
    const uint32_t total = weigh_modes(models_, size, likely, allowed, weights);
    uint32_t cumulative = 0;
    for (int m = 0; m < mode; ++m) cumulative += weights[m];
    coder_.encode(cumulative, weights[mode], total);
    tally_.add(kModeSyntax, weights[mode], total);
    return mode;
}

template <class Coder>
void BlockCoder<Coder>::visit(const BlockPlace& block) {
    if (units_.is_outside(block)) return;
    BlockNode node;
    if constexpr (Coder::kWrites) node = plan_->nodes[next_++];
    const Flag forced = units_.forced_flag(block);
    node.flag = uint8_t(forced ? int(forced)
                               : code_flag(coder_, tools_, block, units_.above(block),
                                           units_.left(block), node.flag));
    if (node.flag == kLeaf) code_block(block, node);
    if constexpr (!Coder::kWrites) plan_->nodes.push_back(node);
    if (node.flag == kLeaf) return;
    for (int part = 0; part < parts_of(node.flag); ++part) visit(part_of(block, node.flag, part));
}

template <class Coder>
void BlockCoder<Coder>::code_block(const BlockPlace& block, BlockNode& node) {
    tree_.clear();
    if (trees_ && trees_->allowed(block) &&
        coder_.bit(tree_model(block.a, block.b, units_.tree_context(block)), node.kind == kTree))
        code_tree(block, node);
    else
        code_predicted(block, node);
    units_.mark(block, unit_of(block, node));
    coder_.end_block(block, trees_);
    if (trees_)
        trees_->mark(block, units_.shown_height(block), units_.shown_width(block), tree_);
}

template <class Coder>
void BlockCoder<Coder>::code_tree(const BlockPlace& block, BlockNode& node) {
    if constexpr (Coder::kWrites) {
        const auto first = plan_->trees.begin() + node.levels;
        tree_.assign(first, first + node.count);
    }
    coder_.tree(*trees_, block, tree_);
    if constexpr (!Coder::kWrites) {
        node.kind = kTree;
        node.levels = uint32_t(plan_->trees.size());
        node.count = uint32_t(tree_.size());
        plan_->trees.insert(plan_->trees.end(), tree_.begin(), tree_.end());
    }
}

template <class Coder>
void BlockCoder<Coder>::code_predicted(const BlockPlace& block, BlockNode& node) {
    const int a = block.a, b = block.b;
    const uint64_t allowed = allowed_modes(tools_, block, Decoded(units_));
    node.mode = uint8_t(code_mode(coder_, size_of(a, b), allowed, units_.likely_modes(block),
                                  units_.planes_context(block), node.mode));
    node.kind = uint8_t(coder_.bit(kind_model(a, b, units_.kind_context(block)), node.kind));
    if (node.kind != kTransformed) return;
    node.type = uint8_t(code_type(coder_, tools_, a, b, family_of(node.mode), node.type));
    if constexpr (Coder::kWrites) {
        code_levels(coder_, a, b, node.mode, tools_, &plan_->levels[node.levels]);
    } else {
        node.levels = uint32_t(plan_->levels.size());
        plan_->levels.resize(node.levels + scan_of(a, b).count);
        node.extent =
            coder_.coefficients(a, b, node.mode, tools_, &plan_->levels[node.levels]);
    }
}

template class BlockCoder<BlockWriter>;
template class BlockCoder<BlockCounter>;
template class BlockCoder<BlockReader>;

}  // namespace mmp
