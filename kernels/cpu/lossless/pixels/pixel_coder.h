// Codes the pixels of the blocks that repeat, whole pixels one after the other. Source: section
// "Repeating pixels" of docs/format/format.md.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <vector>

#include "cpu/entropy/rates.h"
#include "cpu/lossless/pixels/candidates.h"
#include "cpu/lossless/pixels/escape.h"
#include "cpu/lossless/pixels/flat.h"
#include "cpu/lossless/pixels/places.h"
#include "cpu/lossless/pixels/colours.h"
#include "cpu/lossless/pixels/settings.h"

namespace mmp::pixels {

template <class Coder, const Settings& S>
class PixelCoder {
public:
    PixelCoder(const ColourShape& shape, int width, int height, Coder& coder)
        : rows_(width, height), places_(rows_), flat_(width), candidates_(shape),
          escape_(shape, rows_), kinds_(width + 2), above_(width + 2), coder_(coder) {}

    PixelRows& rows() { return rows_; }

    void begin_row(int row) {
        row_ = row;
        rows_.begin_row(row);
        places_.begin_row();
        flat_.begin_row();
        kinds_.swap(above_);
        kinds_[0] = Kind::flat;
    }
    void end_row() { rows_.end_row(row_); }

    // Codes the pixels of a row from a column to before another. `given` is the colours of the row
    // if they are written.
    MMP_INLINE void code_pixels(int column, int end, const Colour* given) {
        const auto code = [&](int one, int bit) __attribute__((always_inline)) {
            return coder_.code(uint32_t(one), bit);
        };
        for (int cell = column; column < end; cell = column) {
            Colour* here = rows_.at(row_, column);
            const int64_t stride = rows_.stride();
            bool flat = Flat::is_flat(here, stride);
            if (flat) {
                const Colour colour = here[-1];
                if (column + Flat::kGroup <= end && Flat::is_group(here, stride)) {
                    const bool same =
                        given && !Flat::differs(given + column, colour, Flat::kGroup);
                    int count = Flat::kGroup;
                    if (!flat_.code_group(column, colour, same, code)) {
                        int first = 0;
                        while (given && given[column + first] == colour) ++first;
                        count = flat_.code_end(first, code);
                    }
                    pass(column, count, colour);
                    end_cell(cell, column);
                    if (count == Flat::kGroup) continue;
                    here += count;
                } else if (flat_.code_single(column, here, stride,
                                             given && given[column] == colour, code)) {
                    pass(column, 1, colour);
                    end_cell(cell, column);
                    continue;
                }
            }
            code_pixel(column, here, flat, given ? given[column] : 0, code);
            end_cell(column, column + 1);
            ++column;
        }
        coder_.end_cell(row_, end - 1);
    }
    // Leaves out pixels of natural blocks; their colours are 0.
    MMP_INLINE void leave(int column, int end) { pass(column, end - column, 0); }

private:
    // Ends the cell of a column if the next one begins another.
    MMP_INLINE void end_cell(int column, int next) {
        if (column / kCellSide != next / kCellSide) coder_.end_cell(row_, column);
    }
    MMP_INLINE void pass(int& column, int count, Colour colour) {
        if (count == 0) return;
        std::fill_n(rows_.at(row_, column), count, colour);
        std::fill_n(&kinds_[column + 1], count, Kind::flat);
        places_.skip(column, count);
        flat_.pass(column, count);
        column += count;
    }

    template <class Code>
    MMP_INLINE void code_pixel(int column, Colour* here, bool flat, Colour given, Code&& code) {
        const Around v(here, rows_.stride());
        const Contexts contexts(v);
        const Place place = places_.find(row_, column, contexts.of[4]);
        const Colour placed = place.at.row >= 0 ? places_.colour(place) : 0;
        const Kind *own = &kinds_[column + 1], *above = &above_[column + 1];
        const int escaped = (own[-1] == Kind::escaped) + (above[-1] == Kind::escaped) +
                            (above[0] == Kind::escaped) + (above[1] == Kind::escaped);
        const int slopes = (own[-1] == Kind::sloped) + (above[0] == Kind::sloped);
        Colour colour = given;
        const bool found =
            candidates_.code(v, contexts, place, placed, flat, escaped >= 3 ? 1 : 2, slopes, colour,
                             coder_.writes, code);
        if (!found) colour = escape_.code(v, place, placed, given, code);
        escape_.see(here, row_, column, !found);
        *here = colour;
        candidates_.see(colour);
        flat_.change(column, colour);
        const bool sloped = found && colour == candidates_.slope() &&
                            (slopes || (colour != v.w && colour != v.n));
        kinds_[column + 1] = !found ? Kind::escaped : sloped ? Kind::sloped : Kind::candidate;
    }

    PixelRows rows_;
    Places places_;
    Flat flat_;
    Candidates<S> candidates_;
    Escape<S> escape_;
    std::vector<Kind> kinds_, above_;  // of the row and of the one above, after a margin
    Coder& coder_;
    int row_ = 0;
};

}  // namespace mmp::pixels
