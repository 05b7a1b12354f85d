// The functions of mmpcodec/web/mmp.wasm that decode kept JPEG files.
#include <stdint.h>

#include <new>
#include <vector>

#include "cpu/jpeg/codec.h"
#include "web/export.h"

namespace {

using namespace mmp;

// Of a larger file, the sizes do not fit 32 bits; its parts do not fit the memory either.
constexpr size_t kMostFileBytes = size_t{1} << 28;

std::vector<uint8_t> found;  // until mmp_jpeg_free

}  // namespace

// Decodes a file of `file_size` bytes, or its beginning up to the data of the first scan, and
// returns its size; the bytes are at mmp_jpeg_bytes. `most_level_bytes` is an integer, which may
// have more than 32 bits.
MMP_EXPORT(mmp_jpeg)
size_t mmp_jpeg(const uint8_t* payload, size_t size, size_t file_size, int form,
                double most_level_bytes, int only_front) {
    if (file_size > kMostFileBytes) throw std::bad_alloc();
    const auto most = uint64_t(most_level_bytes);
    found = only_front ? jpeg::decode_front(payload, size, file_size, form, most)
                       : jpeg::decode_file(payload, size, file_size, form, 1, most);
    return found.size();
}

MMP_EXPORT(mmp_jpeg_bytes) const uint8_t* mmp_jpeg_bytes() { return found.data(); }

MMP_EXPORT(mmp_jpeg_free) void mmp_jpeg_free() { std::vector<uint8_t>().swap(found); }
