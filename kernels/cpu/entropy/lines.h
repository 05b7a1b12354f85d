// The probabilities of models, in lines of 16 decisions. Some models have a line for each context,
// others share lines by a hash of the context.
// Source: section "Logistic mixing" of docs/format/format.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <array>

#include "cpu/runtime/simd.h"
#include "cpu/runtime/zeroed.h"

namespace mmp {

constexpr int kLineDecisions = 16;

// A model holds a probability of 1 in its lower 16 bits, and in the upper ones how often it was
// used. The probability is stored as its difference from 32768 by exclusive or, so that 0 is the
// start.
constexpr uint32_t kHalfOfModel = 32768, kMostModelUses = 127;
constexpr int kLeastOfModel = 32;

// The decisions of a coder that skips some numbers of the format, so that its tables are as large as
// it needs: groups of 16 decisions from `first_far` on have a number in hashes that is larger by
// `skipped`.
struct Decisions {
    int count, first_far, skipped;
};

// Binary logarithm of the lines of a hashed model, where nothing else is said.
constexpr int line_bits(int models) { return models == 8 ? 13 : 15; }

template <int Models, int LineBits>
class ModelLines {
public:
    // `contexts` holds the number of contexts of each model, 0 for a hashed one.
    ModelLines(const Decisions& decisions, const std::array<int, Models>& contexts)
        : decisions_(decisions), counts_(contexts), models_(count(decisions.count, contexts)) {
        uint32_t* next = models_.get();
        for (int i = 0; i < Models; ++i) {
            start_[i] = lines_[i] = next;
            next += lines_of(contexts[i], groups(decisions.count)) * kLineDecisions;
        }
    }

    // Sets a decision of the first model, whose contexts are not hashed.
    void start(uint32_t context, int decision, uint32_t model) {
        const size_t line = context + size_t(decision / kLineDecisions) * counts_[0];
        start_[0][line * kLineDecisions + decision % kLineDecisions] = model;
    }

    MMP_INLINE void select(const std::array<uint32_t, Models>& contexts) {
        contexts_ = contexts;
        find_group(0);
        for (int i = 0; i < Models; ++i) __builtin_prefetch(lines_[i]);
    }
    // Finds the lines with a decision. Call it before at().
    MMP_INLINE void find(int decision) {
        if (decision / kLineDecisions != group_) find_group(decision / kLineDecisions);
    }
    MMP_INLINE uint32_t* at(int model, int decision) const {
        return lines_[model] + decision % kLineDecisions;
    }

private:
    static constexpr int kHashedLines = 1 << LineBits;

    static int groups(int decisions) { return (decisions + kLineDecisions - 1) / kLineDecisions; }
    static size_t lines_of(int contexts, int groups) {
        return contexts ? size_t(contexts) * groups : size_t{kHashedLines};
    }
    static size_t count(int decisions, const std::array<int, Models>& contexts) {
        size_t lines = 0;
        for (const int of_model : contexts) lines += lines_of(of_model, groups(decisions));
        return lines * kLineDecisions;
    }

    MMP_INLINE void find_group(int group) {
        group_ = group;
        const uint32_t number = group + (group >= decisions_.first_far ? decisions_.skipped : 0);
        for (int i = 0; i < Models; ++i) {
            uint32_t line = contexts_[i];
            if (counts_[i]) {
                line += uint32_t(group) * uint32_t(counts_[i]);
            } else {
                line = (line + number * 2654435761u) * 789269575u;
                line = (line ^ line >> 15) % kHashedLines;
            }
            lines_[i] = start_[i] + size_t(line) * kLineDecisions;
        }
    }

    Decisions decisions_;
    std::array<int, Models> counts_;
    ZeroedLines<uint32_t> models_;
    std::array<uint32_t, Models> contexts_{};
    int group_ = 0;
    uint32_t* start_[Models];
    uint32_t* lines_[Models];
};

}  // namespace mmp
