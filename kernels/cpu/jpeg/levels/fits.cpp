#include "cpu/jpeg/levels/fits.h"

#include <algorithm>
#include <bit>

namespace mmp::jpeg {

void Fits::find_weights(StripFits& fits) {
    constexpr int kSide = StripFits::kStrips, kMostDigits = 29;
    std::vector<Place*> open;
    std::vector<const int16_t*> priors;
    for (size_t i = 0; i < places_.size(); ++i)
        if (places_[i].is_new) {
            open.push_back(&places_[i]);
            priors.push_back(prior_ ? prior_[i] : nullptr);
        }
    for (size_t from = 0; from < open.size(); from += kSide) {
        for (int lane = 0; lane < kSide; ++lane) {
            const size_t number = std::min(from + lane, open.size() - 1);
            const Place& own = *open[number];
            const int16_t* prior = priors[number];
            int64_t most = 0;
            for (int i = 0; i < inputs_; ++i) most = std::max(most, own.sums[i][i]);
            const int shift =
                std::max(0, int(std::bit_width(uint64_t(most + ridge_))) - kMostDigits);
            for (int i = 0; i < inputs_; ++i) {
                for (int j = i; j < inputs_; ++j)
                    fits.m[i][j][lane] = (own.sums[i][j] + (i == j ? ridge_ : 0)) >> shift;
                const int64_t pulled = prior ? ridge_ * prior[i] >> 12 : 0;
                fits.m[i][inputs_][lane] = (own.sums[i][kInputs] + pulled) >> shift;
            }
        }
        int32_t weights[kMostUnknowns][kSide];
        fits.solve_all(inputs_, weights);
        for (size_t lane = 0; lane < size_t(kSide) && from + lane < open.size(); ++lane)
            for (int i = 0; i < inputs_; ++i)
                open[from + lane]->weights[i] = weights[i][lane];
    }
    for (Place* own : open) {
        for (int i = 0; i < inputs_; ++i)
            for (int64_t& sum : own->sums[i]) sum -= sum >> fading_;
        own->is_new = false;
    }
}

}  // namespace mmp::jpeg
