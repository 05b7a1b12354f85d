#include "cpu/blocks/models.h"

#include "shared/blocks/dependent.h"
#include "shared/tables.h"

namespace mmp {

static_assert(sizeof kInitialStates == kStartClasses * kTableBytes);
static_assert(sizeof kSmallInitialStates == sizeof kInitialStates);

void start_models(const BlockTools& tools, bool small, BlockModels& models) {
    if (!tools.initial_states) return models.start();
    const uint8_t* tables = small ? kSmallInitialStates : kInitialStates;
    const uint8_t* states = tables + start_class(independent_step(tools)) * kTableBytes;
    models.start(states, states + kStartBytes);
}

uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     uint32_t* weights) {
    uint32_t total = 0;
    for (int mode = 0; mode < kModes; ++mode)
        total += weights[mode] = models.mode_weight(size, mode, likely, allowed);
    return total;
}

}  // namespace mmp
