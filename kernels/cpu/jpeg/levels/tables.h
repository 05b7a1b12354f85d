// Trained tables of the coder of levels. Source: section "Levels of a stripe", "Tables", of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/jpeg/picture.h"

namespace mmp::jpeg {

constexpr int kKinds = 3;       // luma, and the second and third component
constexpr int kSizeInputs = 20;  // of the trained prediction of sizes

// Contexts of the first models, and decisions.
constexpr int kSizeSteps = 64, kSizeDecisions = 15;
constexpr int kEndSteps = 32, kEndDecisions = 64;
constexpr int kFirstSteps = 32;
constexpr int kSignSteps = 384;

struct LevelTables {
    LevelTables();

    // Weights of a predicted size, in 1/4096, by kind and place of the level.
    alignas(32) int16_t size_weights[kKinds][kBlockLevels][32];
    alignas(32) int16_t weights_by_input[kKinds][kSizeInputs][kBlockLevels];
    // Probabilities of a 1 from which first models start, in 1/256, for luma and for the others.
    uint8_t size_states[2][kSizeSteps][kSizeDecisions];
    uint8_t end_states[2][kEndSteps][kEndDecisions];
    uint8_t first_states[2][kFirstSteps][kSizeDecisions];
    uint8_t sign_states[2][kSignSteps];
};
const LevelTables& level_tables();

}  // namespace mmp::jpeg
