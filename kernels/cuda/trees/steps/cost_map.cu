// Complete cost map of a scale: the cost of each segment with each element. The search loop keeps
// only the least costs, see search.cu.
#include "cuda/trees/state.cuh"

using namespace mmp;

// Writes costs[segment * size + element], in 1/16 squared error. `source`: 16x16 samples. Any grid
// works.
extern "C" __global__ void cost_map(const State* state, const uint8_t* source, int scale,
                                    int32_t* costs) {
    const Dictionary& dictionary = state->picture.dictionaries[scale];
    const auto* samples = reinterpret_cast<const uint8_t*>(dictionary.samples);
    const uint32_t size = dictionary_size(*state, scale);
    const int area = scale_area(scale), width = scale_width(scale), m = scale_m(scale);
    const uint32_t count = size * (kFragmentArea / area);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const uint32_t element = i % size, segment = i / size;
        const uint8_t* first = source +
                               (segment >> m) * scale_height(scale) * kFragmentSize +
                               (segment & ((1 << m) - 1)) * width;
        int32_t norm = 0, dot = 0;
        for (int j = 0; j < area; ++j) {
            const int32_t sample = first[j / width * kFragmentSize + j % width];
            norm += sample * sample;
            dot += sample * samples[element_sample(scale, element, j)];
        }
        costs[i] = ((norm - 2 * dot) << kCostFractionBits) + dictionary.cost[element] +
                   state->class_cost[scale][dictionary.element_class[element]];
    }
}
