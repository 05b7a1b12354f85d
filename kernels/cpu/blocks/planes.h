// Cross-component prediction: a block is predicted from the earlier planes, which are already
// decoded. Source: section "Cross-component prediction" of docs/format/format.md.
#pragma once

#include <stddef.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "cpu/runtime/depth.h"
#include "cpu/trees/picture.h"
#include "shared/blocks/block.h"

namespace mmp {

// Samples of the earlier planes, which have the size of the predicted plane; rows from the top.
template <class Sample>
using EarlierSamples = std::vector<const Sample*>;

// The earlier planes, padded to the size of the padded picture plus a border of one sample.
template <class Sample>
class EarlierPlanes {
public:
    // `height` and `width` are the size of the padded picture.
    EarlierPlanes(const EarlierSamples<Sample>& planes, Plane plane, int height, int width)
        : height_(height + 2),
          stride_(width + 2),
          samples_(new Sample[planes.size() * height_ * stride_]) {
        for (size_t p = 0; p < planes.size(); ++p)
            for (int row = -1; row <= height; ++row) {
                const Sample* from =
                    planes[p] + size_t(std::clamp(row, 0, plane.height - 1)) * plane.width;
                Sample* to = &samples_[number_of(p, row, 0)];
                std::copy_n(from, plane.width, to);
                to[-1] = from[0];
                std::fill(to + plane.width, to + width + 1, from[plane.width - 1]);
            }
    }

    const Sample* at(int plane, int row, int column) const {
        return &samples_[number_of(plane, row, column)];
    }
    ptrdiff_t stride() const { return ptrdiff_t(stride_); }

private:
    size_t number_of(size_t plane, int row, int column) const {
        return (size_t(plane) * height_ + row + 1) * stride_ + column + 1;
    }

    size_t height_, stride_;
    std::unique_ptr<Sample[]> samples_;
};

template <class Sample>
class BlockPicture;
struct BlockPlace;

// Predicts a block in mode kCrossComponent or kWideCrossComponent from the first `used` planes. The
// block must not be the first one of the picture, because the fit needs decoded samples.
template <class Sample>
void predict_from_planes(const BlockPicture<Sample>& picture, const BlockPlace& block, int mode,
                         int used, Sample* out);

}  // namespace mmp
