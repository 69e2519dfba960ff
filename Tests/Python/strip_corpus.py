"""Makes JPEG, PNG, WebP and GIF files full of metadata, and compares what decoders show before and after stripping.

    strip_corpus.py make FOLDER
    strip_corpus.py compare BEFORE AFTER

Pillow and ffmpeg must decode the same pixels as before, with the same orientation and the same profile of colors. exiftool
must find nothing but structure, colors and orientation. It needs Pillow, ffmpeg and exiftool.
"""

import io
import json
import struct
import subprocess
import sys
import zlib
from pathlib import Path

from PIL import Image, ImageCms, ImageSequence, PngImagePlugin

SECRETS = ["Jane Roe", "SN-0815-4711", "Secret Cameras", "48.137", "2024:05:17"]
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' \
    b'<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/" dc:title="Jane Roe"/></rdf:RDF></x:xmpmeta>'
# What exiftool may find, by the group of a tag; None for all of the group.
ALLOWED = {
    "ExifTool": None, "System": None, "File": None, "Composite": None, "JFIF": None, "Adobe": None,
    "GIF": {
        "GIFVersion", "ImageWidth", "ImageHeight", "HasColorMap", "ColorResolutionDepth", "BitsPerPixel",
        "BackgroundColor", "AnimationIterations", "FrameCount", "Duration", "TransparentColor",
    },
    "ICC_Profile": None, "ICC-header": None, "ICC-view": None, "ICC-meas": None, "ICC-chrm": None,
    "PNG-cICP": None, "PNG-pHYs": None,
    "IFD0": {"Orientation"},
    "PNG": {
        "ImageWidth", "ImageHeight", "BitDepth", "ColorType", "Compression", "Filter", "Interlace", "Palette",
        "Transparency", "Gamma", "SRGBRendering", "ProfileName", "AnimationFrames", "AnimationPlays", "BackgroundColor",
        "SignificantBits",
    },
    "RIFF": {
        "WebP_Flags", "ImageWidth", "ImageHeight", "AlphaPreprocessing", "AlphaFiltering",
        "AlphaCompression", "AlphaIsUsed", "VP8Version", "HorizontalScale", "VerticalScale", "BackgroundColor",
        "AnimationLoopCount", "Duration",
    },
}


def picture(mode: str = "RGB", turn: int = 0) -> Image.Image:
    """A picture with slopes, so that no two pixels are alike."""
    size = (97, 61)
    count = len(Image.new(mode, (1, 1)).getbands())
    bands = [Image.linear_gradient("L").rotate(90 * (index + turn)).resize(size) for index in range(count)]
    return Image.merge(mode, bands)


def exif(orientation: int) -> bytes:
    tags = Image.Exif()
    tags[0x010F] = "Secret Cameras"
    tags[0x0112] = orientation
    tags[0x0132] = "2024:05:17 11:22:33"
    tags[0x013B] = "Jane Roe"
    tags.get_ifd(0x8769)[0xA431] = "SN-0815-4711"
    tags.get_ifd(0x8825).update({1: "N", 2: (48.137, 0.0, 0.0)})
    return tags.tobytes()


def jpegs(profile: bytes):
    for orientation in range(1, 9):
        for name, options in {
            "baseline": {}, "progressive": {"progressive": True}, "profile": {"icc_profile": profile},
            "restarts": {"restart_marker_blocks": 1}, "fine": {"subsampling": 0, "quality": 95},
        }.items():
            data = io.BytesIO()
            picture().save(data, "JPEG", exif=exif(orientation), comment="Jane Roe", xmp=XMP, **options)
            yield f"{name}-{orientation}.jpg", data.getvalue()
    for mode in ["L", "CMYK"]:
        data = io.BytesIO()
        picture(mode).save(data, "JPEG", exif=exif(6), comment="Jane Roe")
        yield f"{mode}.jpg", data.getvalue() + data.getvalue()
    data = io.BytesIO()
    picture().save(data, "MPO", save_all=True, append_images=[picture(turn=1)], exif=exif(3))
    yield "several.jpg", data.getvalue()


def pngs(profile: bytes):
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "Jane Roe")
    text.add_itxt("Comment", "SN-0815-4711", zip=True)
    text.add_text("Title", "Jane Roe", zip=True)
    for mode in ["1", "L", "LA", "RGB", "RGBA", "P", "I;16"]:
        if mode in ["1", "P", "I;16"]:
            image = picture("L").convert({"I;16": "I"}.get(mode, mode))
            image = image.convert("I;16") if mode == "I;16" else image
        else:
            image = picture(mode)
        data = io.BytesIO()
        image.save(data, "PNG", pnginfo=text, exif=exif(6), dpi=(72, 72))
        yield f"{mode.replace(';', '')}.png", data.getvalue() + b"Jane Roe"
    data = io.BytesIO()
    picture().save(data, "PNG", pnginfo=text, icc_profile=profile)
    contents = b"Jane Roe\0\0" + zlib.compress(profile)
    chunk = struct.pack(">I", len(contents)) + b"iCCP" + contents + struct.pack(">I", zlib.crc32(b"iCCP" + contents))
    photo = data.getvalue()
    start = photo.index(b"iCCP") - 4
    end = start + 12 + struct.unpack(">I", photo[start:start + 4])[0]
    yield "profile.png", photo[:start] + chunk + photo[end:]
    data = io.BytesIO()
    picture().save(
        data, "PNG", pnginfo=text, save_all=True, append_images=[picture(turn=1), picture(turn=2)], duration=70, loop=3
    )
    yield "animated.png", data.getvalue()


def webps(profile: bytes):
    for orientation in range(1, 9):
        for name, mode, options in [
            ("lossy", "RGB", {}), ("alpha", "RGBA", {}), ("lossless", "RGB", {"lossless": True}),
            ("profile", "RGB", {"icc_profile": profile}),
            ("animated", "RGBA", {"save_all": True, "append_images": [picture("RGBA", 1)], "duration": 70, "loop": 3}),
        ]:
            data = io.BytesIO()
            picture(mode).save(data, "WEBP", exif=exif(orientation), xmp=XMP, **options)
            yield f"{name}-{orientation}.webp", data.getvalue()


def gifs(_: bytes):
    for count in [0, 1, 5]:
        data = io.BytesIO()
        others = [picture(turn=index + 1) for index in range(count)]
        options = {"save_all": True, "append_images": others, "duration": 70, "loop": 3} if others else {}
        picture().save(data, "GIF", comment=b"Jane Roe", **options)
        yield f"{count}.gif", data.getvalue() + b"Jane Roe"
    data = io.BytesIO()
    picture().save(data, "GIF", transparency=3, comment=b"x" * 700 + b"SN-0815-4711")
    yield "transparent.gif", data.getvalue()


def by_pillow(path: Path) -> list:
    """Each frame's pixels, timing, orientation and profile."""
    with Image.open(path) as image:
        # Of several pictures in a JPEG, the first one stays.
        frames = [image] if image.format == "MPO" else ImageSequence.Iterator(image)
        orientation = image.getexif().get(0x0112, 1)
        return [
            (frame.mode, frame.size, frame.tobytes(), frame.info.get("duration"), frame.info.get("loop"),
             frame.info.get("icc_profile"), frame.info.get("transparency"), frame.info.get("adobe"), orientation)
            for frame in frames
        ]


def by_ffmpeg(path: Path) -> bytes | None:
    """Each frame's pixels; None of an animated WebP, which some versions do not decode."""
    command = ["ffmpeg", "-v", "error", "-noautorotate", "-i", str(path), "-map", "0:v:0", "-f", "framemd5", "-"]
    result = subprocess.run(command, capture_output=True)
    if path.suffix == ".webp" and "animated" in path.name and result.returncode != 0:
        return None
    result.check_returncode()
    return result.stdout


def check_metadata(path: Path) -> None:
    command = ["exiftool", "-j", "-G1", "-a", "-u", "-ee", str(path)]
    for name in json.loads(subprocess.run(command, check=True, capture_output=True).stdout)[0]:
        group, _, tag = name.rpartition(":")
        if group and not (group in ALLOWED and (ALLOWED[group] is None or tag in ALLOWED[group])):
            raise AssertionError(f"exiftool finds {name}")


def check(before: Path, after: Path) -> None:
    stripped = after.read_bytes()
    for secret in SECRETS + ["exif:", "xmpmeta"]:
        assert secret.encode() not in stripped, f"{secret} stays"
    assert by_pillow(after) == by_pillow(before), "Pillow sees another image"
    assert by_ffmpeg(after) == by_ffmpeg(before), "ffmpeg sees another image"
    check_metadata(after)


def make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for photos in [jpegs, pngs, webps, gifs]:
        for name, data in photos(profile):
            (folder / name).write_bytes(data)


def compare(before: Path, after: Path) -> int:
    failures = 0
    for photo in sorted(before.iterdir()):
        try:
            check(photo, after / photo.name)
        except (AssertionError, subprocess.CalledProcessError) as error:
            failures += 1
            print(f"{photo.name}: {error}")
    return failures


if __name__ == "__main__":
    folders = [Path(word) for word in sys.argv[2:]]
    if sys.argv[1] == "make":
        make(*folders)
    else:
        sys.exit(1 if compare(*folders) else 0)
