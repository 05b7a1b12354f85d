// Leaves of planes, read by threads of the host for a device that rebuilds the samples.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <vector>

#include "cpu/runtime/thread_team.h"
#include "cpu/trees/picture.h"
#include "shared/blocks/leaf.h"
#include "shared/tools.h"

namespace mmp {

// A payload to read. The plane has predicted blocks without trees.
struct LeafTask {
    const uint8_t* payload;
    size_t size;
    Plane plane;
    BlockTools tools;
};

// Arrays of a plane; CodedPlane of cuda/blocks/decode/plane.cuh describes them.
struct PlaneLeaves {
    std::vector<Leaf> leaves;
    std::vector<uint32_t> fragments, coefficients, order;
    std::vector<int8_t> changes;
    bool good = false;  // whether the payload decodes
};
constexpr int kLeafArrays = 5;

class LeavesOfPlanes {
public:
    // Reads the planes, those of the longest payloads first.
    LeavesOfPlanes(const std::vector<LeafTask>& tasks, int threads);

    const std::vector<uint8_t>& good() const { return good_; }
    // Bytes of each array in write(), multiples of 16, plane by plane.
    const std::vector<size_t>& sizes() const { return sizes_; }
    size_t total() const { return ends_.empty() ? 0 : ends_.back(); }
    // Writes leaves, fragments, coefficients, order and changes of each plane.
    void write(uint8_t* to) const;

private:
    const std::unique_ptr<ThreadTeam> team_;
    std::vector<PlaneLeaves> planes_;
    std::vector<uint8_t> good_;
    std::vector<size_t> sizes_, ends_;
};

}  // namespace mmp
