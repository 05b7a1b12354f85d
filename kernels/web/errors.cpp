// Exceptions in WebAssembly: `throw` calls an imported function of the page with the kind, the
// section and the text of the error. The function throws an exception of JavaScript, which leaves
// the module without unwinding; the caller throws the module's instance away. So the other files
// throw as they do everywhere. No decoder catches.
#include <stdint.h>
#include <stdlib.h>

#include <exception>
#include <new>
#include <typeinfo>

#include "cpu/runtime/errors.h"

namespace {

// The numbers stand in mmpcodec/web/decoder/wasm.js too.
enum Kind : int32_t { kTruncated, kCorrupt, kOutOfMemory, kOther };

extern "C" [[noreturn]] __attribute__((import_module("mmp"), import_name("fail"))) void fail(
    Kind kind, const char* section, const char* text);

[[noreturn]] void out_of_memory() { fail(kOutOfMemory, "", "no memory is left"); }

void* memory_of(size_t size, size_t alignment) {
    const size_t own = size ? size : 1;
    void* const memory =
        alignment ? aligned_alloc(alignment, (own + alignment - 1) / alignment * alignment)
                  : malloc(own);
    if (memory == nullptr) out_of_memory();
    return memory;
}

}  // namespace

extern "C" {

void* __cxa_allocate_exception(size_t size) noexcept {
    void* const memory = malloc(size);
    if (memory == nullptr) out_of_memory();
    return memory;
}

void __cxa_free_exception(void* memory) noexcept { free(memory); }

[[noreturn]] void __cxa_throw(void* thrown, std::type_info* type, void (*)(void*)) {
    if (*type == typeid(mmp::TruncatedPayload)) {
        const auto* error = static_cast<mmp::TruncatedPayload*>(thrown);
        fail(kTruncated, error->section, error->what());
    }
    if (*type == typeid(mmp::CorruptPayload)) {
        const auto* error = static_cast<mmp::CorruptPayload*>(thrown);
        fail(kCorrupt, error->section, error->what());
    }
    if (*type == typeid(std::bad_alloc)) out_of_memory();
    fail(kOther, "", type->name());
}

}  // extern "C"

// The library's own would end the program without a word.
void* operator new(size_t size) { return memory_of(size, 0); }
void* operator new[](size_t size) { return memory_of(size, 0); }
void* operator new(size_t size, std::align_val_t alignment) {
    return memory_of(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
    return memory_of(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { free(memory); }
void operator delete[](void* memory) noexcept { free(memory); }
void operator delete(void* memory, size_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t) noexcept { free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { free(memory); }
