#include "cpu/jpeg/levels/tables.h"

#include <string.h>

#include "shared/tables.h"

namespace mmp::jpeg {

LevelTables::LevelTables() : size_weights{} {
    const uint8_t* next = kJpegWeights;
    for (int kind = 0; kind < kKinds; ++kind)
        for (int k = 0; k < kBlockLevels; ++k)
            for (int i = 0; i < kSizeInputs; ++i, next += 2)
                weights_by_input[kind][i][k] = size_weights[kind][k][i] =
                    int16_t(next[0] | next[1] << 8);
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
