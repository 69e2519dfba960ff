// The calls of libvips that the renderer makes.
//
// libvips is opened while the program runs, so that building needs no libvips-dev, and nothing links it. Its functions take
// variable arguments, which Swift can't pass. Functions and options are those of libvips 8.13 and later.
#ifndef SELFIE_VIPS_H
#define SELFIE_VIPS_H

#include <stdbool.h>
#include <stddef.h>

enum vips_format {
    vips_format_jpeg,
    vips_format_png,
    vips_format_gif,
    vips_format_webp,
    /// HEIC and AVIF.
    vips_format_heif,
};

/// A picture of which only the header was read, as `VipsImage`.
struct vips_picture;

/// Decoded pixels, a byte for each band, without anything else of the file they came from.
struct vips_pixels {
    unsigned char *bytes;
    size_t count;
    int width;
    int height;
    /// 1 for grey, 3 for sRGB, and one more with transparency.
    int bands;
};

/// Opens libvips with one thread, without its modules except for HEIF, and blocks all loaders but five.
///
/// Returns whether that worked. It is to be called once, before all others.
bool vips_open(void);

/// Reads a picture's header; NULL when it is damaged or there is no such loader.
///
/// The bytes must stay until the picture is closed. `shrink` is by how much the decoder may make it smaller: 1, 2, 4 or 8
/// for JPEG, any factor from 1 for WebP. Others ignore it.
struct vips_picture *vips_picture_open(enum vips_format format, const void *bytes, size_t count, double shrink);
int vips_picture_width(const struct vips_picture *picture);
int vips_picture_height(const struct vips_picture *picture);
/// Forgets the color profile, and returns whether there was one.
bool vips_picture_drop_profile(struct vips_picture *picture);
/// Whether a quarter turn makes it upright.
bool vips_picture_lies(const struct vips_picture *picture);
void vips_picture_close(struct vips_picture *picture);

/// Decodes a picture: upright, in sRGB, of exactly this size.
///
/// Returns whether that worked. `bytes` is to be freed with `vips_free`.
bool vips_picture_shrink(struct vips_picture *picture, int width, int height, struct vips_pixels *pixels);

/// Whether no pixel is transparent at all.
bool vips_pixels_are_opaque(const struct vips_pixels *pixels);
/// Removes the transparency, in place.
void vips_pixels_make_opaque(struct vips_pixels *pixels);

/// Encode with quality 80. They return the bytes, to be freed with `vips_free`; NULL on failure.
void *vips_pixels_jpeg(const struct vips_pixels *pixels, size_t *count);
void *vips_pixels_webp(const struct vips_pixels *pixels, size_t *count);

void vips_free(void *bytes);

#endif
