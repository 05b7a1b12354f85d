// Planes of two values, pixel by pixel, in both directions. Source: section "Two values" of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "cpu/lossless/two_values/bit_rows.h"
#include "cpu/lossless/two_values/groups.h"
#include "cpu/lossless/two_values/mixing.h"
#include "cpu/lossless/two_values/periods.h"
#include "cpu/lossless/two_values/places.h"
#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

// A plane to code. Coder is as in PlaneCoder: code(one, given), end_cell(row, column) and writes.
template <class Coder>
struct TwoValuesPlane {
    int height, width;
    Periods periods;
    std::unique_ptr<BitRows> given;  // the pixels to write; none to read
    Coder* coder;
};

// Codes a plane, and planes that continue it: their rows follow as if all were one.
template <class Coder, int Form>
class TwoValuesCoder {
public:
    // No plane is wider than `most_width`; `rows` is the likely number of rows of all planes, and
    // `line_bits` that of the first one.
    TwoValuesCoder(int most_width, int64_t rows, int line_bits)
        : rows_(most_width, rows),
          stride_(rows_.stride()),
          columns_(most_width, rows),
          places_(columns_, most_width, line_bits),
          mixing_(line_bits),
          known_(zeroed<SlowModel>(kCertain ? size_t{7} << 16 : 0)) {}

    void begin(TwoValuesPlane<Coder> plane) {
        first_row_ += plane_.height;
        plane_ = std::move(plane);
        rows_.reserve(int64_t{first_row_} + plane_.height);
        columns_.reserve(int64_t{first_row_} + plane_.height);
        places_.begin(plane_.width);
    }

    // Returns a row of the plane that was begun last.
    const uint8_t* row(int row) const { return rows_.row(first_row_ + row); }

    MMP_INLINE void code_row(int row) {
        const int width = plane_.width;
        number_ = first_row_ + row;
        row_ = rows_.row(number_);
        given_row_ = plane_.given ? plane_.given->row(row) : nullptr;
        row_phase_ = row % plane_.periods.rows << 12;
        columns_.begin_row(number_);
        places_.begin_row(number_);
        groups_.begin_row();
        far_ = 0;
        windows_ = prepared_ = -1;
        for (int column = 0; column < width; column += Groups::kSide) {
            const int end = std::min(column + Groups::kSide, width);
            code_group(column, end);
            if (end % kCellSide == 0 || end == width) plane_.coder->end_cell(row, end - 1);
        }
    }

private:
    static constexpr int kCertain = kTwoValuesForms[Form - 1].certain;

    MMP_INLINE void code_group(int column, int end) {
        const int value = Groups::value(row_, stride_, column);
        int open = value < 0 ? column : end;  // first column that the group says nothing of
        if (value >= 0) {
            const int size = end - column;
            const int one = groups_.predict(value, rows_, row_, column, places_.along, far_,
                                            near_class_);
            const uint64_t whole = value ? (1 << size) - 1 : 0;
            const int broken = code(one, given_row_ && bits(given_row_, column, size) != whole);
            groups_.learn(value, broken);
            if (!broken) {
                for (int i = 0; value && i < size; ++i) set(column + i, 1);
                places_.skip(column, size);
                far_ += size;
                return;
            }
            int pixel = value;
            open = column;
            for (; open < end && pixel == value; ++open) {
                if (open == end - 1) {
                    set(open, !value);
                    places_.skip(open, 1);
                    pixel = !value;
                } else {
                    pixel = mix(open, 1 + value);
                }
            }
        }
        for (; open < end; ++open) code_pixel(open);
    }

    MMP_INLINE int code(int one, int given) {
        return plane_.coder->code(std::clamp(one, kLeastOfPixel, 65536 - kLeastOfPixel), given);
    }
    MMP_INLINE int given(int column) const {
        return given_row_ ? int(bits(given_row_, column, 1)) : 0;
    }
    MMP_INLINE void set(int column, int pixel) {
        if (!pixel) return;
        rows_.set(number_, column);
        columns_.set(number_, column);
    }

    // Codes a pixel that no group gives.
    MMP_INLINE void code_pixel(int column) {
        if constexpr (kCertain) {
            SlowModel& known = known_model(column, 0);
            if (is_certain(known)) {
                const int one = known.one();
                places_.follow(column);
                // The next lines are fetched early if the next pixel is mixed after a likely pixel.
                if (!is_certain(known_model(column + 1, one > kCertain))) {
                    prepared_ = column + 1;
                    fetch(column + 1, 0);
                }
                const int pixel = code(one, given(column));
                known.learn(pixel);
                set(column, pixel);
                return;
            }
            known.learn(mix(column, 0));
        } else {
            mix(column, 0);
        }
    }

    static MMP_INLINE bool is_certain(const SlowModel& known) {
        return known.one() < kCertain || known.one() > 65536 - kCertain;
    }
    // `left` is the pixel to the left if it is not set yet, else 0.
    MMP_INLINE SlowModel& known_model(int column, int left) const {
        int known = 0;
        const auto& along = places_.along;
        if (along.count && !far_) {
            const Place& first = along.places[0];
            known = 1 + int(bits(rows_.row(first.row), first.column + 1, 1)) +
                    2 * ((first.distance < 6) + (first.distance < 2));
        }
        const uint64_t around = bits(row_, column - 4, 4) | left << 3 |
                                bits(row_ - stride_, column - 3, 7) << 4 |
                                bits(row_ - 2 * stride_, column - 2, 5) << 11;
        return known_[size_t(known) << 16 | around];
    }

    // Finds and fetches all lines of a pixel that do not depend on the pixel to the left.
    MMP_INLINE void fetch(int column, int phase) {
        const RowsAround around(row_, stride_, column);
        lines_ = places_.find_lines(around);
        phase += (column % plane_.periods.columns << 8) + row_phase_;
        template_lines_ = mixing_.find_lines(around, phase);
    }

    // Codes a pixel by all models. `g` is 0 if its group is not broken, else 1 + the group's value.
    MMP_INLINE int mix(int column, int g) {
        const bool windows_fetched = windows_ == column;
        windows_ = -1;
        if (g || prepared_ != column) fetch(column, g ? 1 + column % Groups::kSide : 0);
        if (kCertain && !windows_fetched) places_.fetch_windows(lines_);
        places_.find(number_, column, lines_, far_ == 0);
        const PixelsAround around(row_, stride_, column);
        const auto place_lines = mixing_.find_lines(rows_, places_.along, around);
        const auto template_lines = template_lines_;
        if (g == 0) {
            // The next lines do not depend on this pixel, so they are fetched while it is coded.
            prepared_ = column + 1;
            fetch(column + 1, 0);
            near_class_ = place_lines.near_class;
            far_ = 0;
        }
        const int one = mixing_.predict(template_lines, place_lines, around, g, column);
        const int pixel = code(one, given(column));
        if (g == 0 && (!kCertain || !is_certain(known_model(column + 1, pixel)))) {
            windows_ = column + 1;
            places_.fetch_windows(lines_);
        }
        mixing_.learn(pixel);
        set(column, pixel);
        return pixel;
    }

    BitRows rows_;
    const int64_t stride_;
    BitColumns columns_;
    Places<kTwoValuesForms[Form - 1].places> places_;
    Groups groups_;
    Mixing<Form> mixing_;
    Zeroed<SlowModel> known_;  // by what is around a pixel
    TwoValuesPlane<Coder> plane_{};

    int first_row_ = 0, number_ = 0;  // of the plane, and of the row, in all planes
    int row_phase_ = 0;
    const uint8_t* row_ = nullptr;
    const uint8_t* given_row_ = nullptr;
    int far_ = 0, near_class_ = 7;
    int prepared_ = -1;  // the column whose lines are fetched
    int windows_ = -1;   // the column for whose candidates windows are fetched
    typename Places<kTwoValuesForms[Form - 1].places>::Lines lines_{};
    typename Mixing<Form>::TemplateLines template_lines_{};
};

}  // namespace mmp
