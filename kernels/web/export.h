// Marks the functions that mmpcodec/web/mmp.wasm exports.
#pragma once

#define MMP_EXPORT(name) extern "C" __attribute__((export_name(#name)))
