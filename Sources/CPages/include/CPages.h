// The files that browsers get, as they lie in the folders beside, made a part of the program.
#ifndef SELFIE_PAGES_H
#define SELFIE_PAGES_H

#include <stddef.h>

struct selfie_page {
    /// Its folder and name, such as "docs/docs.js".
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// All files.
const struct selfie_page *selfie_pages(void);
/// How many there are.
size_t selfie_page_count(void);

#endif
