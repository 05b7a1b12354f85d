// Keeps any bytes as a JPEG file, and rebuilds files from any payload.
//
// A file must come back, whatever it is. A payload may be refused; the code must not crash, hang or
// have undefined behaviour, and must find the same with any number of threads. The front of a file
// must be its beginning.
#include "inputs.h"

#include "cpu/jpeg/codec.h"
#include "cpu/runtime/errors.h"

namespace mmp {

namespace {

constexpr uint64_t kMostLevelBytes = 8 << 20;

// What a payload gives: a file, or the message of its error.
struct Found {
    std::vector<uint8_t> file;
    std::string error;
    bool operator==(const Found&) const = default;
};

template <class Decode>
Found found(Decode decode) {
    try {
        return {decode(), ""};
    } catch (const TruncatedPayload& error) {
        return {{}, error.what()};
    } catch (const CorruptPayload& error) {
        return {{}, error.what()};
    }
}

void keep(Bytes bytes, int form, int threads) {
    const std::vector<uint8_t> file(bytes.rest(), bytes.rest() + bytes.left());
    const auto kept = jpeg::encode_file(file.data(), file.size(), form, threads, kMostLevelBytes);
    const auto& payload = kept.payload;
    if (kept.form > form) fail("the form is above the one that was asked for");
    const auto back = jpeg::decode_file(payload.data(), payload.size(), file.size(), kept.form,
                                        threads, kMostLevelBytes);
    if (back != file) fail("another file comes back");
    if (payload.size() > file.size() + 64) fail("the payload is larger than the file");
    if (threads > 1 &&
        jpeg::encode_file(file.data(), file.size(), form, 1, kMostLevelBytes).payload != payload)
        fail("one thread makes another payload");
    const auto front = jpeg::decode_front(payload.data(), payload.size(), file.size(), kept.form,
                                          kMostLevelBytes);
    if (front.size() > file.size() || !std::equal(front.begin(), front.end(), file.begin()))
        fail("the front is no beginning of the file");
}

void rebuild(Bytes bytes, int form, int threads) {
    const size_t file_size = size_t(bytes.number(0, 20000));
    const auto decoded = [&](int team) {
        return found([&] {
            return jpeg::decode_file(bytes.rest(), bytes.left(), file_size, form, team,
                                     kMostLevelBytes);
        });
    };
    const Found one = decoded(threads);
    if (threads > 1 && decoded(1) != one) fail("one thread finds another file");
    found([&] {
        return jpeg::decode_front(bytes.rest(), bytes.left(), file_size, form, kMostLevelBytes);
    });
}

}  // namespace

int run_input(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    const bool is_payload = bytes.number(0, 1) == 1;
    const int form = bytes.number(1, 3), threads = bytes.number(1, 3);
    if (is_payload)
        rebuild(bytes, form, threads);
    else
        keep(bytes, form, threads);
    return 0;
}

}  // namespace mmp
