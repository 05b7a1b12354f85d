#include "cpu/blocks/search/effort.h"
#include <stdlib.h>
#include <stdio.h>
namespace mmp {

BlockEffort block_effort(int effort) {
    static constexpr int kAlways = 1 << 20;
    static constexpr BlockEffort kEfforts[9] = {
        {4, 2, 1, 4, 0, 4, true, kAlways, 16, true, kNotHopeless},     {4, 2, 2, 8, 0, 4, true, kAlways, 32, true, kNotHopeless},
        {5, 2, 2, 12, 0, 4, true, kAlways, 64, true, kNotHopeless},    {6, 3, 2, 12, 0, 4, true, kAlways, 64, true, kNotHopeless},
        {6, 3, 3, 16, 0, 4, true, kAlways, 64, true, kNotHopeless},    {8, 4, 3, 20, 0, 4, true, kAlways, 64, true, kNotHopeless},
        {8, 4, 4, 25, 0, 4, true, kAlways, 64, true, kNotHopeless},    {10, 5, 4, 40, 0, 4, true, kAlways, 64, true, kNotHopeless},
        {12, 8, 4, 1000, 0, 4, true, kAlways, 64, true, kNotHopeless},
    };
    BlockEffort e = kEfforts[effort - 1];
    if (const char* s = getenv("E")) {
        int all, ch=1;
        sscanf(s, "%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d", &e.surveyed, &e.tried, &e.rough, &e.slack, &e.split_bits, &e.elongation, &all, &e.fitting, &e.matching, &ch, &e.hopeless);
        e.all_angles = all; e.choosing = ch;
    }
    return e;
}

}  // namespace mmp
