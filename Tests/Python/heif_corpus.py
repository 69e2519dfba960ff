"""Makes HEIC and AVIF files full of metadata, and compares what decoders show of them before and after stripping.

    heif_corpus.py make FOLDER
    heif_corpus.py compare BEFORE AFTER

Every text of a maker in the files has the word PLANTED. The pixels of the primary picture, or of all pictures of a
sequence, must be the same with each decoder, and no file may hold the word afterwards. It needs pillow-heif, Pillow, av
and numpy from PyPI, and avifenc, avifdec, heif-enc, heif-convert, heif-info and exiftool (Debian's libavif-bin,
libheif-examples and libimage-exiftool-perl).
"""

import hashlib
import io
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import av
import numpy
import pillow_heif
from PIL import Image, ImageCms, ImageSequence

MARK = b"PLANTED"
XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:creator="PLANTED"/></rdf:RDF></x:xmpmeta>'
)
ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
# What exiftool may show: structure, colour, orientation, and times that are zero.
SHOWN = re.compile(
    r"\[(ExifTool|System|File|Composite|ICC\S*)\]|Brand|MinorVersion|Handler|MediaData|SpatialExtent|Pixel|PrimaryItem"
    r"|MetaImageSize|ICC|Profile|Color|Matrix|Transfer|AV1|Seq|Bit|Chroma|Tier|HEVC|Rotation|imir|Delay|Compat|Level"
    r"|Constraint|Temporal|Parallel|FrameRate|MinSpatial|Free|free|Skip|AuxiliaryImageType.*(alpha|auxid:1)|CleanAperture|: 0000:00:00"
    r"|\[(Track\d|QuickTime)\] +(Movie|Track|Media|Time|Duration|Preferred|Preview|Poster|Selection|Current|NextTrack"
    r"|Image|Graphics|OtherFormat|Sample|Sync|Chunk|Unknown_(edts|av1C|hvcC|colr|ccst|auxl|auxi|prem))"
)


def picture(width, height, seed=0, alpha=False):
    y, x = numpy.mgrid[0:height, 0:width]
    planes = [(x * 3 + seed * 40) % 256, (y * 5 + seed * 17) % 256, ((x + y) * 2) % 256]
    planes += [x * 255 // width] if alpha else []
    return Image.fromarray(numpy.stack(planes, -1).astype(numpy.uint8))


def exif():
    block = Image.Exif()
    block[0x010F], block[0x0110], block[0x0132] = "PLANTED maker", "PLANTED model", "2026:01:02 03:04:05"
    place = block.get_ifd(0x8825)
    place[1], place[2] = "N", (48.0, 12.0, 34.5)
    return block.tobytes()


def box(kind, contents=b""):
    return struct.pack(">I4s", 8 + len(contents), kind) + contents


def full(kind, version=0, flags=0, contents=b""):
    return box(kind, struct.pack(">I", version << 24 | flags) + contents)


def boxes(contents):
    while contents:
        length, kind = struct.unpack(">I4s", contents[:8])
        yield kind, contents[8 : length or len(contents)]
        contents = contents[length or len(contents) :]


def heic(image, **options):
    file = io.BytesIO()
    image.save(file, "HEIF", quality=60, **options)
    return file.getvalue()


def coded(image):
    """The configuration and the data of a picture in HEVC."""
    top = dict(boxes(heic(image)))
    properties = dict(boxes(dict(boxes(dict(boxes(top[b"meta"][4:]))[b"iprp"]))[b"ipco"]))
    return properties[b"hvcC"], top[b"mdat"]


def phone(path):
    """Like a phone's: tiles, a thumbnail, Exif, XMP, depth, a gain map, another picture, a video behind them."""
    tiles = [coded(picture(256, 256, seed)) for seed in range(6)]
    thumbnail, depth, other = (coded(picture(*size)) for size in [(96, 64, 9), (128, 128, 11), (256, 256, 12)])
    side = lambda width, height: full(b"ispe", contents=struct.pack(">II", width, height))
    properties = [
        box(b"hvcC", tiles[0][0]), side(256, 256), side(768, 512), box(b"colr", b"prof" + ICC),
        full(b"pixi", contents=b"\3\x08\x08\x08"), box(b"irot", b"\3"), box(b"hvcC", thumbnail[0]), side(96, 64),
        box(b"hvcC", depth[0]), side(128, 128), full(b"auxC", contents=b"urn:mpeg:hevc:2015:auxid:2\0PLANTED depth of the picture"),
        full(b"udes", contents=b"en\0PLANTED\0PLANTED\0\0"), box(b"hvcC", other[0]), box(b"uuid", MARK * 3),
    ]
    # Number, kind, texts, data, properties, whether the data is in idat.
    items = [(number + 1, b"hvc1", b"", tile[1], b"\x81\2\4\5", 0) for number, tile in enumerate(tiles)] + [
        (49, b"grid", MARK, b"\0\0\1\2" + struct.pack(">HH", 768, 512), b"\3\4\5\x86\x0c\x0e", 1),
        (50, b"hvc1", MARK, thumbnail[1], b"\x87\x08\5", 0),
        (51, b"Exif", MARK, b"\0\0\0\6Exif\0\0" + exif().removeprefix(b"Exif\0\0"), b"", 0),
        (52, b"mime", MARK + b"\0application/rdf+xml", XMP, b"", 0),
        (53, b"hvc1", MARK, depth[1], b"\x89\x0a\x0b", 0),
        (54, b"mime", b"\0application/rdf+xml", XMP, b"", 0),
        (55, b"uri ", MARK + b"\0urn:PLANTED", MARK, b"", 0),
        (56, b"hvc1", MARK, other[1], b"\x8d\2", 0),
        (57, b"tmap", MARK, MARK, b"\3\5", 0),
    ]
    references = [(b"dimg", 49, range(1, 7)), (b"thmb", 50, [49]), (b"cdsc", 51, [49]), (b"cdsc", 52, [49])]
    references += [(b"auxl", 53, [49]), (b"cdsc", 54, [53]), (b"cdsc", 55, [49]), (b"dimg", 57, [49, 53])]
    data, places = [b"", b""], []
    for _, _, _, contents, _, method in items:
        data[method] += MARK
        places.append(len(data[method]))
        data[method] += contents

    def head(start):
        locations = b"".join(
            struct.pack(">HHHHII", item[0], item[5], 0, 1, place + (0 if item[5] else start), len(item[3]))
            for item, place in zip(items, places)
        )
        entries = b"".join(
            full(b"infe", 2, 0, struct.pack(">HH4s", number, 0, kind) + texts + b"\0")
            for number, kind, texts, *_ in items
        )
        uses = b"".join(struct.pack(">HB", item[0], len(item[4])) + item[4] for item in items)
        links = b"".join(
            box(kind, struct.pack(f">HH{len(to)}H", start, len(to), *to)) for kind, start, to in references
        )
        count = struct.pack(">H", len(items))
        meta = (
            full(b"hdlr", contents=b"mhlrpictappl" + bytes(8) + MARK + b"\0")
            + full(b"pitm", contents=struct.pack(">H", 49))
            + full(b"iinf", contents=count + entries)
            + full(b"iref", contents=links)
            + box(b"iprp", box(b"ipco", b"".join(properties)) + full(b"ipma", contents=b"\0\0" + count + uses))
            + box(b"idat", data[1])
            + full(b"iloc", 1, 0, b"\x44\0" + count + locations)
            + box(b"grpl", full(b"altr", contents=struct.pack(">IIII", 99, 2, 57, 49)))
            + box(b"udta", box(b"\xa9nam", MARK))
        )
        kind = box(b"ftyp", b"heic\0\0\0\0mif1MiHEmiafMiHBheictmap")
        return kind + box(b"free", MARK) + full(b"meta", contents=meta) + box(b"uuid", MARK * 3)

    start = len(head(0)) + 8
    path.write_bytes(head(start) + box(b"mdat", data[0]) + box(b"mpvd", MARK * 1000) + b"SEFT PLANTED")


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    phone(folder / "phone.heic")
    block = exif()
    metadata = {"exif": block, "xmp": XMP}
    (folder / "rich.heic").write_bytes(heic(picture(640, 480), thumbnails=[128, 64], icc_profile=ICC, **metadata))
    (folder / "alpha.heic").write_bytes(heic(picture(320, 240, alpha=True), thumbnails=[64], **metadata))
    pair = pillow_heif.HeifFile()
    pair.add_from_pillow(picture(300, 200, 1))
    pair.add_from_pillow(picture(200, 300, 2))
    pair.save(folder / "pair.heic", quality=50)
    frames = [picture(320, 240, seed) for seed in range(3)]
    frames[0].save(folder / "pillow-sequence.avif", save_all=True, append_images=frames[1:], **metadata)
    with tempfile.TemporaryDirectory() as name:
        parts = pathlib.Path(name)
        (parts / "exif").write_bytes(block.removeprefix(b"Exif\0\0"))
        (parts / "xmp").write_bytes(XMP)
        (parts / "icc").write_bytes(ICC)
        options = ["-s", "9", "--exif", parts / "exif", "--xmp", parts / "xmp", "--icc", parts / "icc"]
        for index in range(5):
            picture(512, 512, index).save(parts / f"{index}.png")
            picture(128, 96, index, alpha=True).save(parts / f"a{index}.png")
        opaque, clear = ([parts / f"{prefix}{index}.png" for index in range(5)] for prefix in ["", "a"])
        for output, arguments in {
            "rich": ["--irot", "1", "--imir", "1", opaque[0]], "alpha": [clear[0]], "premultiplied": ["-p", clear[0]],
            "grid": ["-g", "2x2", opaque[0]], "sequence": opaque, "sequence-alpha": clear,
        }.items():
            run("avifenc", *options, *arguments, folder / f"{output}.avif")
        run("heif-enc", "-t", "100", clear[0], "-o", folder / "thumbnail-alpha.heic")
        run("heif-enc", "-A", "-t", "100", opaque[0], "-o", folder / "thumbnail.avif")


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True).stdout


def hashed(image):
    return hashlib.sha256(image.convert("RGBA").tobytes()).hexdigest()[:12]


def by_pillow_heif(path):
    file = pillow_heif.open_heif(path)
    return hashed(file[file.primary_index].to_pillow())


def by_pillow_avif(path):
    with Image.open(path, formats=["AVIF"]) as image:
        return [hashed(frame) for frame in ImageSequence.Iterator(image)]


def by_program(program):
    def decode(path):
        with tempfile.TemporaryDirectory() as folder:
            run(program, path, f"{folder}/picture.png")
            # heif-convert numbers the pictures when there are several, the primary one first here.
            return hashed(Image.open(sorted(pathlib.Path(folder).iterdir())[0]))

    return decode


def by_ffmpeg(path):
    """The pixels of all streams; those of dropped pictures are missing afterwards."""
    hashes = []
    with av.open(str(path)) as container:
        count = len(container.streams.video)
    for index in range(count):
        with av.open(str(path)) as container:
            frames = [frame.to_ndarray().tobytes() for frame in container.decode(video=index)]
        hashes.append(hashlib.sha256(b"".join(frames)).hexdigest()[:12])
    return hashes


def compare(before, after):
    decoders = {
        ".heic": {"libheif": by_pillow_heif, "heif-convert": by_program("heif-convert")},
        ".avif": {"libavif": by_pillow_avif, "avifdec": by_program("avifdec")},
    }
    mistakes = 0
    for path in sorted(before.iterdir()):
        stripped = after / path.name
        found = []
        for name, decode in decoders[path.suffix].items():
            if decode(path) != decode(stripped):
                found.append(f"{name} decodes other pixels")
        streams = by_ffmpeg(stripped)
        if not streams or not set(streams) <= set(by_ffmpeg(path)):
            found.append("ffmpeg decodes other pixels")
        if path.suffix == ".heic":
            run("heif-info", stripped)
        if MARK in stripped.read_bytes():
            found.append("PLANTED is left")
        lines = run("exiftool", "-a", "-u", "-ee", "-G1", "-s", stripped).decode().splitlines()
        found += [f"exiftool shows {line}" for line in lines if not SHOWN.search(line)]
        if found:
            print(f"{path.name}: {'; '.join(found)}")
        mistakes += len(found)
    return mistakes


if __name__ == "__main__":
    pillow_heif.register_heif_opener()
    folders = [pathlib.Path(word) for word in sys.argv[2:]]
    if sys.argv[1] == "make":
        make(*folders)
    else:
        sys.exit(1 if compare(*folders) else 0)
