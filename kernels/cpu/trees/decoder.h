#pragma once

#include <stddef.h>
#include <stdint.h>

#include <memory>

#include "cpu/trees/picture.h"

namespace mmp {

// Decodes the payload of a plane. Throws TruncatedPayload or CorruptPayload.
std::unique_ptr<Picture> decode(const uint8_t* payload, size_t size, Plane plane,
                                const Tools& tools, int threads,
                                const Progress& progress);

}  // namespace mmp
