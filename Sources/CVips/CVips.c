#define _GNU_SOURCE
#include "CVips.h"
#include "library.h"

#include <stdlib.h>
#include <string.h>

// Of libvips' enumerations, whose numbers never change.
enum { access_sequential = 1, size_force = 3, format_uchar = 0, interpretation_b_w = 1, interpretation_srgb = 22 };

#define PROFILE "icc-profile-data"

static void drop_message(const char *domain, int level, const char *message, void *data) {
    (void)domain, (void)level, (void)message, (void)data;
}

bool vips_open(void) {
    // libvips looks for its modules below this folder. They would load ImageMagick, Poppler and OpenSlide, and take 100 ms.
    setenv("VIPSHOME", "/nonexistent", 1);
    // The compiler of vector code wants memory that is writable and executable.
    setenv("VIPS_NOVECTOR", "1", 1);
    setenv("VIPS_CONCURRENCY", "1", 1);
    if (!vips_library_find()) return false;
    vips.log_set_default_handler(drop_message, NULL);
    if (vips.init("selfie-render") != 0) return false;
    vips.concurrency_set(1);
    vips.cache_set_max(0);
    vips_library_load_heif();
    vips.operation_block_set("VipsForeignLoad", true);
    vips.operation_block_set("VipsForeignLoadJpegBuffer", false);
    vips.operation_block_set("VipsForeignLoadPngBuffer", false);
    vips.operation_block_set("VipsForeignLoadNsgifBuffer", false);
    vips.operation_block_set("VipsForeignLoadWebpBuffer", false);
    vips.operation_block_set("VipsForeignLoadHeifBuffer", false);
    vips.block_untrusted_set(true);
    return true;
}

struct vips_picture *vips_picture_open(enum vips_format format, const void *bytes, size_t count, double shrink) {
    VipsImage *picture = NULL;
    void *data = (void *)bytes;
    int status = -1;
    switch (format) {
    case vips_format_jpeg:
        status = vips.jpegload_buffer(data, count, &picture, "access", access_sequential, "shrink", (int)shrink, NULL);
        break;
    case vips_format_png:
        status = vips.pngload_buffer(data, count, &picture, "access", access_sequential, NULL);
        break;
    case vips_format_gif:
        status = vips.gifload_buffer(data, count, &picture, "access", access_sequential, "page", 0, "n", 1, NULL);
        break;
    case vips_format_webp:
        status = vips.webpload_buffer(data, count, &picture, "access", access_sequential, "page", 0, "n", 1, "scale",
                                      1 / shrink, NULL);
        break;
    case vips_format_heif:
        // Without "page", it is the primary picture. The thumbnail may show what was cropped away.
        status = vips.heifload_buffer(data, count, &picture, "access", access_sequential, "thumbnail", 0, NULL);
        break;
    }
    return status == 0 ? picture : NULL;
}

int vips_picture_width(const struct vips_picture *picture) {
    return vips.image_get_width(picture);
}

int vips_picture_height(const struct vips_picture *picture) {
    return vips.image_get_height(picture);
}

bool vips_picture_drop_profile(struct vips_picture *picture) {
    return vips.image_remove(picture, PROFILE) != 0;
}

bool vips_picture_lies(const struct vips_picture *picture) {
    // From 5 on, Exif's orientations have rows and columns exchanged.
    return vips.image_get_orientation((VipsImage *)picture) >= 5;
}

void vips_picture_close(struct vips_picture *picture) {
    vips.object_unref(picture);
}

/// Takes the pixels out of a picture that is small by now.
static bool write_pixels(VipsImage *small, struct vips_pixels *pixels) {
    pixels->width = vips.image_get_width(small);
    pixels->height = vips.image_get_height(small);
    pixels->bands = vips.image_get_bands(small);
    if (vips.image_get_format(small) != format_uchar || pixels->bands < 1 || pixels->bands > 4) return false;
    pixels->bytes = vips.image_write_to_memory(small, &pixels->count);
    return pixels->bytes != NULL;
}

bool vips_picture_shrink(struct vips_picture *picture, int width, int height, struct vips_pixels *pixels) {
    VipsImage *small = NULL;
    // Only with a profile of its own: without one, libvips would take a detour that costs time and precision.
    int status = vips.image_get_typeof(picture, PROFILE) != 0
                     ? vips.thumbnail_image(picture, &small, width, "height", height, "size", size_force, "export_profile",
                                            "srgb", NULL)
                     : vips.thumbnail_image(picture, &small, width, "height", height, "size", size_force, NULL);
    if (status != 0) return false;
    bool is_written = write_pixels(small, pixels);
    vips.object_unref(small);
    return is_written;
}

bool vips_pixels_are_opaque(const struct vips_pixels *pixels) {
    if (pixels->bands % 2 != 0) return true;
    size_t bands = (size_t)pixels->bands;
    for (size_t i = bands - 1; i < pixels->count; i += bands) {
        if (pixels->bytes[i] != 255) return false;
    }
    return true;
}

void vips_pixels_make_opaque(struct vips_pixels *pixels) {
    if (pixels->bands % 2 != 0) return;
    size_t bands = (size_t)pixels->bands, end = 0;
    for (size_t i = 0; i + bands <= pixels->count; i += bands) {
        memmove(pixels->bytes + end, pixels->bytes + i, bands - 1);
        end += bands - 1;
    }
    pixels->bands--;
    pixels->count = end;
}

/// A picture that consists of pixels, and knows nothing of the file they came from.
static VipsImage *picture_of(const struct vips_pixels *pixels) {
    VipsImage *bare = vips.image_new_from_memory(pixels->bytes, pixels->count, pixels->width, pixels->height,
                                                 pixels->bands, format_uchar);
    if (bare == NULL) return NULL;
    VipsImage *picture = NULL;
    int interpretation = pixels->bands < 3 ? interpretation_b_w : interpretation_srgb;
    int status = vips.copy(bare, &picture, "interpretation", interpretation, NULL);
    vips.object_unref(bare);
    return status == 0 ? picture : NULL;
}

void *vips_pixels_jpeg(const struct vips_pixels *pixels, size_t *count) {
    VipsImage *picture = picture_of(pixels);
    if (picture == NULL) return NULL;
    void *bytes = NULL;
    int status = vips.jpegsave_buffer(picture, &bytes, count, "Q", 80, "optimize_coding", 1, "strip", 1, NULL);
    vips.object_unref(picture);
    return status == 0 ? bytes : NULL;
}

void *vips_pixels_webp(const struct vips_pixels *pixels, size_t *count) {
    VipsImage *picture = picture_of(pixels);
    if (picture == NULL) return NULL;
    void *bytes = NULL;
    int status = vips.webpsave_buffer(picture, &bytes, count, "Q", 80, "strip", 1, NULL);
    vips.object_unref(picture);
    return status == 0 ? bytes : NULL;
}

void vips_free(void *bytes) {
    vips.free(bytes);
}
