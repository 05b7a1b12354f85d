// Insertions into the dictionaries of a picture, several at a time, so that memory is prefetched
// for later ones while earlier ones run.
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

    // The buffer for the samples of the next element.
    uint8_t* next() { return waiting_[count_].samples; }

    // Queues the element whose samples are in the buffer.
    void add(int scale, int origin) {
        Candidate& candidate = waiting_[count_];
        const Dictionary& dictionary = *dictionaries_[scale];
        candidate.scale = scale, candidate.origin = origin;
        candidate.hash = dictionary.hash(candidate.samples);
        dictionary.prefetch_slot(candidate.hash);
        if (++count_ == waiting_.size()) flush();
    }

    // Inserts all queued elements.
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
