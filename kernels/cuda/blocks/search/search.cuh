// Search for the plan of a fragment. A team has one or more workers; each is a CUDA block with its
// own canvas. If both splits of a block are worth a trial, the workers divide into two halves, one
// per split.
#pragma once

#include "cuda/blocks/search/trial.cuh"

namespace mmp {

struct Frame {
    BlockPlace block;
    int first, last;       // workers of this frame: first to last - 1
    bool begun, parted;    // parted: each half of the workers tries one split
    uint32_t hash;         // hash of the context of the block
    int64_t bound, least;  // bound on entry, and least cost so far
    const uint8_t* best;   // record of the best plan so far, or null
    int flag, half;        // flag and half that are being tried
    int64_t cost;          // cost of this flag so far
    const uint8_t* halves[2];

    __device__ int middle() const { return (first + last) / 2; }
    __device__ bool alone() const { return last - first == 1; }
};

class Search {
public:
    __device__ explicit Search(Worker& worker) : worker_(worker) {}

    // Returns the record of the best plan. All threads of all workers of the team must call it.
    __device__ const uint8_t* run() {
        forget();
        depth_ = -1;
        const int side = memory().picture.tools.fragment_log2;
        descend({0, 0, side, side}, 0, worker_.workers, kNever);
        while (true) {
            Frame& frame = frames_[depth_];
            if (frame.begun || !recall(frame)) {
                if (!frame.begun) begin(frame);
                if (next_half(frame)) continue;
                if (frame.flag) end_way(frame);
                if (next_way(frame)) continue;
                finish(frame);
            }
            if (depth_ == 0) return found_;
            take(frames_[--depth_]);
        }
    }

private:
    __device__ static BlockSearchMemory& memory() { return search_memory(); }
    __device__ static Canvas& canvas() { return memory().canvas; }

    __device__ void forget() {
        for (int i = threadIdx.x; i < kBlocks; i += kBlockThreads) {
            Findings& findings = reinterpret_cast<Findings*>(worker_.own_memory())[i];
            for (uint32_t& hash : findings.hash) hash = 0;
            findings.spare = 0, findings.next = 1;
        }
        __syncthreads();
    }

    __device__ void descend(const BlockPlace& block, int first, int last, int64_t bound) {
        Frame& frame = frames_[++depth_];
        frame.block = block;
        frame.first = first, frame.last = last;
        frame.bound = bound;
        frame.begun = false;
    }

    // Returns whether an earlier search with the same context answers this one; found_ is then its
    // best record, or null if its cost is not below the bound.
    __device__ bool recall(Frame& frame) {
        if (!frame.alone()) return false;
        const BlockPlace& block = frame.block;
        see_surroundings(memory(), block);
        frame.hash = memory().hash | 1;
        const Findings& findings = worker_.findings(block);
        for (int slot = 0; slot < kSlots; ++slot) {
            if (findings.hash[slot] != frame.hash) continue;
            const uint8_t* record = worker_.record(block, slot);
            if (!seen_before(memory(), block, record)) continue;
            const Record& head = *reinterpret_cast<const Record*>(record);
            found_ = head.cost < frame.bound ? record : nullptr;
            if (head.cost < kNever || frame.bound <= head.bound) return true;
        }
        return false;
    }

    // Tries the block as a leaf.
    __device__ void begin(Frame& frame) {
        const BlockPlace& block = frame.block;
        Findings& findings = worker_.findings(block);
        if (frame.alone()) {
            // Either of the two records may become the one that is kept, so both get the context.
            const int words = surrounding_words(block.a, block.b);
            const int start = RecordLayout(block.a, block.b).surroundings;
            uint32_t* one = reinterpret_cast<uint32_t*>(
                worker_.record(block, findings.spare) + start);
            uint32_t* other = reinterpret_cast<uint32_t*>(
                worker_.record(block, findings.next) + start);
            for (int i = threadIdx.x; i < words; i += kBlockThreads)
                one[i] = other[i] = memory().surroundings[i];
            if (threadIdx.x == 0) findings.hash[findings.next] = 0;
        }
        frame.begun = true;
        frame.best = nullptr;
        frame.least = frame.bound;
        const int worth = memory().worth[block_number(block)];
        frame.parted = !frame.alone() && (worth >> kColumns & 3) == 3;
        frame.flag = kLeaf;
        frame.half = 2;
        if (!(worth & 1)) return;
        uint8_t* record = worker_.record(block, findings.spare);
        const int64_t cost = try_leaf(memory(), block, frame.least, record);
        if (cost >= frame.least) return;
        frame.least = cost;
        frame.best = record;
    }

    // Descends to the next half of a split block, unless no half is left or the cost exceeds the
    // bound.
    __device__ bool next_half(Frame& frame) {
        while (frame.half < 2 &&
               canvas().is_outside(part_of(frame.block, frame.flag, frame.half)))
            frame.halves[frame.half++] = nullptr;
        if (frame.half == 2) return false;
        if (frame.cost >= frame.least) return false;
        const bool second = frame.parted && frame.flag == kRows;
        const int first = second ? frame.middle() : frame.first;
        const int last = frame.parted && !second ? frame.middle() : frame.last;
        descend(part_of(frame.block, frame.flag, frame.half), first, last,
                frame.least - frame.cost);
        return true;
    }

    // Adds the plan found for a half; without a plan, ends this flag.
    __device__ void take(Frame& frame) {
        frame.halves[frame.half] = found_;
        if (found_) {
            show(memory(), part_of(frame.block, frame.flag, frame.half), found_);
            frame.cost += reinterpret_cast<const Record*>(found_)->cost;
            ++frame.half;
        } else {
            frame.cost = kNever;
            frame.half = 2;
        }
    }

    __device__ void end_way(Frame& frame) {
        if (frame.cost < frame.least) {
            const Findings& findings = worker_.findings(frame.block);
            uint8_t* record = worker_.record(frame.block, findings.spare);
            if (record == frame.best) record = worker_.record(frame.block, findings.next);
            gather(canvas(), frame.block, frame.flag, frame.cost, frame.halves, record);
            frame.least = frame.cost;
            frame.best = record;
        }
        mark(canvas(), frame.block, Unit{});
        __syncthreads();
    }

    __device__ bool next_way(Frame& frame) {
        const int worth = memory().worth[block_number(frame.block)];
        for (int flag = frame.flag + 1; flag <= kRows; ++flag) {
            const bool first = worker_.number < frame.middle();
            if (!(worth >> flag & 1) || (frame.parted && first != (flag == kColumns))) continue;
            frame.flag = flag;
            frame.half = 0;
            frame.cost = flag_cost(memory(), frame.block, flag);
            return true;
        }
        return false;
    }

    __device__ void finish(Frame& frame) {
        if (frame.parted) share(frame);
        if (frame.alone()) keep(frame);
        found_ = frame.best;
    }

    // Exchanges the plans of both halves of the workers and takes the better one.
    __device__ void share(Frame& frame) {
        Mail& mail = worker_.team.mail[worker_.part_number(frame.first, frame.last)];
        const bool second = worker_.number >= frame.middle();
        if (threadIdx.x == 0 && worker_.number == (second ? frame.middle() : frame.first)) {
            mail.cost[second] = frame.best ? frame.least : kNever;
            mail.record[second] = frame.best;
        }
        worker_.meet(frame.first, frame.last);
        // Both halves have tried the leaf. Ties go to the leaf, then columns, then rows.
        const volatile Mail& seen = mail;
        const bool better = seen.cost[1] < seen.cost[0];
        frame.least = seen.cost[better];
        frame.best = seen.record[better];
        worker_.meet(frame.first, frame.last);
    }

    __device__ void keep(Frame& frame) {
        Findings& findings = worker_.findings(frame.block);
        const int spare = findings.spare, next = findings.next;
        const bool is_next = frame.best == worker_.record(frame.block, next);
        const int kept = is_next ? next : spare, free = is_next ? spare : next;
        __syncthreads();
        if (threadIdx.x == 0) {
            Record& head = *reinterpret_cast<Record*>(worker_.record(frame.block, kept));
            head.bound = frame.bound;
            if (!frame.best) head.cost = kNever;
            findings.hash[kept] = frame.hash;
            findings.spare = free;
            const int after = (next + 1) % kSlots;
            findings.next = after == free ? (after + 1) % kSlots : after;
        }
        __syncthreads();
    }

    Worker& worker_;
    Frame frames_[kMostSplits + 1];
    int depth_;
    const uint8_t* found_;
};

}  // namespace mmp
