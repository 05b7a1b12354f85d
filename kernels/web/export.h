// Exports a function of the WebAssembly module by its own name.
#pragma once

#define MMP_EXPORT(name) extern "C" __attribute__((export_name(#name)))
