#include "cpu/jpeg/levels/tables.h"

#include <string.h>

#include "shared/tables.h"

namespace mmp::jpeg {

LevelTables::LevelTables() : size_weights{}, known_weights{}, near_weights{} {
    const uint8_t* next = kJpegWeights;
    const auto number = [&] {
        next += 2;
        return int16_t(next[-2] | next[-1] << 8);
    };
    for (int kind = 0; kind < kKinds; ++kind)
        for (int k = 0; k < kBlockLevels; ++k) {
            for (int i = 0; i < kKnown; ++i) known_weights[kind][i][k] = number();
            for (int i = 0; i < kNear + 2; ++i) near_weights[kind][k][i] = number();
        }
    for (int kind = 0; kind < kKinds; ++kind)
        for (int k = 0; k < kBlockLevels; ++k)
            for (int i = 0; i < kSizeInputs; ++i) size_weights[kind][k][i] = number();
    next = kJpegStates;
    const auto take = [&](auto& table) {
        memcpy(table, next, sizeof table);
        next += sizeof table;
    };
    take(size_states);
    take(end_states);
    take(first_states);
    take(sign_states);
}

const LevelTables& level_tables() {
    static const LevelTables tables;
    return tables;
}

}  // namespace mmp::jpeg
