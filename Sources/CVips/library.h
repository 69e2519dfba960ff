// The functions of libvips and GLib that are used, with the types that they have in libvips 8.13 and later.
#ifndef SELFIE_VIPS_LIBRARY_H
#define SELFIE_VIPS_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct vips_picture VipsImage;

typedef int (*vips_load)(void *bytes, size_t count, VipsImage **picture, ...);
typedef int (*vips_save)(VipsImage *picture, void **bytes, size_t *count, ...);

struct vips_library {
    int (*init)(const char *program);
    int (*version)(int part);
    void (*concurrency_set)(int threads);
    void (*cache_set_max)(int operations);
    void (*operation_block_set)(const char *name, int is_blocked);
    void (*block_untrusted_set)(int is_blocked);
    size_t (*type_find)(const char *base, const char *name);
    vips_load jpegload_buffer, pngload_buffer, gifload_buffer, webpload_buffer, heifload_buffer;
    vips_save jpegsave_buffer, webpsave_buffer;
    int (*thumbnail_image)(VipsImage *picture, VipsImage **result, int width, ...);
    int (*copy)(VipsImage *picture, VipsImage **result, ...);
    int (*image_get_width)(const VipsImage *picture);
    int (*image_get_height)(const VipsImage *picture);
    int (*image_get_orientation)(VipsImage *picture);
    int (*image_get_bands)(const VipsImage *picture);
    int (*image_get_format)(const VipsImage *picture);
    size_t (*image_get_typeof)(const VipsImage *picture, const char *field);
    int (*image_remove)(VipsImage *picture, const char *field);
    void *(*image_write_to_memory)(VipsImage *picture, size_t *count);
    VipsImage *(*image_new_from_memory)(const void *bytes, size_t count, int width, int height, int bands, int format);
    void *(*module_open)(const char *path, int flags);
    void (*module_make_resident)(void *module);
    void *(*log_set_default_handler)(void (*handler)(const char *, int, const char *, void *), void *data);
    void (*object_unref)(void *object);
    void (*free)(void *bytes);
};

extern struct vips_library vips;

/// Whether all functions were found.
bool vips_library_find(void);
/// Loads the module that reads HEIF, if this libvips has it in a file of its own.
void vips_library_load_heif(void);

#endif
