#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct vips_library vips;

static const struct {
    const char *name;
    void **function;
} functions[] = {
    {"vips_init", (void **)&vips.init},
    {"vips_version", (void **)&vips.version},
    {"vips_concurrency_set", (void **)&vips.concurrency_set},
    {"vips_cache_set_max", (void **)&vips.cache_set_max},
    {"vips_operation_block_set", (void **)&vips.operation_block_set},
    {"vips_block_untrusted_set", (void **)&vips.block_untrusted_set},
    {"vips_type_find", (void **)&vips.type_find},
    {"vips_jpegload_buffer", (void **)&vips.jpegload_buffer},
    {"vips_pngload_buffer", (void **)&vips.pngload_buffer},
    {"vips_gifload_buffer", (void **)&vips.gifload_buffer},
    {"vips_webpload_buffer", (void **)&vips.webpload_buffer},
    {"vips_heifload_buffer", (void **)&vips.heifload_buffer},
    {"vips_jpegsave_buffer", (void **)&vips.jpegsave_buffer},
    {"vips_webpsave_buffer", (void **)&vips.webpsave_buffer},
    {"vips_thumbnail_image", (void **)&vips.thumbnail_image},
    {"vips_copy", (void **)&vips.copy},
    {"vips_image_get_width", (void **)&vips.image_get_width},
    {"vips_image_get_height", (void **)&vips.image_get_height},
    {"vips_image_get_orientation", (void **)&vips.image_get_orientation},
    {"vips_image_get_bands", (void **)&vips.image_get_bands},
    {"vips_image_get_format", (void **)&vips.image_get_format},
    {"vips_image_get_typeof", (void **)&vips.image_get_typeof},
    {"vips_image_remove", (void **)&vips.image_remove},
    {"vips_image_write_to_memory", (void **)&vips.image_write_to_memory},
    {"vips_image_new_from_memory", (void **)&vips.image_new_from_memory},
    // dlsym also looks into the libraries that libvips depends on.
    {"g_module_open", (void **)&vips.module_open},
    {"g_module_make_resident", (void **)&vips.module_make_resident},
    {"g_log_set_default_handler", (void **)&vips.log_set_default_handler},
    {"g_object_unref", (void **)&vips.object_unref},
    {"g_free", (void **)&vips.free},
};

bool vips_library_find(void) {
    // A library stays: it is closed with the process.
    void *library = dlopen("libvips.so.42", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL) return false;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        *functions[i].function = dlsym(library, functions[i].name);
        if (*functions[i].function == NULL) return false;
    }
    return true;
}

void vips_library_load_heif(void) {
    Dl_info place;
    if (vips.type_find("VipsOperation", "heifload_buffer") != 0) return;
    if (dladdr((void *)vips.init, &place) == 0 || place.dli_fname == NULL) return;
    const char *slash = strrchr(place.dli_fname, '/');
    if (slash == NULL) return;
    char path[4096];
    int length = snprintf(path, sizeof path, "%.*s/vips-modules-%d.%d/vips-heif.so", (int)(slash - place.dli_fname),
                          place.dli_fname, vips.version(0), vips.version(1));
    if (length < 0 || (size_t)length >= sizeof path) return;
    void *module = vips.module_open(path, 1 /* G_MODULE_BIND_LAZY */);
    // It adds types, which can't be removed again.
    if (module != NULL) vips.module_make_resident(module);
}
