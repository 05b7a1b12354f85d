// Traces back the choices that lead to a state of a knapsack table, from the recorded decisions.
#include "cuda/solvers/knapsack/table.cuh"

using namespace mmp;

// One block of one warp traces one table. If `values` is not null and the value of a table is
// infeasible, its choices and its state are not changed. `states` receives the state before the
// first stage of each table.
extern "C" __global__ void __launch_bounds__(32)
    trace_choices(const Table* tables, const Stage* stages, const Option* options,
                  const uint32_t* decisions, const Value* values, int64_t* choices,
                  int64_t* states) {
    const int lane = threadIdx.x;
    if (values && values[blockIdx.x] < kNothing / 2) return;
    const Table table = tables[blockIdx.x];
    const uint32_t* const planes = decisions + table.decisions;
    int64_t state = table.state;
    for (int last = table.last_stage; last > table.first_stage; last -= 32) {
        // Each lane prefetches one stage, so only the reads of decisions are sequential.
        const int own = last - 1 - lane;
        Stage stage{};
        int64_t shifts[2] = {};
        if (own >= table.first_stage) {
            stage = stages[own];
            shifts[0] = options[stage.option].shift;
            if (stage.options > 1) shifts[1] = options[stage.option + 1].shift;
        }
        int64_t own_choice = 0;
        const int count = min(32, last - table.first_stage);
        for (int i = 0; i < count; ++i) {
            const int64_t plane = __shfl_sync(kAllLanes, stage.plane, i) + lane;
            const int some = __shfl_sync(kAllLanes, stage.options, i);
            const int bits = 32 - __clz(some - 1);
            const uint32_t word = lane < bits ? planes[plane * table.words + state / 32] : 0;
            const int choice = __ballot_sync(kAllLanes, word >> (state % 32) & 1);
            const int first = __shfl_sync(kAllLanes, stage.option, i);
            const int64_t near = __shfl_sync(kAllLanes, shifts[choice & 1], i);
            state -= choice < 2 ? near : static_cast<int64_t>(options[first + choice].shift);
            if (lane == i) own_choice = choice;
        }
        if (own >= table.first_stage) choices[own] = own_choice;
    }
    if (lane == 0) states[blockIdx.x] = state;
}
