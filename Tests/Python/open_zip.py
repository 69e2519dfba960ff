"""Opens ZIP archives in two ways and prints what it finds as JSON.

The first way is Python's zipfile, which begins at the end. The second reads from front to back and knows only what stands
in front of each file, as Java's ZipInputStream and macOS's ditto do. Each line of the input is a path. After a tab may
follow "sparse": then files of more than a MiB are not read. Or a folder follows, into which the archive is unpacked.
"""
import hashlib
import json
import struct
import sys
import zipfile
import zlib

LARGE = 1 << 20


def numbers(extra, count):
    """The numbers of the field for Zip64."""
    while extra:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1:
            return list(struct.unpack_from(f"<{count}Q", extra, 4))
        extra = extra[4 + length:]
    return []


def front_to_back(path, sparse):
    """Each file's name, length and SHA-256, until something else than a file follows."""
    found = []
    with open(path, "rb") as file:
        while True:
            header = file.read(30)
            if header[:4] != b"PK\x03\x04":
                assert header[:4] in (b"PK\x01\x02", b"PK\x05\x06", b"PK\x06\x06"), header[:4]
                return found
            version, flags, method, _, _, crc, packed, length, name, extra = struct.unpack("<HHHHHIIIHH", header[4:])
            assert method == 0 and flags == 0x800, (method, flags)
            name = file.read(name).decode("utf-8")
            extra = file.read(extra)
            if length == 0xFFFFFFFF:
                assert version >= 45
                length, packed = numbers(extra, 2)
            assert length == packed
            digest, sum = hashlib.sha256(), 0
            if sparse and length > LARGE:
                file.seek(length, 1)
                found.append([name, length, None])
                continue
            rest = length
            while rest:
                data = file.read(min(rest, LARGE))
                assert data
                digest.update(data)
                sum = zlib.crc32(data, sum)
                rest -= len(data)
            assert sum == crc, name
            found.append([name, length, digest.hexdigest()])


def directory(path, sparse):
    """The same by the directory at the end."""
    found = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.create_system == 3 and info.external_attr >> 16 == 0o100600, info.external_attr
            digest = None
            if not sparse or info.file_size <= LARGE:
                digest = hashlib.sha256()
                with archive.open(info) as file:
                    while data := file.read(LARGE):
                        digest.update(data)
                digest = digest.hexdigest()
            found.append([info.filename, info.file_size, digest])
        times = {info.filename: list(info.date_time) for info in archive.infolist()}
        return found, times


for line in sys.stdin:
    path, _, mode = line.rstrip("\n").partition("\t")
    files, times = directory(path, mode == "sparse")
    assert files == front_to_back(path, mode == "sparse")
    if mode not in ("", "sparse"):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(mode)
    summary = len(files) > 10000
    print(json.dumps({"count": len(files), "files": files[-1:] if summary else files, "times": {} if summary else times}))
