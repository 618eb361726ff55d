"""Prints one array of a pack, or of a .ra file, with the standard library: read_array.py exp.zip run1/temperature.ra

The first line has eltype, elbyte and dims. Each further line has one element; the first index of dims is the fastest.
"""

import hashlib, math, struct, sys, tarfile, zipfile

CODES = {(1, 1): "b", (1, 2): "h", (1, 4): "i", (1, 8): "q", (2, 1): "B", (2, 2): "H", (2, 4): "I",
         (2, 8): "Q", (3, 2): "e", (3, 4): "f", (3, 8): "d", (4, 4): "ee", (4, 8): "ff", (4, 16): "dd"}


def read_member(pack, name):
    if zipfile.is_zipfile(pack):
        with zipfile.ZipFile(pack) as archive:
            return archive.read(name)
    with tarfile.open(pack) as archive:
        return archive.extractfile(name).read()


def read_from_pack(pack, name):
    content = read_member(pack, name)
    listed = read_member(pack, "manifest-sha256.txt").decode().split("\n")
    assert f"{hashlib.sha256(content).hexdigest()}  {name}" in listed, "the content does not match the manifest"
    return content


def read_array(content):
    magic, flags, eltype, elbyte, size, ndims = struct.unpack_from("<8s5Q", content)
    assert magic == b"rawarray" and flags == 0 and ndims <= 64, "not a RawArray, or big-endian or encoded data"
    dims, start = struct.unpack_from(f"<{ndims}Q", content, 48), 48 + 8 * ndims
    assert size == elbyte * math.prod(dims) and start + size <= len(content), "a wrong size, or the data is cut off"
    return eltype, elbyte, dims, struct.iter_unpack("<" + CODES[eltype, elbyte], content[start:start + size])


if __name__ == "__main__":
    file, *member = sys.argv[1:]
    eltype, elbyte, dims, elements = read_array(read_from_pack(file, *member) if member else open(file, "rb").read())
    print(eltype, elbyte, *dims)
    for element in elements:
        print(*(f"{part:.17g}" if eltype > 2 else part for part in element))
