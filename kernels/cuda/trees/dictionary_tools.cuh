// Insertion with the dictionary tools: redundancy radius, replacement.
//
// The warps of a block compare a batch of candidates, one per warp, with the dictionary and with
// each other. One warp then decides on the candidates in order, using only shared memory, and all
// warps write the result.
#pragma once

#include "shared/trees/redundancy.h"
#include "cuda/trees/insert.cuh"

namespace mmp {

template <bool WithTools>
struct ToolsMemory {};

template <>
struct ToolsMemory<true> {
    // Indexed by candidate of a batch of kLearnWarps. Bit i of a mask is member i of the
    // candidate's cell, or candidate i of the batch; the oldest comes first.
    uint8_t here[kWarps];                // whether the warp has a candidate
    int32_t cell[kWarps], sum[kWarps];
    uint32_t known[kWarps];              // the element with equal samples, or kNoElement
    uint32_t member[kCellSize][kWarps];  // elements of its cell
    uint32_t members[kWarps], near_members[kWarps];
    uint32_t near[kWarps], equal[kWarps];
    // Result, by candidate:
    uint32_t place[kWarps], number[kWarps];  // index or kNoElement; number of its insertion
    uint8_t writes[kWarps];                  // whether its warp writes the cell
    uint32_t kept[kWarps], joined[kWarps];   // members of its cell that stay, candidates that join
    // Elements to replace, in order, and the position of the replacement hand after each:
    uint32_t victim[kWarps], hand[kWarps];
    uint32_t taken;  // mask of the candidates that are not redundant
};

__device__ inline bool has_dictionary_tools(const Picture& picture) {
    return picture.redundancy_radius || picture.replacement;
}

__device__ inline int radius_of(const Picture& picture, int scale) {
    return scale == kPixelScale ? 0 : picture.redundancy_radius;
}

// Member of a cell. Its packed form is never 0; 0 means no member.
struct CellMember {
    uint32_t element, number;  // number of the insertion that created the element
    int sum;                   // sum of the samples

    __device__ uint64_t packed() const {
        return uint64_t{number + 1} << 32 | static_cast<uint32_t>(sum) << 16 | element;
    }
    __device__ static CellMember from(uint64_t packed) {
        return {static_cast<uint32_t>(packed) & 0xFFFF, static_cast<uint32_t>(packed >> 32) - 1,
                static_cast<int>(packed >> 16 & 0xFFFF)};
    }
};

// Cell number of an element, and the sum of its samples.
struct Look {
    int cell, sum;
};

__device__ inline Look warp_look(const uint8_t* samples, int scale) {
    const int down = quarters_down(scale), across = quarters_across(scale);
    const int width_log2 = kFragmentLog2 - scale_m(scale), width = 1 << width_log2;
    const int high = scale_height(scale) >> down, wide = width >> across;
    uint32_t upper = 0, lower = 0;  // packed sums: left quarter, right quarter in the high half
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < scale_area(scale); i += 32) {
        const uint32_t sample = samples[i] << ((i & (width - 1)) >= wide ? 16 : 0);
        ((i >> width_log2) >= high ? lower : upper) += sample;
    }
    upper = warp_sum(upper);
    lower = warp_sum(lower);
    Look look{0, 0};
    const auto add = [&](int sum) {
        look.cell = look.cell << 2 | quarter_level(scale, sum);
        look.sum += sum;
    };
    add(upper & 0xFFFF);
    if (across) add(upper >> 16);
    if (down) add(lower & 0xFFFF);
    if (down && across) add(lower >> 16);
    return look;
}

// Makes an element of the initial dictionary a member of its cell. One warp calls it.
__device__ inline void start_member(const Picture& picture, int scale, const uint8_t* samples,
                                    uint32_t number, int member) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const Look look = warp_look(samples, scale);
    if (threadIdx.x % 32 > 0) return;
    dictionary.cells[look.cell * kCellSize + member] = CellMember{number, number, look.sum}.packed();
    if (dictionary.insertion) dictionary.insertion[number] = number;
}

// Squared error of two elements over every `step`-th word of four samples, from word `first` on.
template <class Word>
__device__ inline uint32_t squared_error(const uint8_t* samples, int area, int first, int step,
                                         const Word& other) {
    uint32_t sum = 0;
#pragma unroll 4
    for (int i = first; i < area / 4; i += step) {
        const uint32_t a = reinterpret_cast<const uint32_t*>(samples)[i], b = other(i);
        sum += __dp4a(a, a, __dp4a(b, b, 0u)) - 2 * __dp4a(a, b, 0u);
    }
    return sum;
}

__device__ inline uint32_t squared_error_of_two(const uint8_t* a, const uint8_t* b) {
    const int first = a[0] - b[0], second = a[1] - b[1];
    return first * first + second * second;
}

// Compares a candidate with the members of its cell, two lanes per member. Returns whether a member
// is within the radius. One warp calls it.
__device__ inline bool compare_with_cell(const Picture& picture, int scale, const uint8_t* samples,
                                         ToolsMemory<true>& tools) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    const int radius = radius_of(picture, scale);
    const Look look = warp_look(samples, scale);
    const int number = lane % kCellSize, half = lane / kCellSize;
    const uint64_t packed = dictionary.cells[look.cell * kCellSize + number];
    const CellMember member = CellMember::from(packed);
    // A member whose element was replaced is ignored.
    const bool there = packed && (!picture.replacement ||
                                  dictionary.insertion[member.element] == member.number);
    const bool compared = there && !sums_too_far(look.sum - member.sum, radius, area);
    uint32_t distance = 0;
    if (compared && area >= 4) {
        distance = squared_error(samples, area, half, 2, [&](int i) {
            return dictionary.samples[element_word(scale, member.element, i)];
        });
    } else if (compared && half == 0) {
        const auto* bytes = reinterpret_cast<const uint8_t*>(dictionary.samples);
        distance = squared_error_of_two(samples, bytes + element_sample(scale, member.element, 0));
    }
    distance += __shfl_xor_sync(kAllLanes, distance, kCellSize);
    const uint32_t members = __ballot_sync(kAllLanes, there && half == 0);
    const uint32_t near = __ballot_sync(
        kAllLanes, compared && half == 0 && distance <= static_cast<uint32_t>(radius));
    if (half == 0) tools.member[number][warp] = member.element;
    if (lane == 0) {
        tools.cell[warp] = look.cell;
        tools.sum[warp] = look.sum;
        tools.members[warp] = members;
        tools.near_members[warp] = near;
    }
    return near;
}

// Compares a candidate with the earlier candidates of its batch, one per lane. One warp calls it.
__device__ inline void compare_with_earlier(const Picture& picture, int scale,
                                            const LearnMemory& memory, ToolsMemory<true>& tools) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, area = scale_area(scale);
    const int radius = radius_of(picture, scale);
    const uint8_t *samples = memory.element[warp], *other = memory.element[lane];
    const bool alike =
        radius ? tools.cell[lane] == tools.cell[warp] &&
                     !sums_too_far(tools.sum[lane] - tools.sum[warp], radius, area)
               : memory.hash[lane] == memory.hash[warp];
    const bool compared = lane < warp && tools.here[lane] && alike;
    uint32_t distance = 0;
    if (compared)
        distance = area < 4 ? squared_error_of_two(samples, other)
                            : squared_error(samples, area, 0, 1, [&](int i) {
                                  return reinterpret_cast<const uint32_t*>(other)[i];
                              });
    const uint32_t near =
        __ballot_sync(kAllLanes, compared && distance <= static_cast<uint32_t>(radius));
    const uint32_t equal = __ballot_sync(kAllLanes, compared && distance == 0);
    if (lane > 0) return;
    tools.near[warp] = near;
    tools.equal[warp] = equal;
}

// Whether the elements of a full dictionary can be replaced.
__device__ inline bool replaces(const Picture& picture, const Scale& models) {
    return picture.replacement && models.start < picture.dictionary_limit;
}

// Finds the elements that a whole batch would replace. They can be found in advance, because no
// element becomes used while a fragment is learnt. One warp calls it.
__device__ inline void find_victims(const Picture& picture, const Dictionary& dictionary,
                                    const Scale& models, uint32_t size, ToolsMemory<true>& tools) {
    const int lane = threadIdx.x % 32;
    const uint32_t places = picture.dictionary_limit - models.start;
    uint32_t hand = models.hand - models.start, left = kHandSteps;
#pragma unroll 1
    for (int found = 0; found < kLearnWarps; hand = (hand + 32) % places) {
        const uint32_t element = models.start + (hand + lane) % places;
        // Elements at or beyond `size` will be new by then, so never used.
        const uint32_t unused =
            __ballot_sync(kAllLanes, element >= size || dictionary.count[element] == 1);
#pragma unroll 1
        for (uint32_t step = 0; step < 32 && found < kLearnWarps;) {
            const uint32_t rest = unused >> step, most = min(left, 32 - step);
            const uint32_t used = rest ? __ffs(rest) - 1 : 32;
            const bool hit = used < most;
            step += hit ? used + 1 : most;
            left -= hit ? 0 : most;
            if (!hit && left) continue;
            if (lane == 0) {
                tools.victim[found] = hit ? models.start + (hand + step - 1) % places : kNoElement;
                tools.hand[found] = models.start + (hand + step) % places;
            }
            ++found;
            left = kHandSteps;
        }
    }
}

// Decides in order which candidates of a batch are redundant, and assigns an element to each of the
// others. One warp calls it; each lane holds a candidate and the remaining members of its cell.
__device__ inline void settle_batch(const Picture& picture, int scale, uint32_t insertions,
                                    LearnMemory& memory, ToolsMemory<true>& tools) {
    const int lane = threadIdx.x % 32;
    Scale& models = memory.models[scale];
    const bool here = tools.here[lane], celled = radius_of(picture, scale) > 0;
    const int cell = tools.cell[lane];
    const uint32_t near_members = here && celled ? tools.near_members[lane] : 0;
    const uint32_t near = here ? tools.near[lane] : 0, equal = here ? tools.equal[lane] : 0;
    uint32_t known = tools.known[lane], place = kNoElement;
    uint32_t kept = here && celled ? tools.members[lane] : 0, joined = 0;
    uint32_t size = min(insertions, picture.dictionary_limit);
    uint32_t taken = 0, present = 0, replaced = 0;
    bool changed = false;
#pragma unroll 1
    for (int i = 0; i < kLearnWarps; ++i) {
        const bool redundant = !here || known != kNoElement || near_members & kept || near & joined ||
                               equal & present;
        if (__shfl_sync(kAllLanes, int{redundant}, i)) continue;
        const bool full = size == picture.dictionary_limit;
        if (full && !replaces(picture, models)) break;
        taken |= 1u << i;
        const uint32_t element = full ? tools.victim[replaced] : size;
        size += !full;
        replaced += full;
        if (element == kNoElement) continue;
        if (full) {
            if (known == element) known = kNoElement;
            const uint32_t again = __ballot_sync(kAllLanes, place == element);
            present &= ~again;
            joined &= ~again;
            if (place == element) place = kNoElement;
            for (int j = 0; j < kCellSize; ++j)
                if (tools.member[j][lane] == element) kept &= ~(1u << j);
        }
        if (lane == i) place = element;
        present |= 1u << i;
        if (cell != __shfl_sync(kAllLanes, cell, i)) continue;
        // A full cell drops its oldest member.
        if (__popc(kept) + __popc(joined) == kCellSize) {
            if (kept)
                kept &= kept - 1;
            else
                joined &= joined - 1;
        }
        joined |= 1u << i;
        changed = true;
    }
    // The first candidate of a cell writes the cell.
    const uint32_t alike = __match_any_sync(kAllLanes, here ? cell : -1 - lane);
    const uint32_t number = insertions + __popc(taken & ((1u << lane) - 1));
    tools.place[lane] = place;
    tools.number[lane] = number;
    tools.kept[lane] = kept;
    tools.joined[lane] = joined;
    tools.writes[lane] = celled && here && changed && __ffs(alike) - 1 == lane;
    if (taken >> lane & 1)
        picture.first_class[scale * picture.class_room + number % picture.class_room] =
            memory.element_class[lane];
    if (lane > 0) return;
    tools.taken = taken;
    if (replaced) models.hand = tools.hand[replaced - 1];
}

// Writes this warp's candidate, if it was accepted, into a dictionary of `size` elements.
__device__ inline void write_settled(const Picture& picture, int scale, uint32_t size,
                                     LearnMemory& memory, const ToolsMemory<true>& tools) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const uint32_t lower = (1u << lane) - 1;
    if (tools.writes[warp]) {
        uint64_t* members = dictionary.cells + tools.cell[warp] * kCellSize;
        const uint32_t kept = tools.kept[warp], joined = tools.joined[warp], old = __popc(kept);
        const uint64_t member = members[lane % kCellSize];
        __syncwarp();
        if (lane < kCellSize && lane >= old + __popc(joined)) members[lane] = 0;
        if (kept >> lane & 1) members[__popc(kept & lower)] = member;
        if (joined >> lane & 1)
            members[old + __popc(joined & lower)] =
                CellMember{tools.place[lane], tools.number[lane], tools.sum[lane]}.packed();
    }
    const uint32_t element = tools.place[warp];
    if (element == kNoElement) return;
    const int c = memory.element_class[warp];
    if (lane == 0) {
        Scale& models = memory.models[scale];
        if (element < size) {
            const int old = dictionary.element_class[element];
            atomicSub(&models.class_size[old], 1u);
            atomicSub(&models.class_total[old], 1u);
        }
        atomicAdd(&models.class_size[c], 1u);
        atomicAdd(&models.class_total[c], 1u);
        atomicAdd(&models.entries, 1u);
        if (dictionary.insertion) dictionary.insertion[element] = tools.number[warp];
    }
    __syncwarp();
    warp_insert(picture, scale, element, memory.element[warp], c, memory.hash[warp]);
}

// Rebuilds the hash table without replaced elements. All threads of the block call it.
__device__ inline void clean_table(const Picture& picture, int scale, uint32_t size, Scale& models) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    __syncthreads();
    for (uint32_t i = threadIdx.x; i <= picture.table_mask; i += kThreads) dictionary.table[i] = 0;
    if (threadIdx.x == 0) models.entries = size;
    __syncthreads();
    for (uint32_t element = threadIdx.x; element < size; element += kThreads)
        enter(picture, dictionary, element,
              element_hash(picture.hash_key, dictionary, scale, element));
    __syncthreads();
}

// Inserts the candidates of this batch that are not redundant, in order. `insertions` is the number
// of insertions into the dictionary before the batch; returns the number after it. `here`: this
// warp has a candidate; its samples and class are in `memory`.
__device__ inline uint32_t insert_batch(const Picture& picture, int scale, uint32_t insertions,
                                        LearnMemory& memory, ToolsMemory<true>& tools, bool here) {
    const Dictionary& dictionary = picture.dictionaries[scale];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Scale& models = memory.models[scale];
    const uint8_t* samples = memory.element[warp];
    const uint32_t size = min(insertions, picture.dictionary_limit);
    // Entries of replaced elements remain in the table and make lookups slower.
    if (models.entries + kLearnWarps > picture.table_mask / 4 * 3)
        clean_table(picture, scale, size, models);
    bool fresh = false;
    if (here) {
        const uint32_t hash = warp_hash(picture.hash_key, samples, scale_area(scale));
        const uint32_t known = warp_find(picture, dictionary, scale, samples, hash);
        const bool near =
            radius_of(picture, scale) > 0 && compare_with_cell(picture, scale, samples, tools);
        fresh = known == kNoElement && !near;
        if (lane == 0) {
            memory.hash[warp] = hash;
            tools.known[warp] = known;
        }
    }
    if (lane == 0) tools.here[warp] = here;
    if (warp == kModelWarp && replaces(picture, models) &&
        size + kLearnWarps > picture.dictionary_limit)
        find_victims(picture, dictionary, models, size, tools);
    // If every candidate is redundant in the present dictionary, the batch changes nothing.
    if (!__syncthreads_or(fresh)) return insertions;
    if (here) compare_with_earlier(picture, scale, memory, tools);
    __syncthreads();
    if (warp == 0) settle_batch(picture, scale, insertions, memory, tools);
    __syncthreads();
    write_settled(picture, scale, size, memory, tools);
    insertions += __popc(tools.taken);
    __syncthreads();
    return insertions;
}

}  // namespace mmp
