#include "cpu/blocks/models.h"

#include "shared/blocks/dependent.h"
#include "shared/blocks/start_states.h"

namespace mmp {

static_assert(sizeof kStartStates == kStartClasses * kStartBytes);

void start_models(const BlockTools& tools, BlockModels& models) {
    if (!tools.trained_start) return models.start();
    const uint8_t* states = tools.start_states ? tools.start_states : kStartStates;
    models.start(states + start_class(independent_step(tools)) * kStartBytes);
}

uint32_t weigh_modes(const BlockModels& models, int size, LikelyModes likely, uint64_t allowed,
                     uint32_t* weights) {
    uint32_t total = 0;
    for (int mode = 0; mode < kModes; ++mode)
        total += weights[mode] = models.mode_weight(size, mode, likely, allowed);
    return total;
}

}  // namespace mmp
