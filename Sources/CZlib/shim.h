#include <zlib.h>

// A macro in zlib.h, which Swift does not import.
static inline int selfie_deflateInit2(z_streamp stream, int level, int windowBits, int memLevel) {
    return deflateInit2(stream, level, Z_DEFLATED, windowBits, memLevel, Z_DEFAULT_STRATEGY);
}
