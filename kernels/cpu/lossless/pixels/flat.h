// Decisions that pixels are like all around them. Source: section "Repeating pixels", "Flat
// pixels", of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/lossless/pixels/mixing.h"
#include "cpu/lossless/pixels/colours.h"

namespace mmp::pixels {

class Flat {
public:
    static constexpr int kGroup = 8;

    explicit Flat(int width)
        : columns_(width), group_mixer_({64}, kUnitWeight * 3 / 8),
          single_mixer_({8}, kUnitWeight * 3 / 8), groups_(64 + 512 + 512),
          singles_(512 + 3 * 4096) {
        for (SlowModel& model : groups_) model = SlowModel::of(65300);
        for (SlowModel& model : singles_) model = SlowModel::of(64500);
        for (SlowModel& model : ends_) model = SlowModel::of(32768);
    }

    void begin_row() { run_ = 255, changed_ = 0; }

    // Whether pixels around one are equal: three left, eight above from column -3 on, four in the
    // row above them from column -1 on.
    static MMP_INLINE bool is_flat(const Colour* here, int64_t stride) {
        const Colour w = here[-1];
        if (here[-stride] != w || here[-2] != w || here[-3] != w) return false;
        return !differs(here - stride - 3, w, 8) && !differs(here - 2 * stride - 1, w, 4);
    }
    // Whether eight pixels may be decided at once, if the first one is flat.
    static MMP_INLINE bool is_group(const Colour* here, int64_t stride) {
        return !differs(here - stride + 4, here[-1], 8) &&
               !differs(here - 2 * stride + 3, here[-1], 8);
    }
    static MMP_INLINE bool differs(const Colour* from, Colour colour, int count) {
        Colour any = 0;
        for (int i = 0; i < count; ++i) any |= from[i] ^ colour;
        return any != 0;
    }

    // Codes whether the eight pixels from a column on are flat; `code` codes a bit.
    template <class Code>
    MMP_INLINE bool code_group(int column, Colour colour, bool given, Code&& code) {
        const Column& above = columns_[column];
        const int rows = above.rows;
        const int row_class =
            (rows >= 2) + (rows >= 6) + (rows >= 16) + (rows >= 40) + (rows >= 100);
        const int run_class = (run_ >= 4) + (run_ >= 12) + (run_ >= 40) + (run_ >= 120);
        const uint32_t key = folded(colour);
        SlowModel* used[3] = {
            &groups_[run_class * 8 + row_class],
            &groups_[64 + (hash_of(1, key, folded(above.changed), rows) >> 23)],
            &groups_[576 + (hash_of(2, key, folded(changed_), run_) >> 23)]};
        int32_t inputs[3];
        for (int i = 0; i < 3; ++i) inputs[i] = used[i]->odds();
        const int mixed = group_mixer_.predict(inputs, {run_class * 8 + row_class});
        const bool whole = code(std::clamp(mixed, 2, 65534), given);
        group_mixer_.learn(whole);
        for (SlowModel* model : used) model->learn(whole);
        return whole;
    }
    // Codes which of eight pixels is the first that differs.
    template <class Code>
    MMP_INLINE int code_end(int given, Code&& code) {
        int node = 1;
        for (int bit = 2; bit >= 0; --bit) {
            const int found = code(ends_[node].one(), given >> bit & 1);
            ends_[node].learn(found);
            node = 2 * node + found;
        }
        return node - kGroup;
    }
    // Codes whether a pixel is flat.
    template <class Code>
    MMP_INLINE bool code_single(int column, const Colour* here, int64_t stride, bool given,
                                Code&& code) {
        const Column& above = columns_[column];
        const uint32_t key = folded(here[-1]);
        int ahead = 4;
        while (ahead < 8 && here[ahead - stride] == here[-1]) ++ahead;
        const uint32_t there = ahead < 8 ? folded(here[ahead - stride]) : 0;
        SlowModel* used[4] = {
            &singles_[std::min(above.rows, 15) + 16 * std::min(run_, 31)],
            &singles_[512 + (hash_of(3, key, folded(above.changed), above.rows) >> 20)],
            &singles_[512 + 4096 + (hash_of(4, key, folded(changed_), run_) >> 20)],
            &singles_[512 + 8192 + (hash_of(5, key, there, ahead) >> 20)]};
        int32_t inputs[4];
        for (int i = 0; i < 4; ++i) inputs[i] = used[i]->odds();
        const int mixed = single_mixer_.predict(
            inputs, {(ahead < 8) + 2 * (above.rows < 3) + 4 * (run_ < 4)});
        const bool flat = code(std::clamp(mixed, 2, 65534), given);
        single_mixer_.learn(flat);
        for (SlowModel* model : used) model->learn(flat);
        return flat;
    }

    // Notes pixels that were flat, or one that was not.
    MMP_INLINE void pass(int column, int count) {
        for (int i = column; i < column + count; ++i) columns_[i].rows += columns_[i].rows < 255;
        run_ = std::min(run_ + count, 255);
    }
    MMP_INLINE void change(int column, Colour colour) {
        columns_[column] = {0, colour};
        run_ = 0, changed_ = colour;
    }

private:
    // Since when a column is flat, and the last colour before.
    struct Column {
        int32_t rows = 0;
        Colour changed = 0;
    };

    std::vector<Column> columns_;
    Mixer<3, 1> group_mixer_;
    Mixer<4, 1> single_mixer_;
    std::vector<SlowModel> groups_, singles_;
    SlowModel ends_[kGroup];
    int run_ = 255;  // pixels since the last change in the row
    Colour changed_ = 0;
};

}  // namespace mmp::pixels
