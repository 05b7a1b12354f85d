// A picture with a padded border.
#pragma once

#include <stdint.h>

#include <algorithm>
#include <atomic>

#include "cpu/runtime/thread_team.h"

// Applies a macro to each type of samples.
#define MMP_EACH_SAMPLE(MACRO) \
    MACRO(uint8_t) MACRO(uint16_t) MACRO(int16_t) MACRO(float) MACRO(double)

namespace mmp {

struct Window {
    int height, width;  // odd, up to 255
};

// A picture and its padding. The window of result row y covers rows row_of[y] to row_of[y + height
// - 1] of the samples; columns work the same way with column_of. The first `rows` rows and
// `columns` columns of the samples are the picture; more of them are border values.
template <class T>
struct BorderedPicture {
    const T* samples;
    const uint8_t* valid;  // nonzero for valid samples, in the shape of samples; null: all valid
    int64_t stride;        // columns of the samples
    const int32_t *row_of, *column_of;
    int64_t rows, columns;  // size of the result
    Window window;
};

// Divides the rows of a picture among the threads: calls work(first, last), which returns whether
// any sample is NaN; so does this function. Bands are high, because adjacent bands both read the
// rows that their windows share.
template <class T, class Work>
bool in_bands(const BorderedPicture<T>& picture, ThreadTeam& team, const Work& work) {
    const int64_t high = std::max<int64_t>(4 * picture.window.height, 32);
    const int64_t tasks = std::clamp<int64_t>(picture.rows / high, 1, 64);
    std::atomic<bool> nan = false;
    team.run(static_cast<uint32_t>(tasks), [&](uint32_t task) {
        if (work(picture.rows * task / tasks, picture.rows * (task + 1) / tasks)) nan = true;
    });
    return nan;
}

}  // namespace mmp
