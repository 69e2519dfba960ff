#include <stddef.h>
#include <stdint.h>

// Source: LLVM, "libFuzzer", section "Using libFuzzer as a library".
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*userCallback)(const uint8_t *data, size_t size));
