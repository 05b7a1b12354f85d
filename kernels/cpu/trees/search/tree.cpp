#include "cpu/trees/search/tree.h"

#include <algorithm>

namespace mmp {

TreeSearch::TreeSearch(const Picture& picture, const Costs& costs,
                               const SearchKernel& kernel, ThreadTeam& team)
    : picture_(picture), costs_(costs), kernel_(kernel), team_(team) {
    for (int scale = 0; scale < kScales; ++scale) indexes_.emplace_back(scale, kernel.layout);
    for (const int scale : costs.scales())
        for (uint32_t i = 0; i < picture.dictionaries[scale]->size(); ++i) added(scale, i);
    for (Segment& segment : segments_) segment.budget = -1;
    if (!picture.copies) return;
    for (int scale = 0; scale < kScales; ++scale) {
        copies_.push_back({nullptr, 0, SearchIndex(scale, kernel.layout), {}, {}});
        if (!picture.dictionaries[scale] || !picture.copies->takes(scale)) continue;
        copies_[scale].known =
            std::make_unique<Dictionary>(scale, picture.tools, SIZE_MAX, arena_);
        copies_[scale].constants = copies_[scale].known->size();
    }
}

void TreeSearch::learn_copies() {
    team_.run(kScales, [&](uint32_t scale) {
        if (copies_[scale].known) learn_copies(static_cast<int>(scale));
    });
}

void TreeSearch::learn_copies(int scale) {
    FoundCopies& found = copies_[scale];
    const Copies& copies = *picture_.copies;
    const int height = scale_height(scale), width = scale_width(scale);
    const Copies::Places places = copies.places(scale, 0);
    Candidates candidates;
    for (uint32_t i = 0; i < places.count(); ++i) {
        const auto [first, stride] = picture_.copy_samples(scale, copies.index(0, places[i]));
        uint8_t* const samples = candidates.samples + candidates.count * height * width;
        for (int row = 0; row < height; ++row)
            std::copy_n(first + row * stride, width, samples + row * width);
        candidates.origin[candidates.count++] = kDisplacedClass;
        if (candidates.count < Candidates::kMost && i + 1 < places.count()) continue;
        const uint32_t start = i + 1 - candidates.count;
        found.known->insert(candidates);
        for (uint32_t k = start; k <= i; ++k) {
            const uint32_t number = candidates.index[k - start];
            if (number == kNoIndex) continue;
            const uint32_t element = number - found.constants;
            if (element == found.copies.size()) {
                found.copies.emplace_back();
                found.places.emplace_back();
            }
            found.copies[element] = copies.index(0, places[k]);
            found.places[element] = places.count();
            found.index.put(element, found.known->element(number), 0, costs_.place(places.count()));
        }
    }
}

void TreeSearch::weigh() {
    for (const int scale : costs_.scales()) used(scale, 0, true);
    for (FoundCopies& found : copies_)
        for (uint32_t i = 0; i < found.places.size(); ++i)
            found.index.update(i, 0, costs_.place(found.places[i]));
}

void TreeSearch::added(int scale, uint32_t element) {
    const Dictionary& dictionary = *picture_.dictionaries[scale];
    indexes_[scale].put(element, dictionary.element(element), dictionary.element_class(element),
                        costs_.own(scale, element));
}

void TreeSearch::used(int scale, uint32_t element, bool all_changed) {
    const Dictionary& dictionary = *picture_.dictionaries[scale];
    const uint32_t first = all_changed ? 0 : element;
    const uint32_t last = all_changed ? dictionary.size() - 1 : element;
    for (uint32_t i = first; i <= last; ++i)
        indexes_[scale].update(i, dictionary.element_class(i), costs_.own(scale, i));
}

void TreeSearch::require(int scale, int k, int l, int64_t budget) {
    Segment& segment = at(scale, k, l);
    if (segment.budget < 0) {
        const int depth = scale_n(scale) + scale_m(scale);
        needed_[depth].push_back({static_cast<uint8_t>(scale), static_cast<uint8_t>(k),
                                  static_cast<uint8_t>(l)});
    }
    segment.budget = std::max(segment.budget, budget);
}

void TreeSearch::search_leaf(const uint8_t* source, const Fragment& fragment, Place place) {
    const auto [scale, k, l] = place;
    Segment& segment = at(scale, k, l);
    segment.cost = kNoCost;
    segment.flag = kLeaf;
    segment.tried = 0;
    const int64_t flag_cost = costs_.flag(fragment, scale, k, l, kLeaf);
    Query query;
    const int top = k * scale_height(scale), left = l * scale_width(scale);
    indexes_[scale].prepare(source + top * kFragmentSize + left, kFragmentSize, query);
    query.start(segment.budget - flag_cost - 1);
    kernel_.search(indexes_[scale], costs_.by_class(scale), query);
    segment.index = query.index;
    if (picture_.copies && picture_.copies->possible(scale)) search_copy(scale, query, segment);
    if (segment.index == kNoElement) return;
    segment.cost = query.cost() + flag_cost;
}

// Searches a copy that costs less than the best element.
void TreeSearch::search_copy(int scale, Query& query, Segment& segment) {
    if (query.cost() <= costs_.of_copies(scale).smallest) return;
    const int32_t bound = query.bound--;
    query.index = kNoElement;
    kernel_.search(copies_[scale].index, costs_.of_copies(scale), query);
    const uint32_t copy =
        query.index == kNoElement ? kNoIndex : copies_[scale].copies[query.index];
    if (copy == kNoIndex || picture_.copies->area(copy) >= picture_.copies->areas())
        query.bound = bound;
    else
        segment.index = copy;
}

void TreeSearch::plan_splits(const Fragment& fragment, Place place) {
    const auto [scale, k, l] = place;
    Segment& segment = at(scale, k, l);
    const int64_t budget = std::min(segment.budget, segment.cost);
    for (const int flag : {kColumns, kRows}) {
        if (!flag_allowed(scale, flag, picture_.tools.partition)) continue;
        const int child = child_scale(scale, flag);
        const int64_t child_budget =
            budget - costs_.flag(fragment, scale, k, l, flag) - costs_.least_tree(child);
        if (child_budget <= costs_.least_tree(child)) continue;
        segment.tried |= static_cast<uint8_t>(1 << flag);
        for (int half = 0; half < 2; ++half) {
            const auto [row, column] = child_place(k, l, flag, half);
            require(child, row, column, child_budget);
        }
    }
}

void TreeSearch::choose(const Fragment& fragment, Place place) {
    const auto [scale, k, l] = place;
    Segment& segment = at(scale, k, l);
    for (const int flag : {kColumns, kRows}) {
        if (!(segment.tried >> flag & 1)) continue;
        int64_t cost = costs_.flag(fragment, scale, k, l, flag);
        for (int half = 0; half < 2; ++half) {
            const auto [row, column] = child_place(k, l, flag, half);
            cost += at(child_scale(scale, flag), row, column).cost;
        }
        if (cost < segment.cost) {
            segment.cost = cost;
            segment.flag = static_cast<uint8_t>(flag);
        }
    }
    segment.cost = std::min(segment.cost, kNoCost);
    segment.budget = -1;
}

void TreeSearch::collect(int scale, int k, int l, std::vector<Node>& nodes) {
    const Segment& segment = at(scale, k, l);
    const bool leaf = segment.flag == kLeaf;
    nodes.push_back({scale, k, l, segment.flag, leaf ? segment.index : kNoIndex});
    if (leaf) return;
    for (int half = 0; half < 2; ++half) {
        const auto [row, column] = child_place(k, l, segment.flag, half);
        collect(child_scale(scale, segment.flag), row, column, nodes);
    }
}

void TreeSearch::search(const uint8_t* source, const Fragment& fragment) {
    for (auto& places : needed_) {
        team_.run(static_cast<uint32_t>(places.size()),
                  [&](uint32_t task) { search_leaf(source, fragment, places[task]); });
        for (const Place& place : places) plan_splits(fragment, place);
    }
    for (auto places = needed_.rbegin(); places != needed_.rend(); ++places) {
        for (const Place& place : *places) choose(fragment, place);
        places->clear();
    }
}

void TreeSearch::find_tree(const uint8_t* source, const Fragment& fragment,
                               std::vector<Node>& nodes) {
    require(0, 0, 0, kNoCost);
    search(source, fragment);
    nodes.clear();
    collect(0, 0, 0, nodes);
}

}  // namespace mmp
