"""Prints what is seen in the middle of each quarter of pictures, as libvips decodes them.

    picture_colors.py FILE...

Each line has the width, the height, and four colors, row by row: red, green, blue and opacity, from 0 to 255. It needs
libvips, and nothing from PyPI.
"""

import ctypes
import sys

vips = ctypes.CDLL("libvips.so.42")
vips.vips_image_write_to_memory.restype = ctypes.c_void_p


def decode(path):
    with open(path, "rb") as file:
        data = file.read()
    load = vips.vips_jpegload_buffer if data.startswith(b"\xff\xd8") else vips.vips_webpload_buffer
    image, count = ctypes.c_void_p(), ctypes.c_size_t()
    if load(data, ctypes.c_size_t(len(data)), ctypes.byref(image), None) != 0:
        sys.exit(f"{path} can't be decoded.")
    size = vips.vips_image_get_width(image), vips.vips_image_get_height(image)
    pixels = ctypes.string_at(vips.vips_image_write_to_memory(image, ctypes.byref(count)), count.value)
    return *size, vips.vips_image_get_bands(image), pixels


def color(samples):
    opacity = samples[-1] if len(samples) % 2 == 0 else 255
    colors = list(samples[: len(samples) - 1 + len(samples) % 2])
    return colors * (3 // len(colors)) + [opacity]


vips.vips_init(b"picture_colors")
for path in sys.argv[1:]:
    width, height, bands, pixels = decode(path)
    words = [width, height]
    for y in (height // 4, height * 3 // 4):
        for x in (width // 4, width * 3 // 4):
            start = (y * width + x) * bands
            words += color(pixels[start : start + bands])
    print(*words)
