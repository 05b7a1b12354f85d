// Insertions into the dictionaries of a picture, some at a time so that the memory that each
// looks at can come while others are made.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <array>
#include <memory>
#include <vector>

#include "cpu/trees/dictionary.h"

namespace mmp {

// Inserts in the order of the calls. Calls added(scale, index) after each insertion that found a
// place.
template <class Added>
class Insertions {
public:
    Insertions(const std::vector<std::unique_ptr<Dictionary>>& dictionaries, const Added& added)
        : dictionaries_(dictionaries), added_(added) {}
    Insertions(const Insertions&) = delete;
    Insertions& operator=(const Insertions&) = delete;

    // Where the samples of the next element go.
    uint8_t* next() { return waiting_[count_].samples; }

    // They are there.
    void add(int scale, int origin) {
        Candidate& candidate = waiting_[count_];
        const Dictionary& dictionary = *dictionaries_[scale];
        candidate.scale = scale, candidate.origin = origin;
        candidate.hash = dictionary.hash(candidate.samples);
        dictionary.prefetch_slot(candidate.hash);
        if (++count_ == waiting_.size()) flush();
    }

    // Insert all that wait.
    void flush() {
        for (size_t i = 0; i < count_; ++i)
            dictionaries_[waiting_[i].scale]->prefetch_element(waiting_[i].hash);
        for (size_t i = 0; i < count_; ++i) {
            const Candidate& c = waiting_[i];
            const uint32_t index = dictionaries_[c.scale]->insert(c.samples, c.hash, c.origin);
            if (index != kNoIndex) added_(c.scale, index);
        }
        count_ = 0;
    }

private:
    struct Candidate {
        int scale, origin;
        uint32_t hash;
        uint8_t samples[kFragmentArea];
    };

    const std::vector<std::unique_ptr<Dictionary>>& dictionaries_;
    const Added& added_;
    size_t count_ = 0;
    std::array<Candidate, 64> waiting_;
};

}  // namespace mmp
