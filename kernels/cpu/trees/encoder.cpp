#include "cpu/trees/encoder.h"

#include <algorithm>
#include <array>
#include <optional>

#include "cpu/trees/search/brute_force.h"
#include "cpu/trees/search/tree.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

namespace {

// Returns the samples of a fragment, padded by repeating the last row and column of the picture.
std::array<uint8_t, kFragmentArea> samples_of(const uint8_t* samples, Plane plane,
                                              const Fragment& fragment) {
    std::array<uint8_t, kFragmentArea> result;
    for (int i = 0; i < kFragmentArea; ++i) {
        const int row = std::min(fragment.row + i / kFragmentSize, plane.height - 1);
        const int column = std::min(fragment.column + i % kFragmentSize, plane.width - 1);
        result[i] = samples[size_t(row) * plane.width + column];
    }
    return result;
}

}  // namespace

std::pair<std::vector<uint8_t>, std::unique_ptr<Picture>> encode(const uint8_t* samples,
                                                                 Plane plane, const Tools& tools,
                                                                 const EncoderOptions& options,
                                                                 const Progress& progress) {
    auto picture = std::make_unique<Picture>(plane, tools);
    ThreadTeam team(options.threads);
    Costs costs(*picture, options.rates);
    BruteForce brute_force(*picture, costs);
    std::optional<TreeSearch> search;
    if (options.kernel) search.emplace(*picture, costs, *options.kernel, team);
    RangeEncoder coder;
    std::vector<Node> nodes;
    picture->for_each_fragment(progress, [&](const Fragment& fragment) {
        const auto source = samples_of(samples, plane, fragment);
        costs.refresh();
        if (search)
            search->find_tree(source.data(), fragment, nodes);
        else
            brute_force.find_tree(source.data(), fragment, nodes);
        picture->encode_tree(coder, fragment, nodes,
                             [&](int scale, uint32_t index, bool all_changed) {
                                 if (search) search->used(scale, index, all_changed);
                             });
        picture->end_fragment(fragment);
        picture->rebuild(fragment, nodes);
        team.run(kLevels, [&](uint32_t task) {
            picture->learn(kLongestFirst[task], nodes, [&](int scale, uint32_t element) {
                if (search) search->added(scale, element);
            });
        });
        if (picture->copies && picture->add_copies(fragment) && search) search->learn_copies();
    });
    return {coder.finish(), std::move(picture)};
}

}  // namespace mmp
