#include "cpu/trees/decoder.h"

#include "cpu/runtime/thread_team.h"

namespace mmp {

std::unique_ptr<Picture> decode(const uint8_t* payload, size_t size, Plane plane,
                                const Tools& tools, int threads,
                                const Progress& progress) {
    auto picture = std::make_unique<Picture>(plane, tools);
    ThreadTeam team(threads);
    RangeDecoder coder(payload, size);
    std::vector<Node> nodes;
    picture->for_each_fragment(progress, [&](const Fragment& fragment) {
        nodes.clear();
        picture->decode_tree(coder, fragment, 0, 0, 0, nodes);
        picture->end_fragment(fragment);
        picture->rebuild(fragment, nodes);
        team.run(kLevels, [&](uint32_t task) {
            picture->learn(kLongestFirst[task], nodes);
        });
        if (picture->copies) picture->add_copies(fragment);
    });
    coder.finish();
    return picture;
}

}  // namespace mmp
