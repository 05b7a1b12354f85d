#include "cpu/blocks/models.h"

#include "shared/blocks/dependent.h"
#include "shared/blocks/fine_states.h"
#include "shared/blocks/start_states.h"

namespace mmp {

static_assert(sizeof kStartStates == kStartClasses * kStartBytes);
static_assert(sizeof kFineStates == kStartClasses * kFineBytes);

void start_models(const BlockTools& tools, BlockModels& models) {
    if (!tools.trained_start) return models.start();
    const int table = start_class(independent_step(tools));
    if (!tools.start_states)
        return models.start(kStartStates + table * kStartBytes, kFineStates + table * kFineBytes);
    const uint8_t* states = tools.start_states + table * (kStartBytes + kFineBytes);
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
