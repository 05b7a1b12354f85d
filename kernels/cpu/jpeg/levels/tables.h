// Trained tables of the coder of levels. Source: section "Levels of a stripe", "Tables", of
// docs/format/format.md.
#pragma once

#include <stdint.h>

#include "cpu/jpeg/picture.h"

namespace mmp::jpeg {

constexpr int kKinds = 3;       // luma, and the second and third component
constexpr int kSizeInputs = 20;  // of the fitted prediction of sizes
// Inputs of the predicted size of forms 1 and 2 that are known before a block, and those of its own
// levels, at the places before.
constexpr int kKnown = 15, kNear = 8;
inline constexpr int kNearPlaces[kNear] = {-1, -2, -8, -16, -9, -7, 7, -10};

// Contexts of the first models, and decisions.
constexpr int kSizeSteps = 64, kSizeDecisions = 15;
constexpr int kEndSteps = 32, kEndDecisions = 64;
constexpr int kFirstSteps = 32;
constexpr int kSignSteps = 384;

struct LevelTables {
    LevelTables();

    // Weights of a predicted size, in 1/4096, by kind and place of the level.
    alignas(32) int16_t size_weights[kKinds][kBlockLevels][32];
    // The same of forms 1 and 2: by input, and by place with those of the borders behind.
    alignas(64) int16_t known_weights[kKinds][kKnown][kBlockLevels];
    alignas(32) int16_t near_weights[kKinds][kBlockLevels][16];
    // Probabilities of a 1 from which first models start, in 1/256, for luma and for the others.
    uint8_t size_states[2][kSizeSteps][kSizeDecisions];
    uint8_t end_states[2][kEndSteps][kEndDecisions];
    uint8_t first_states[2][kFirstSteps][kSizeDecisions];
    uint8_t sign_states[2][kSignSteps];
};
const LevelTables& level_tables();

}  // namespace mmp::jpeg
