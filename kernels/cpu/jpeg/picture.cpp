#include "cpu/jpeg/picture.h"

#include <string.h>

#include <algorithm>
#include <new>

namespace mmp::jpeg {

namespace {

class Segment {
public:
    Segment(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
    size_t left() const { return size_t(end_ - at_); }
    int byte() { return *at_++; }
    int word() {
        at_ += 2;
        return at_[-2] << 8 | at_[-1];
    }
    const uint8_t* bytes(size_t count) {
        at_ += count;
        return at_ - count;
    }

private:
    const uint8_t *at_, *end_;
};

int parts(int whole, int part) { return (whole + part - 1) / part; }

bool read_frame(Segment segment, uint8_t marker, Picture& picture) {
    if (picture.frame || segment.left() < 6 || segment.byte() != 8) return false;
    picture.height = segment.word();
    picture.width = segment.word();
    const int count = segment.byte();
    if (!picture.width || !picture.height || count < 1 || count > kMostComponents ||
        segment.left() != size_t(3) * count)
        return false;
    int across = 1, down = 1;
    picture.components.resize(count);
    for (Component& own : picture.components) {
        own.identifier = segment.byte();
        const int sampling = segment.byte();
        own.across = sampling >> 4;
        own.down = sampling & 15;
        own.table = segment.byte();
        if (own.across < 1 || own.across > kMostSampling || own.down < 1 ||
            own.down > kMostSampling || own.table > 3)
            return false;
        across = std::max(across, own.across);
        down = std::max(down, own.down);
    }
    picture.mcu_columns = parts(picture.width, 8 * across);
    picture.mcu_rows = parts(picture.height, 8 * down);
    for (Component& own : picture.components) {
        own.own_columns = parts(parts(picture.width * own.across, across), 8);
        own.own_rows = parts(parts(picture.height * own.down, down), 8);
        own.columns = count == 1 ? own.own_columns : picture.mcu_columns * own.across;
        own.rows = count == 1 ? own.own_rows : picture.mcu_rows * own.down;
    }
    if (count == 1) {
        picture.mcu_columns = picture.components[0].columns;
        picture.mcu_rows = picture.components[0].rows;
    }
    picture.frame = marker;
    return true;
}

bool read_quantisation(Segment segment, Picture& picture) {
    while (segment.left()) {
        const int head = segment.byte(), wide = head >> 4;
        if (wide > 1 || (head & 15) > 3 || segment.left() < size_t(kBlockLevels) << wide)
            return false;
        for (const uint8_t place : kZigzag)
            picture.steps[head & 15][place] = uint16_t(wide ? segment.word() : segment.byte());
    }
    return true;
}

bool read_huffman(Segment segment, Picture& picture) {
    while (segment.left()) {
        const int head = segment.byte();
        if ((head & ~0x10) > 3 || segment.left() < 16) return false;
        const uint8_t* counts = segment.bytes(16);
        int symbols = 0;
        for (int i = 0; i < 16; ++i) symbols += counts[i];
        if (symbols > 256 || segment.left() < size_t(symbols)) return false;
        HuffmanTable& table = (head >> 4 ? picture.ac : picture.dc)[head & 3];
        table.set(counts, segment.bytes(symbols), symbols);
    }
    return true;
}

bool read_scan(Segment segment, Picture& picture) {
    ScanHeader& scan = picture.scan;
    scan.components.clear();
    if (!picture.frame || !segment.left()) return false;
    const int count = segment.byte();
    if (count < 1 || count > kMostComponents || segment.left() != size_t(2 * count + 3))
        return false;
    for (int i = 0; i < count; ++i) {
        const int identifier = segment.byte(), tables = segment.byte();
        int number = 0;
        const int known = int(picture.components.size());
        while (number < known && (picture.components[number].identifier != identifier ||
                                  std::count(scan.components.begin(), scan.components.end(),
                                             number)))
            ++number;
        if (number == known || (tables & ~0x33)) return false;
        scan.components.push_back(number);
        scan.dc[i] = uint8_t(tables >> 4);
        scan.ac[i] = uint8_t(tables & 3);
    }
    scan.first = segment.byte();
    scan.last = segment.byte();
    const int approximation = segment.byte();
    scan.high = approximation >> 4;
    scan.low = approximation & 15;
    if (!picture.is_progressive()) {
        scan.first = scan.high = scan.low = 0;
        scan.last = kBlockLevels - 1;
        return true;
    }
    return scan.first <= scan.last && scan.last < kBlockLevels && scan.low <= 13 &&
           (scan.high == 0 || scan.high == scan.low + 1) &&
           (scan.first ? count == 1 : scan.last == 0);
}

bool has_tables(const Picture& picture) {
    const ScanHeader& scan = picture.scan;
    for (size_t i = 0; i < scan.components.size(); ++i) {
        if (!scan.first && !scan.high && !picture.dc[scan.dc[i]].is_known()) return false;
        if (scan.last && !picture.ac[scan.ac[i]].is_known()) return false;
    }
    return true;
}

}  // namespace

Picture::Picture() {
    for (auto& table : steps) std::fill_n(table, kBlockLevels, uint16_t{1});
}

uint64_t Picture::level_bytes() const {
    uint64_t blocks = 0;
    for (const Component& own : components) blocks += uint64_t(own.columns) * own.rows;
    return blocks * kBlockLevels * sizeof(int16_t);
}

bool Picture::counts_scan() {
    const auto blocks = [](const Component& own) { return uint64_t(own.columns) * own.rows; };
    uint64_t all = 0, scanned = scanned_blocks;
    for (const Component& own : components) all += blocks(own);
    for (const int number : scan.components) scanned += blocks(components[number]);
    if (scanned > kMostPasses * all) return false;
    scanned_blocks = scanned;
    return true;
}

void Picture::allocate() {
    if (level_bytes() > SIZE_MAX / 2) throw std::bad_alloc();  // sizes may have 32 bits
    for (Component& own : components) {
        memcpy(own.steps, steps[own.table], sizeof own.steps);
        own.levels = ZeroedLines<int16_t>(size_t(own.columns) * own.rows * kBlockLevels);
    }
}

Stop read_markers(const uint8_t* data, size_t size, size_t& position, Picture& picture) {
    for (;;) {
        while (position + 1 < size &&
               (data[position] != 0xFF || data[position + 1] == 0 || data[position + 1] == 0xFF))
            ++position;
        if (position + 1 >= size) return Stop::end;
        const uint8_t marker = data[position + 1];
        position += 2;
        if (marker == kEnd) return Stop::end;
        if ((marker >= kFirstRestart && marker <= kStart) || marker == 0x01) continue;
        if (position + 2 > size) return Stop::end;
        const size_t length = size_t(data[position] << 8 | data[position + 1]);
        if (length < 2 || position + length > size) return Stop::unknown;
        const Segment segment(data + position + 2, length - 2);
        position += length;
        bool known = true;
        if (marker == kBaseline || marker == kExtended || marker == kProgressive) {
            known = read_frame(segment, marker, picture);
        } else if (marker == kHuffmanTables) {
            known = read_huffman(segment, picture);
        } else if (marker == kQuantisationTables) {
            known = read_quantisation(segment, picture);
        } else if (marker == kRestartInterval) {
            known = length == 4;
            if (known) picture.restart_interval = Segment(segment).word();
        } else if (marker == kScan) {
            return read_scan(segment, picture) && has_tables(picture) ? Stop::scan : Stop::unknown;
        } else if ((marker >= 0xC3 && marker <= 0xCF) || marker == kNumberOfLines) {
            known = false;
        }
        if (!known) return Stop::unknown;
    }
}

}  // namespace mmp::jpeg
