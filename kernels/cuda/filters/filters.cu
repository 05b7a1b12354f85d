// The filters of decoded planes, each a kernel whose threads filter blocks of 4x4 samples. Source:
// sections "Fixed filters", "Post filter" and "Cross-component filter" of docs/format/format.md.
#include "cuda/filters/plane.cuh"

using namespace mmp;

// Grid of all kernels: (groups of kFilterThreads columns of blocks, rows of blocks, planes).
extern "C" __global__ void __launch_bounds__(kFilterThreads)
    filter_fixed(const PlaneView* planes) {
    const PlaneView& plane = planes[blockIdx.z];
    const FilterBlock block;
    if (!block.is_inside(plane)) return;
    int step = plane.step;
    if (plane.changes) {
        const int columns = ((plane.width - 1) >> plane.fragment_log2) + 1;
        step = step_at(step, plane.changes[(block.row >> plane.fragment_log2) * columns +
                                           (block.column >> plane.fragment_log2)]);
    }
    int around[kVariationDirections];
    for (int direction = 0; direction < kVariationDirections; ++direction)
        around[direction] = variation_around(plane, block, direction);
    const auto& [across, down, falling, rising] = around;
    int activity = 0;
    for (int k = 0; k < kBankActivities - 1; ++k)
        activity += across + down > most_of_activity(k, step);
    const int scale = plane.scales >> 2 * activity & 3;
    const int turn = bank_turn(across, down, falling, rising);
    const int own = activity * kBankDirections + bank_direction(across, down, falling, rising);
    const uint8_t* filter =
        plane.filters + (bank_table(step) * kBankClasses + own) * 2 * kBankTaps;
    block.for_samples(plane, [&](int row, int column) {
        const int x = plane.at(row, column);
        int weighted = 0;
        for (int tap = 0; scale && tap < kBankTaps; ++tap) {
            const TapOffset o = turned(kBankOffsets[tap], turn);
            const int clip =
                bank_clip(filter[kBankTaps + tap], step, plane.depth - 8, plane.most());
            const auto clipped = [&](int sample) {
                return larger(-clip, smaller(sample - x, clip));
            };
            weighted += (int{filter[tap]} - kBankZero) *
                        (clipped(plane.at(row + o.row, column + o.column)) +
                         clipped(plane.at(row - o.row, column - o.column)));
        }
        plane.put(row, column, bank_sample(x, scale * weighted, plane.most()));
    });
}

extern "C" __global__ void __launch_bounds__(kFilterThreads)
    filter_post(const PlaneView* planes) {
    const PlaneView& plane = planes[blockIdx.z];
    const FilterBlock block;
    if (!block.is_inside(plane)) return;
    const int16_t* weights = plane.post[filter_class(variation_around(plane, block, 0) +
                                                     variation_around(plane, block, 1))];
    block.for_samples(plane, [&](int row, int column) {
        const int x = plane.at(row, column);
        int weighted = 0;
        for (int tap = 0; tap < kFilterTaps; ++tap) {
            const TapOffset o = kTapOffsets[tap];
            weighted += weights[tap] * tap_difference(x, plane.at(row + o.row, column + o.column),
                                                      plane.at(row - o.row, column - o.column));
        }
        plane.put(row, column, filtered_sample(x, weighted, plane.most()));
    });
}

extern "C" __global__ void __launch_bounds__(kFilterThreads)
    filter_by_planes(const PlaneView* planes) {
    const PlaneView& plane = planes[blockIdx.z];
    const FilterBlock block;
    if (!block.is_inside(plane)) return;
    block.for_samples(plane, [&](int row, int column) {
        int weighted = 0;
        for (int which = 0; which < plane.planes_read; ++which) {
            const int middle = plane.earlier_at(which, row, column);
            for (int tap = 0; tap < kPlaneTaps; ++tap) {
                const TapOffset o = kPlaneOffsets[tap];
                weighted +=
                    plane.cross_component[which][tap] *
                    (plane.earlier_at(which, row + o.row, column + o.column) - middle);
            }
        }
        plane.put(row, column,
                  filtered_sample(plane.at(row, column), weighted, plane.most()));
    });
}
