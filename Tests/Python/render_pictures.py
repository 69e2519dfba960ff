"""Makes the pictures of Tests/RendererTests/Pictures.

    render_pictures.py FOLDER

Each picture shows, when it is upright, four fields: red, green / blue, yellow. It needs pillow-heif, Pillow and numpy from
PyPI, and avifenc (Debian's libavif-bin). It is run by hand.
"""

import io
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy
import pillow_heif
from PIL import Image, PngImagePlugin

RED, GREEN, BLUE, YELLOW = (220, 40, 40), (40, 200, 60), (40, 60, 220), (230, 220, 40)
MAGENTA = (230, 0, 230)
PLANTED = "PLANTED"


def fields(width=96, height=64, colors=(RED, GREEN, BLUE, YELLOW)):
    pixels = numpy.zeros((height, width, len(colors[0])), numpy.uint8)
    middle, center = height // 2, width // 2
    pixels[:middle, :center], pixels[:middle, center:] = colors[0], colors[1]
    pixels[middle:, :center], pixels[middle:, center:] = colors[2], colors[3]
    return Image.fromarray(pixels)


def plain(color, width, height):
    return Image.new("RGB", (width, height), color)


def exif(orientation):
    block = Image.Exif()
    block[0x0112] = orientation
    return block


# How the stored pixels are to be turned so that each orientation of Exif shows the picture upright.
STORED = {
    1: None, 2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def stored(image, orientation):
    turn = STORED[orientation]
    return image if turn is None else image.transpose(turn)


def profile(red, green, blue):
    """An ICC profile of version 4 with sRGB's curve and these primaries, as XYZ relative to D50."""
    number = lambda value: struct.pack(">i", round(value * 65536))
    xyz = lambda values: b"XYZ \0\0\0\0" + b"".join(map(number, values))
    text = lambda words: b"mluc" + bytes(4) + struct.pack(">II2s2sII", 1, 12, b"en", b"US", 2 * len(words), 28) + \
        words.encode("utf-16-be")
    curve = b"para" + bytes(4) + struct.pack(">HH", 3, 0) + b"".join(
        map(number, (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)))
    tags = {
        b"desc": text("P3"), b"cprt": text("none"), b"wtpt": xyz((0.9642, 1, 0.8249)), b"rXYZ": xyz(red),
        b"gXYZ": xyz(green), b"bXYZ": xyz(blue), b"rTRC": curve, b"gTRC": curve, b"bTRC": curve,
    }
    table, data = b"", b""
    start = 128 + 4 + 12 * len(tags)
    for name, contents in tags.items():
        contents += bytes(-len(contents) % 4)
        table += struct.pack(">4sII", name, start + len(data), len(contents))
        data += contents
    head = struct.pack(">II", start + len(data), 0) + b"\4\0\0\0mntrRGB XYZ " + bytes(12) + b"acsp" + bytes(28)
    head += struct.pack(">III", 0xF6D6, 0x10000, 0xD32D)
    return head + bytes(128 - len(head)) + struct.pack(">I", len(tags)) + table + data


P3 = profile((0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407))


def png_chunk(kind, contents):
    return struct.pack(">I", len(contents)) + kind + contents + struct.pack(">I", zlib.crc32(kind + contents))


def png16():
    """Four fields with 16 bits for each color."""
    pixels = numpy.asarray(fields()).astype(">u2") * 257
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", 96, 64, 16, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + png_chunk(b"IDAT", zlib.compress(rows)) + \
        png_chunk(b"IEND", b"")


def box(kind, contents=b""):
    return struct.pack(">I4s", 8 + len(contents), kind) + contents


def full(kind, version=0, flags=0, contents=b""):
    return box(kind, struct.pack(">I", version << 24 | flags) + contents)


def boxes(data):
    while data:
        size, kind = struct.unpack(">I4s", data[:8])
        yield kind, data[8:size]
        data = data[size:]


def coded(image):
    """The configuration and the data of a picture in HEVC."""
    file = io.BytesIO()
    pillow_heif.from_pillow(image).save(file, quality=60, chroma=420)
    top = dict(boxes(file.getvalue()))
    properties = dict(boxes(dict(boxes(dict(boxes(top[b"meta"][4:]))[b"iprp"]))[b"ipco"]))
    return properties[b"hvcC"], top[b"mdat"]


def heic(pictures, primary=1, turn=None, thumbnail_of=None):
    """A HEIC of pictures with the numbers 1, 2, and so on. All are turned by `irot` if that is given."""
    properties, uses, data = [], [], []
    for picture in pictures:
        config, mdat = coded(picture)
        properties += [box(b"hvcC", config), full(b"ispe", contents=struct.pack(">II", *picture.size))]
        uses.append([0x80 | len(properties) - 1, len(properties)])
        data.append(mdat)
    if turn is not None:
        properties.append(box(b"irot", bytes([turn])))
        for use in uses:
            use.append(0x80 | len(properties))
    count = struct.pack(">H", len(pictures))

    def head(start):
        locations, place = b"", start
        for number, part in enumerate(data, 1):
            locations += struct.pack(">HHHII", number, 0, 1, place, len(part))
            place += len(part)
        entries = b"".join(full(b"infe", 2, 0, struct.pack(">HH4s", number, 0, b"hvc1") + b"\0")
                           for number in range(1, len(pictures) + 1))
        kinds = b"".join(struct.pack(">HB", number, len(use)) + bytes(use) for number, use in enumerate(uses, 1))
        links = b"" if thumbnail_of is None else full(
            b"iref", contents=box(b"thmb", struct.pack(">HHH", len(pictures), 1, thumbnail_of)))
        meta = (
            full(b"hdlr", contents=bytes(4) + b"pict" + bytes(13))
            + full(b"pitm", contents=struct.pack(">H", primary))
            + full(b"iinf", contents=count + entries)
            + links
            + box(b"iprp", box(b"ipco", b"".join(properties)) + full(b"ipma", contents=b"\0\0" + count + kinds))
            + full(b"iloc", 0, 0, b"\x44\0" + count + locations)
        )
        return box(b"ftyp", b"heic\0\0\0\0mif1heic") + full(b"meta", contents=meta)

    start = len(head(0)) + 8
    return head(start) + box(b"mdat", b"".join(data))


def avif(images, *options):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, image in enumerate(images):
            paths.append(f"{folder}/{number}.png")
            image.save(paths[-1])
        subprocess.run(["avifenc", "-s", "9", "--min", "20", "--max", "30", *options, *paths, f"{folder}/out.avif"], check=True,
                       stdout=subprocess.DEVNULL)
        return pathlib.Path(f"{folder}/out.avif").read_bytes()


def with_alpha(alpha, size=(96, 64)):
    image = fields(*size).convert("RGBA")
    image.putalpha(alpha)
    return image


def half_transparent():
    """The left half is opaque, the right half is transparent."""
    alpha = Image.new("L", (96, 64), 255)
    alpha.paste(0, (48, 0, 96, 64))
    return with_alpha(alpha)


def write_jpegs(folder):
    for orientation in STORED:
        stored(fields(), orientation).save(folder / f"turned-{orientation}.jpg", exif=exif(orientation), quality=90)
    fields().save(folder / "progressive.jpg", quality=90, progressive=True)
    fields().save(folder / "full-progressive.jpg", quality=90, progressive=True, subsampling=0)
    fields().convert("CMYK").save(folder / "cmyk.jpg", quality=90)
    fields().convert("L").save(folder / "grey.jpg", quality=90)
    fields().save(folder / "p3.jpg", quality=95, subsampling=0, icc_profile=P3)
    fields().save(folder / "broken-profile.jpg", quality=90, icc_profile=P3.replace(b"para", b"none"))
    # A profile for other bands than it has.
    fields().convert("L").save(folder / "grey-profile.jpg", quality=90, icc_profile=P3)
    block = Image.Exif()
    block[0x010F] = PLANTED
    block.get_ifd(0x8825)[1] = "N"
    block.get_ifd(0x8825)[29] = PLANTED
    with_metadata = block.tobytes() + PLANTED.encode()
    fields().save(folder / "metadata.jpg", quality=90, exif=with_metadata, comment=PLANTED,
                  xmp=b"<x:xmpmeta>" + PLANTED.encode() + b"</x:xmpmeta>", icc_profile=P3)


def write_pngs(folder):
    fields().save(folder / "rgb.png")
    (folder / "deep.png").write_bytes(png16())
    fields().convert("L").save(folder / "grey.png")
    fields().quantize(4).save(folder / "palette.png")
    fields().save(folder / "p3.png", icc_profile=P3)
    stored(fields(), 6).save(folder / "turned.png", exif=exif(6))
    half_transparent().save(folder / "half.png")
    with_alpha(255).save(folder / "opaque.png")
    half_transparent().convert("LA").save(folder / "grey-half.png")
    fields().save(folder / "animated.png", save_all=True, append_images=[plain(MAGENTA, 96, 64)], duration=100)
    text = PngImagePlugin.PngInfo()
    text.add_text("Comment", PLANTED)
    fields().save(folder / "metadata.png", pnginfo=text)


def write_others(folder):
    fields().quantize(4).save(folder / "still.gif")
    fields().quantize(4).save(folder / "animated.gif", save_all=True, append_images=[plain(MAGENTA, 96, 64)], duration=100)
    fields().save(folder / "lossy.webp", quality=90)
    half_transparent().save(folder / "half.webp", lossless=True)
    stored(fields(), 6).save(folder / "turned.webp", quality=90, exif=exif(6))
    fields().save(folder / "animated.webp", save_all=True, append_images=[plain(MAGENTA, 96, 64)], duration=100)
    big = fields(256, 192)
    (folder / "still.heic").write_bytes(heic([big]))
    (folder / "turned.heic").write_bytes(heic([stored(big, 6)], turn=3))
    (folder / "thumbnail.heic").write_bytes(heic([big, plain(MAGENTA, 128, 96)], thumbnail_of=1))
    (folder / "burst.heic").write_bytes(heic([plain(MAGENTA, 256, 192), big], primary=2))
    (folder / "still.avif").write_bytes(avif([fields()]))
    (folder / "deep.avif").write_bytes(avif([fields()], "-d", "10"))
    (folder / "turned.avif").write_bytes(avif([stored(fields(), 6)], "--irot", "3"))
    (folder / "sequence.avif").write_bytes(avif([fields(), plain(MAGENTA, 96, 64)], "--fps", "5"))
    (folder / "half.avif").write_bytes(avif([half_transparent()]))
    # Sixteen pixels wide, and higher than decoders expect.
    (folder / "tall.avif").write_bytes(avif([plain(RED, 16, 17000)]))
    Image.new("L", (2048, 2048), 128).save(folder / "scans.jpg", progressive=True, quality=50)


def main(folder):
    pillow_heif.register_heif_opener()
    folder.mkdir(parents=True, exist_ok=True)
    write_jpegs(folder)
    write_pngs(folder)
    write_others(folder)


main(pathlib.Path(sys.argv[1]))
