"""Writes `arrays/` and `arrays.json`, the test vectors of docs/spec/rawarray.md."""

import hashlib
import itertools
import struct

ALL = []


def ra(eltype, elbyte, dims, data, flags=0, size=None, ndims=None, magic=b"rawarray"):
    size = len(data) if size is None else size
    ndims = len(dims) if ndims is None else ndims
    return magic + struct.pack(f"<5Q{len(dims)}Q", flags, eltype, elbyte, size, ndims, *dims) + data


def content(eltype, elbyte, dims, decoded):
    """Returns the content digest of an array without a description: the last of its indices is the fastest."""
    if (eltype, elbyte) in [(5, 1), (5, 8)]:
        eltype, elbyte = 2, 1
    rows = bytearray()
    for index in itertools.product(*map(range, dims)) if decoded else []:
        number = 0
        for i, length in zip(reversed(index), reversed(dims)):
            number = number * length + i
        rows += decoded[number * elbyte:][:elbyte]
    return hashlib.sha256(ra(eltype, elbyte, dims[::-1], bytes(rows))).hexdigest()


def good(name, file, type, dims, decoded, values=None, encoding="raw", trailing=0, warnings=()):
    """Adds a valid file. `decoded` are its elements in little-endian bytes, `values` the same as numbers."""
    flags, eltype, elbyte = struct.unpack_from("<3Q", file, 8)
    said = {"flags": flags, "eltype": eltype, "elbyte": elbyte, "type": type, "dims": list(dims), "encoding": encoding,
            "trailing": trailing, "decoded_sha256": hashlib.sha256(decoded).hexdigest(),
            "content_sha256": content(eltype, elbyte, dims, decoded)}
    if values is not None:
        said["values"] = list(values)
    ALL.append((name, file, [], list(warnings), said))


def bad(name, file, code, warnings=()):
    ALL.append((name, file, [code], list(warnings), {}))


def numbers(name, eltype, elbyte, code, dims, values, type):
    data = struct.pack(f"<{len(values)}{code}", *values)
    shown = [{float("inf"): "inf", float("-inf"): "-inf"}.get(v, v) if v == v else "nan" for v in values]
    good(name, ra(eltype, elbyte, dims, data), type, dims, data, shown)


MISREAD = ["RA004"]

numbers("int8", 1, 1, "b", [3], [-128, 0, 127], "int8")
numbers("int16-3x2", 1, 2, "h", [3, 2], [1, 2, 3, 4, 5, -6], "int16")
numbers("int32", 1, 4, "i", [2], [-2**31, 2**31 - 1], "int32")
numbers("int64", 1, 8, "q", [2], [-2**63, 2**63 - 1], "int64")
numbers("uint8-2x3x4", 2, 1, "B", [2, 3, 4], list(range(24)), "uint8")
numbers("uint16", 2, 2, "H", [2], [1, 65535], "uint16")
numbers("uint32", 2, 4, "I", [1], [2**32 - 1], "uint32")
numbers("uint64", 2, 8, "Q", [1, 1], [2**64 - 1], "uint64")
numbers("float16", 3, 2, "e", [3], [0.5, -65504.0, float("inf")], "float16")
numbers("float32-special", 3, 4, "f", [5], [1.5, -0.0, float("nan"), float("inf"), float("-inf")], "float32")
numbers("float64", 3, 8, "d", [2], [0.1, -2.5e-300], "float64")
numbers("scalar", 3, 8, "d", [], [2.5], "float64")
numbers("empty-0x4", 3, 4, "f", [0, 4], [], "float32")
numbers("ndims-64", 2, 1, "B", [1] * 64, [7], "uint8")
for name, width, code in [("complex64", 8, "f"), ("complex128", 16, "d")]:
    data = struct.pack(f"<4{code}", 1, -2, 0.5, 0)
    good(name, ra(4, width, [2], data), name, [2], data, [[1.0, -2.0], [0.5, 0.0]])
good("complex32", ra(4, 4, [1], bytes.fromhex("003c00c0")), "complex32", [1], bytes.fromhex("003c00c0"), [[1.0, -2.0]])
good("bfloat16", ra(5, 2, [2], bytes.fromhex("803fc0bf")), "bfloat16", [2], bytes.fromhex("803fc0bf"))
good("bool", ra(5, 1, [3], b"\1\0\1"), "bool", [3], b"\1\0\1", [1, 0, 1])
good("text", ra(2, 1, [7], "Größe".encode()), "uint8", [7], "Größe".encode(), list("Größe".encode()))
good("user12", ra(0, 12, [2], bytes(range(24))), "user12", [2], bytes(range(24)))
for name, eltype in [("int128", 1), ("uint128", 2), ("float128", 3)]:
    good(name, ra(eltype, 16, [1], bytes(range(16))), name, [1], bytes(range(16)))
good("int24", ra(1, 3, [2], b"abcdef"), "int24", [2], b"abcdef")
good("complex24", ra(4, 3, [1], b"abc"), "complex24", [1], b"abc")
good("zero-hides-overflow", ra(2, 1, [2**32, 2**33, 0], b""), "uint8", [2**32, 2**33, 0], b"", [])
good("trailing", ra(2, 1, [2], b"abcd", size=2), "uint8", [2], b"ab", [97, 98], trailing=2, warnings=["RA003"])

# Flags.
good("be-int16", ra(1, 2, [2], b"\1\0\xff\xfe", flags=1), "int16", [2], b"\0\1\xfe\xff", [256, -2], warnings=MISREAD)
big = struct.pack(">4f", 1, -2, 0.5, 0)
good("be-complex64", ra(4, 8, [2], big, flags=1), "complex64", [2], struct.pack("<4f", 1, -2, 0.5, 0),
     [[1.0, -2.0], [0.5, 0.0]], warnings=MISREAD)
good("be-uint8", ra(2, 1, [2], b"ab", flags=1), "uint8", [2], b"ab", [97, 98], warnings=MISREAD)
# The layout of the elements is unknown, so nobody can convert them: there is no decoded form.
ALL.append(("be-user4", ra(0, 4, [1], b"abcd", flags=1), [], MISREAD,
            {"flags": 1, "eltype": 0, "elbyte": 4, "type": "user4", "dims": [1], "encoding": "raw", "trailing": 0}))
block = b"\x1aa\1\0\x50aaaaa"
good("lz4", ra(2, 1, [20], block, flags=2), "uint8", [20], b"a" * 20, [97] * 20, "lz4", warnings=MISREAD)
good("lz4-trailing", ra(2, 1, [20], block + b"more", flags=2, size=10), "uint8", [20], b"a" * 20, [97] * 20, "lz4", 4,
     MISREAD + ["RA003"])
block, text = b"\x3fabc\3\0\xff\7\x50xyzzy", b"abc" + (b"abc" * 94)[:281] + b"xyzzy"
good("lz4-overlap", ra(2, 1, [17, 17], block, flags=2), "uint8", [17, 17], text, list(text), "lz4", warnings=MISREAD)
good("lz4-larger", ra(2, 1, [20], b"\xf0\5" + bytes(range(20)), flags=2), "uint8", [20], bytes(range(20)),
     range(20), "lz4", warnings=MISREAD)
good("be-lz4", ra(2, 2, [3], b"\x60\0\1\0\2\0\3", flags=3), "uint16", [3], b"\1\0\2\0\3\0", [1, 2, 3], "lz4",
     warnings=MISREAD)
good("lz4-and-leb128", ra(2, 1, [10], b"\x10a\1\0\x50bcdef", flags=2), "uint8", [10], b"aaaaabcdef", list(b"aaaaabcdef"),
     "lz4", warnings=MISREAD)
good("leb128-uint16", ra(2, 2, [3], b"\1\x80\1\xff\xff\3", flags=2, size=6), "uint16", [3],
     struct.pack("<3H", 1, 128, 65535), [1, 128, 65535], "leb128", warnings=MISREAD)
good("leb128-int16", ra(1, 2, [5], b"\0\1\2\3\xff\xff\3", flags=2, size=10), "int16", [5],
     struct.pack("<5h", 0, -1, 1, -2, -32768), [0, -1, 1, -2, -32768], "leb128", warnings=MISREAD)
good("leb128-uint64", ra(2, 8, [1], b"\xff" * 9 + b"\1", flags=2, size=8), "uint64", [1], b"\xff" * 8, [2**64 - 1],
     "leb128", warnings=MISREAD)
good("leb128-padded", ra(2, 1, [2], b"\x81\0\2", flags=2, size=2), "uint8", [2], b"\1\2", [1, 2], "leb128",
     warnings=MISREAD)
good("leb128-bool", ra(5, 1, [3], b"\1\0\1", flags=2), "bool", [3], b"\1\0\1", [1, 0, 1], "leb128", warnings=MISREAD)
good("stray-flag", ra(3, 4, [1], b"\0\0\x80?", flags=2), "float32", [1], b"\0\0\x80?", [1.0], "raw (flagged as encoded)",
     warnings=MISREAD)
ten = [1, 0, 1, 0, 0, 0, 0, 0, 0, 1]
good("bits", ra(5, 8, [10], b"\5\2" + bytes(6), flags=6), "bits", [10], bytes(ten), ten, "bits", warnings=MISREAD)
good("bits-trailing", ra(5, 8, [2, 5], b"\5\2" + bytes(6) + b"!", flags=6, size=8), "bits", [2, 5], bytes(ten), ten, "bits",
     1, MISREAD + ["RA003"])
good("be-bits", ra(5, 8, [10], bytes(6) + b"\2\5", flags=7), "bits", [10], bytes(ten), ten, "bits", warnings=MISREAD)

# Rejected files.
whole = ra(2, 1, [2], b"ab")
bad("bad-empty", b"", "RA001")
bad("bad-magic", ra(2, 1, [2], b"ab", magic=b"rawarraz"), "RA001")
bad("bad-magic-swapped", ra(2, 1, [2], b"ab", magic=b"yarrawar"), "RA001")
bad("bad-header-short", whole[:30], "RA001")
bad("bad-dims-short", whole[:50], "RA001")
bad("bad-data-short", ra(2, 1, [5], b"ab", size=5), "RA001")
bad("bad-size-small", ra(2, 1, [2], b"ab", size=1), "RA001")
bad("bad-size-large", ra(2, 1, [2], b"abc"), "RA001")
bad("bad-ndims-65", ra(2, 1, [1] * 65, b"a"), "RA001")
bad("bad-ndims-huge", ra(2, 1, [2], b"ab", ndims=2**60), "RA001")
bad("bad-overflow", ra(2, 2, [2**32, 2**31], b""), "RA001")
bad("bad-eltype-6", ra(6, 1, [2], b"ab"), "RA001")
bad("bad-elbyte-0", ra(2, 0, [2], b""), "RA001")
bad("bad-bfloat-4", ra(5, 4, [1], b"abcd"), "RA001")
bad("bad-flag-3", ra(2, 1, [2], b"ab", flags=8), "RA001")
bad("bad-flag-63", ra(2, 1, [2], b"ab", flags=2**63), "RA001")
bad("bad-bits-flags-4", ra(5, 8, [10], bytes(8), flags=4), "RA001")
bad("bad-bits-flags-0", ra(5, 8, [1], bytes(8)), "RA001")
bad("bad-bits-uint8", ra(2, 1, [8], bytes(8), flags=6), "RA001")
bad("bad-bits-size", ra(5, 8, [10], bytes(16), flags=6), "RA002", MISREAD)
bad("bad-bits-short", ra(5, 8, [10], b"\5", flags=6, size=8), "RA002", MISREAD)
bad("bad-encoding", ra(3, 4, [2], b"abcdefg", flags=2), "RA002", MISREAD)
bad("bad-lz4-offset", ra(3, 4, [4], b"\x1aa\0\0\x10a", flags=2), "RA002", MISREAD)
bad("bad-lz4-short", ra(3, 4, [5], b"\x1aa\1\0\x10a", flags=2), "RA002", MISREAD)
bad("bad-leb128-wide", ra(2, 1, [2], b"\x80\2\1", flags=2, size=2), "RA002", MISREAD)
bad("bad-leb128-long", ra(2, 1, [2], b"\x80\x80\0\1", flags=2, size=2), "RA002", MISREAD)
bad("bad-leb128-few", ra(2, 1, [3], b"\1\2", flags=2, size=3), "RA002", MISREAD)
bad("bad-leb128-size", ra(2, 2, [3], b"\1\x80\1\2", flags=2, size=5), "RA002", MISREAD)
