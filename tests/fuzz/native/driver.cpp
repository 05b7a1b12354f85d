// Runs an entry on random inputs in several processes, where there is no libFuzzer.
//
//     ENTRY [--executions N] [--seconds S] [--seed S] [--jobs J] [--out FOLDER] [SEED FOLDER ...]
//     ENTRY --input FILE ...
//
// An input is random choices and a payload of one of several kinds, or a changed seed. A process
// that dies, or takes more than a minute for an input, leaves the input in --out, and another one
// goes on behind it. Prints the number of executions; the exit code is 1 if there are findings.
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "inputs.h"

namespace {

constexpr size_t kMostBytes = 6000;
constexpr unsigned kMostSeconds = 60;  // of an input
constexpr long kMostMemory = 4 << 20;  // of a process, in KiB

// SplitMix64. Source: Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, 2014.
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }
    size_t below(size_t count) { return size_t(next() % count); }

private:
    uint64_t state_;
};

using Input = std::vector<uint8_t>;

// What a process writes, and its parent reads after its death.
struct Shared {
    std::atomic<uint64_t> executions, number;
    size_t size;
    uint8_t input[kMostBytes];
};

void append(Input& input, Random& random, size_t count, int kind) {
    const uint64_t pattern = random.next();
    for (size_t i = 0; i < count; ++i) {
        uint8_t byte = uint8_t(random.next());
        if (kind == 0) byte = 0;
        if (kind == 1) byte = uint8_t(pattern >> 8 * (i % (1 + pattern % 8)));
        if (kind == 2 && random.below(8)) byte = uint8_t(pattern);
        input.push_back(byte);
    }
}

// Changes some bytes, and removes, repeats or inserts a few.
void change(Input& input, Random& random) {
    for (size_t changes = 1 + random.below(8); changes > 0 && !input.empty(); --changes) {
        const size_t place = random.below(input.size());
        const auto at = input.begin() + long(place);
        const auto count = long(1 + random.below(std::min<size_t>(16, input.size() - place)));
        switch (random.below(6)) {
            case 0: input.erase(at, at + count); break;
            case 1: {
                const Input copy(at, at + count);
                input.insert(input.begin() + long(random.below(input.size())), copy.begin(),
                             copy.end());
                break;
            }
            case 2: *at ^= uint8_t(1 << random.below(8)); break;
            case 3: *at = random.below(2) ? 0 : 255; break;
            default: *at = uint8_t(random.next());
        }
    }
}

Input input_of(uint64_t seed, uint64_t number, const std::vector<Input>& seeds) {
    Random random(seed * 0x9e3779b97f4a7c15 ^ number);
    Input input;
    if (!seeds.empty() && random.below(2)) {
        input = seeds[random.below(seeds.size())];
        change(input, random);
    } else {
        append(input, random, 40, 3);
        append(input, random, random.below(random.below(8) ? 200 : 4000), int(random.below(6)));
    }
    if (input.size() > kMostBytes) input.resize(kMostBytes);
    return input;
}

struct Options {
    uint64_t executions = UINT64_MAX, seed = 1;
    double seconds = 60;
    int jobs = int(std::thread::hardware_concurrency());
    std::filesystem::path out = "build/fuzz-native/findings";
    std::vector<Input> seeds;
};

double now() {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(since).count();
}

// Runs the inputs of a job, from the number in `shared` on.
[[noreturn]] void work(const Options& options, Shared& shared, double end) {
    const auto step = uint64_t(options.jobs);
    for (uint64_t number = shared.number; number < options.executions && now() < end;
         number += step) {
        const Input input = input_of(options.seed, number, options.seeds);
        shared.number = number;
        shared.size = input.size();
        std::copy(input.begin(), input.end(), shared.input);
        alarm(kMostSeconds);
        mmp::run_input(input.data(), input.size());
        ++shared.executions;
        rusage usage;
        if (number % 64 < step && getrusage(RUSAGE_SELF, &usage) == 0 &&
            usage.ru_maxrss > kMostMemory)
            mmp::fail("more memory than allowed");
    }
    _exit(0);
}

Input read(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return Input(std::istreambuf_iterator<char>(stream), {});
}

// Keeps the input of a process that died.
void keep(const Options& options, const Shared& shared, int status) {
    std::filesystem::create_directories(options.out);
    const auto path = options.out / ("finding-" + std::to_string(options.seed) + "-" +
                                     std::to_string(shared.number.load()));
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(shared.input), std::streamsize(shared.size));
    if (WIFSIGNALED(status))
        printf("finding: signal %d, input %s\n", WTERMSIG(status), path.c_str());
    else
        printf("finding: exit code %d, input %s\n", WEXITSTATUS(status), path.c_str());
    fflush(stdout);
}

int run(const Options& options, const char* name) {
    // Memory that goes back to the system and comes again takes a third of the time.
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    const double start = now(), end = start + options.seconds;
    const size_t bytes = sizeof(Shared) * size_t(options.jobs);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* shared = static_cast<Shared*>(memory);
    std::vector<pid_t> running(size_t(options.jobs));
    const auto begin = [&](size_t job) {
        running[job] = fork();
        if (running[job] == 0) work(options, shared[job], end);
    };
    for (size_t job = 0; job < running.size(); ++job) {
        (new (&shared[job]) Shared{})->number = job;
        begin(job);
    }
    int findings = 0, status = 0;
    for (pid_t pid; (pid = wait(&status)) > 0;) {
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
        ++findings;
        const auto job = size_t(std::find(running.begin(), running.end(), pid) - running.begin());
        keep(options, shared[job], status);
        shared[job].number += uint64_t(options.jobs);
        begin(job);
    }
    uint64_t executions = 0;
    for (size_t job = 0; job < running.size(); ++job) executions += shared[job].executions;
    printf("%s: %llu executions in %.0f s, %d findings\n", name,
           static_cast<unsigned long long>(executions), now() - start, findings);
    return findings > 0;
}

}  // namespace

int main(int count, char** arguments) {
    Options options;
    bool inputs = false;
    for (int i = 1; i < count; ++i) {
        const std::string option = arguments[i];
        const char* value = i + 1 < count ? arguments[i + 1] : "0";
        if (option == "--input") {
            inputs = true;
        } else if (inputs) {
            const Input input = read(option);
            mmp::run_input(input.data(), input.size());
        } else if (option.rfind("--", 0) != 0) {
            for (const auto& entry : std::filesystem::directory_iterator(option))
                options.seeds.push_back(read(entry.path()));
        } else {
            ++i;
            if (option == "--executions") options.executions = strtoull(value, nullptr, 10);
            else if (option == "--seconds") options.seconds = atof(value);
            else if (option == "--seed") options.seed = strtoull(value, nullptr, 10);
            else if (option == "--jobs") options.jobs = std::max(1, atoi(value));
            else if (option == "--out") options.out = value;
            else return fprintf(stderr, "unknown option %s\n", option.c_str()), 2;
        }
    }
    if (inputs) return 0;
    std::sort(options.seeds.begin(), options.seeds.end());
    return run(options, std::filesystem::path(arguments[0]).filename().c_str());
}
