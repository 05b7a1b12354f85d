#include "cpu/blocks/leaves.h"

#include <string.h>

#include <algorithm>
#include <numeric>

#include "cpu/blocks/codec.h"
#include "cpu/runtime/thread_team.h"

namespace mmp {

namespace {

// Turns the plans of the fragments of a plane into leaves.
class LeafWriter {
public:
    LeafWriter(const BlockUnits& units, PlaneLeaves& found)
        : units_(units), found_(found), columns_(units.width >> kUnitLog2) {
        found_.order.resize(size_t(units.height >> kUnitLog2) * columns_);
        found_.fragments.push_back(0);
    }

    void add(const BlockPlace& fragment, const BlockPlan& plan) {
        fragment_ = fragment, plan_ = &plan, next_ = 0;
        visit(fragment);
        found_.fragments.push_back(uint32_t(found_.leaves.size()));
    }

private:
    void visit(const BlockPlace& block) {
        if (units_.is_outside(block)) return;
        const BlockNode& node = plan_->nodes[next_++];
        if (node.flag == kLeaf) return add_leaf(block, node);
        for (int part = 0; part < parts_of(node.flag); ++part)
            visit(part_of(block, node.flag, part));
    }

    void add_leaf(const BlockPlace& block, const BlockNode& node) {
        const auto first = uint32_t(found_.coefficients.size());
        if (node.kind == kTransformed) add_coefficients(block, node);
        const auto unit = [](int length) { return uint8_t(length >> kUnitLog2); };
        found_.leaves.push_back({unit(block.row - fragment_.row),
                                 unit(block.column - fragment_.column), uint8_t(block.a),
                                 uint8_t(block.b), node.mode, node.kind, node.type, 0, first,
                                 uint32_t(found_.coefficients.size()) - first});
        uint32_t* const order = &found_.order[size_t(block.row >> kUnitLog2) * columns_ +
                                              (block.column >> kUnitLog2)];
        for (int i = 0; i < unit(block.height()); ++i)
            std::fill_n(order + size_t(i) * columns_, unit(block.width()),
                        uint32_t(found_.leaves.size()));
    }

    void add_coefficients(const BlockPlace& block, const BlockNode& node) {
        const int columns = smaller(block.width(), kCodedSide);
        const int16_t* const values = &plan_->levels[node.levels];
        for (int i = 0; i < node.extent.rows; ++i)
            for (int place = i * columns; place < i * columns + node.extent.columns; ++place)
                if (values[place])
                    found_.coefficients.push_back(packed_coefficient(place, values[place]));
    }

    const BlockUnits& units_;
    PlaneLeaves& found_;
    const int columns_;
    BlockPlace fragment_{};
    const BlockPlan* plan_ = nullptr;
    size_t next_ = 0;
};

PlaneLeaves read_plane(const LeafTask& task) {
    const auto padded = [](int length) { return (length + kUnit - 1) / kUnit * kUnit; };
    const int height = padded(task.plane.height), width = padded(task.plane.width);
    PlaneLeaves found;
    BlockModels models;
    start_models(task.tools, is_small(height, width), models);
    BlockUnits units(height, width);
    StepChanges changes(height, width, task.tools.fragment_log2);
    RangeDecoder coder(task.payload, task.size);
    BlockCoder<BlockReader> reader(units, task.tools, changes, nullptr,
                                   BlockReader(coder, models, nullptr));
    LeafWriter writer(units, found);
    const int log2 = task.tools.fragment_log2, side = 1 << log2;
    BlockPlan plan;
    try {
        for (int row = 0; row < height; row += side)
            for (int column = 0; column < width; column += side) {
                reader.code(row, column, plan);
                writer.add({row, column, log2, log2}, plan);
            }
        coder.finish();
        found.good = true;
    } catch (const TruncatedPayload&) {
    } catch (const CorruptPayload&) {
    }
    found.changes = changes.values();
    // Fragments after a fault have no leaves.
    found.fragments.resize(found.changes.size() + 1, uint32_t(found.leaves.size()));
    return found;
}

template <class T>
size_t bytes_of(const std::vector<T>& array) {
    return (array.size() * sizeof(T) + 15) / 16 * 16;
}

template <class T>
uint8_t* copied(const std::vector<T>& array, uint8_t* to) {
    if (!array.empty()) memcpy(to, array.data(), array.size() * sizeof(T));
    return to + bytes_of(array);
}

// Calls work(number) for each number below count.
template <class Work>
void for_each(ThreadTeam& team, size_t count, const Work& work) {
    constexpr size_t kMost = ThreadTeam::kMostTasks;
    for (size_t first = 0; first < count; first += kMost)
        team.run(uint32_t(std::min(count - first, kMost)),
                 [&](uint32_t task) { work(first + task); });
}

}  // namespace

LeavesOfPlanes::LeavesOfPlanes(const std::vector<LeafTask>& tasks, int threads)
    : team_(std::make_unique<ThreadTeam>(std::min(threads, int(tasks.size())))),
      planes_(tasks.size()) {
    std::vector<size_t> longest(tasks.size());
    std::iota(longest.begin(), longest.end(), 0);
    std::stable_sort(longest.begin(), longest.end(),
                     [&](size_t p, size_t q) { return tasks[p].size > tasks[q].size; });
    for_each(*team_, tasks.size(), [&](size_t number) {
        planes_[longest[number]] = read_plane(tasks[longest[number]]);
    });
    size_t end = 0;
    for (const PlaneLeaves& plane : planes_) {
        good_.push_back(plane.good);
        for (const size_t size :
             {bytes_of(plane.leaves), bytes_of(plane.fragments), bytes_of(plane.coefficients),
              bytes_of(plane.order), bytes_of(plane.changes)}) {
            sizes_.push_back(size);
            end += size;
        }
        ends_.push_back(end);
    }
}

void LeavesOfPlanes::write(uint8_t* to) const {
    for_each(*team_, planes_.size(), [&](size_t number) {
        const PlaneLeaves& plane = planes_[number];
        uint8_t* at = to + (number ? ends_[number - 1] : 0);
        at = copied(plane.leaves, at);
        at = copied(plane.fragments, at);
        at = copied(plane.coefficients, at);
        at = copied(plane.order, at);
        copied(plane.changes, at);
    });
}

}  // namespace mmp
