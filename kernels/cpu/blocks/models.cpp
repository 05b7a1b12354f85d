#include "cpu/blocks/models.h"

namespace mmp {

uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     uint32_t* weights) {
    uint32_t total = 0;
    for (int mode = 0; mode < kModes; ++mode)
        total += weights[mode] = models.mode_weight(size, mode, likely, allowed);
    return total;
}

}  // namespace mmp
