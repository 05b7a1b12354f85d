#include "decoder.h"

#include "thread_team.h"

namespace mmp {

namespace {

void decode_tree(Picture& picture, RangeDecoder& coder, const Fragment& fragment, int scale, int k,
                 int l, std::vector<Node>& nodes) {
    const int flag =
        picture.models.decode_flag(coder, scale, picture.context(fragment, scale, k, l));
    nodes.push_back({scale, k, l, flag, kNoIndex});
    if (flag == kLeaf) {
        Dictionary& dictionary = *picture.dictionaries[scale];
        nodes.back().index = picture.models.decode_index(coder, dictionary);
        dictionary.use(nodes.back().index);
        return;
    }
    for (int half = 0; half < 2; ++half) {
        const auto [row, column] = child_place(k, l, flag, half);
        decode_tree(picture, coder, fragment, child_scale(scale, flag), row, column, nodes);
    }
}

}  // namespace

std::unique_ptr<Picture> decode(const uint8_t* payload, size_t size, Plane plane,
                                const Tools& tools, int threads,
                                const Progress& progress) {
    auto picture = std::make_unique<Picture>(plane, tools);
    ThreadTeam team(threads);
    RangeDecoder coder(payload, size);
    std::vector<Node> nodes;
    picture->for_each_fragment(progress, [&](const Fragment& fragment) {
        nodes.clear();
        decode_tree(*picture, coder, fragment, 0, 0, 0, nodes);
        picture->rebuild(fragment, nodes);
        team.run(kLevels, [&](uint32_t m) {
            picture->learn(fragment, static_cast<int>(m), nodes, [](int, uint32_t) {});
        });
    });
    coder.finish();
    return picture;
}

}  // namespace mmp
