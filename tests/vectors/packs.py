"""Writes packs, the test vectors of docs/spec/pack.md. `other_packs.py` has those that `ra-pack create` does not write.

This is a second writer of packs, written from the specification. It imports nothing of ra-pack, and compresses nothing,
so its output depends on no library.
"""

import hashlib
import re
import struct
import zlib

from arrays import ra

ALL = []
BESIDE = {}
HEAD = """\
# This file describes every array of this pack, in the Ndarray Data Language 0.6.1, which is YAML.
# Pack format 1.0. Specification: docs/spec (pack.md, rawarray.md, ndl.md) in the source code of ra-pack.
# The array NAME of group /a/b is the file a/b/NAME.ra; in a bag (next to bagit.txt), data/a/b/NAME.ra.
#
# A .ra file (RawArray) is a header and then the data. The header is the letters "rawarray" and unsigned
# 64-bit integers, little-endian: flags, eltype, elbyte, size, ndims, dims[0] ... dims[ndims-1].
#   flags:  0; bit 0: the data is big-endian; bit 1: the data is encoded (rawarray.md)
#   eltype: 0 user-defined, 1 signed integer, 2 unsigned integer, 3 IEEE 754 float,
#           4 complex (real part, imaginary part), 5 bfloat16 (upper half of a 32-bit float)
#   elbyte: bytes of one element
#   size:   bytes of the data, which begin at byte 48 + 8*ndims
# The first index of dims varies fastest. shape below equals dims, except where an array says
# storage: {order: row}: there shape is dims reversed, so the last index of shape varies fastest.
# With order: row-unreversed, shape equals dims, and the last index varies fastest.
#
# manifest-sha256.txt has the SHA-256 of every file except manifest-*.txt and signatures of manifests.
# In a bag, it has those of the files in data/, and tagmanifest-sha256.txt those of the other files.
# To check them: sha256sum -c manifest-sha256.txt
"""


# ndl.md, section 11: canonical text, as far as the vectors need it.
def text(value, in_flow=False):
    if value is None:
        return "null"
    if isinstance(value, list):
        return "[" + ", ".join(text(entry, True) for entry in value) + "]"
    if not isinstance(value, str):
        return repr(value)
    is_word = value.lower() in ("y", "n", "yes", "no", "on", "off", "true", "false", "null", "~")
    is_number = re.fullmatch(r"[-+.0-9][0-9a-fA-FxoTtZ_:+. -]*", value)
    is_odd = (not value or value != value.strip() or value[0] in "-?:,[]{}#&*!|>'\"%@`=<~" or value.endswith(":")
              or ": " in value or " #" in value or in_flow and re.search(r"[][,{}:?]| -", value))
    return f'"{value}"' if is_word or is_number or is_odd else value


def canonical(mapping, indent=0):
    lines = ""
    for key, value in mapping.items():
        lines += " " * indent + text(key) + ":"
        lines += "\n" + canonical(value, indent + 2) if isinstance(value, dict) else " " + text(value) + "\n"
    return lines


# pack.md, section 5.2: the generated manifest.yaml.
def document(arrays, attributes=None, is_stated=False):
    """Describes `arrays`: their dims and entities, by their names without `.ra`. `attributes` are those of groups."""
    def group_of(name):
        return "/" + name.rpartition("/")[0]

    def resolve(reference, group):
        while not reference.startswith("/"):
            path = ("" if group == "/" else group) + "/" + reference
            if path[1:] in arrays:
                return path
            group = group.rpartition("/")[0] or "/"
        return reference

    references = {resolve(length, group_of(name)) for name, (_, entity) in arrays.items()
                  for length in entity.get("shape", []) if isinstance(length, str)}
    groups = {}
    for name, (dims, entity) in sorted(arrays.items(), key=lambda item: (item[0] + ".ra").encode()):
        home, entity = group_of(name), dict(entity)
        if "shape" in entity and "/" + name not in references:
            paths = [resolve(length, home) if isinstance(length, str) else length for length in entity["shape"]]
            entity["shape"] = [path.rpartition("/")[2] if isinstance(path, str) and group_of(path[1:]) == home else path
                               for path in paths]
            section = "ndarrays"
        else:
            entity = {"size": dims[0], **{key: value for key, value in entity.items() if key != "shape"}}
            section = "dimcoords"
        groups.setdefault(home, {"attributes": {}, "dimcoords": {}, "ndarrays": {}})
        groups[home][section][name.rpartition("/")[2]] = entity
    for home, body in (attributes or {}).items():
        groups.setdefault(home, {"attributes": {}, "dimcoords": {}, "ndarrays": {}})["attributes"].update(body)
    filled = {path: {key: section for key, section in body.items() if section}
              for path, body in sorted(groups.items(), key=lambda item: item[0].encode())}
    stated = "# The maker of this pack stated attributes or dimensions here.\n" if is_stated else ""
    return (stated + HEAD + (canonical(filled) or "{}\n")).encode()


# pack.md, sections 6 and 7: lists.
def escaped(name, is_bag):
    if is_bag:
        return "", name.replace("%", "%25").replace("\n", "%0A").replace("\r", "%0D")
    written = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    return ("\\" if written != name else ""), ("./-" if name == "-" else written)


def digest(algorithm, content):
    return hashlib.new(algorithm, content).hexdigest()


def manifest(files, algorithm="sha256", is_bag=False):
    lines = []
    for name, content in sorted(files.items(), key=lambda item: item[0].encode()):
        mark, written = escaped(name, is_bag)
        lines.append(f"{mark}{digest(algorithm, content)}  {written}\n")
    return "".join(lines).encode()


def block_list(files, size, is_bag=False):
    lines = [f"# block-size {size}\n"]
    for name, content in sorted(files.items(), key=lambda item: item[0].encode()):
        mark, written = escaped(name, is_bag)
        if len(content) > size:
            for number, start in enumerate(range(0, len(content), size)):
                block = digest("sha256", content[start:start + size])
                lines.append(f"{mark}{block}  {number}  {written}\n")
    return "".join(lines).encode()


def members(payload, own, top=None, algorithms=("sha256",), blocks=None, directories=(), edit=None):
    """Returns names and contents in the order of section 9.3; content `None` is a directory. `edit` changes the files of
    the pack itself before the lists of them are made."""
    is_bag = top is not None
    files = {("data/" if is_bag else "") + name: content for name, content in payload.items()}
    below = {**files, **{name: None for name in directories}}
    ordered = dict(sorted(below.items(), key=lambda item: item[0].encode()))
    tags = {}
    if is_bag:
        if not files:
            ordered["data"] = None
        tags["bagit.txt"] = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
        size = sum(map(len, files.values()))
        tags["bag-info.txt"] = f"Payload-Oxum: {size}.{len(files)}\n".encode()
    if own is not None:
        tags["manifest.yaml"] = own
    if blocks:
        tags["blocks-sha256.txt"] = block_list(files, blocks, is_bag)
    if edit:
        edit(tags)
    listed = files if is_bag else {**files, **tags}
    for algorithm in algorithms:
        tags[f"manifest-{algorithm}.txt"] = manifest(listed, algorithm, is_bag)
    if is_bag:
        plain = dict(tags)
        for algorithm in algorithms:
            tags[f"tagmanifest-{algorithm}.txt"] = manifest(plain, algorithm, True)
    ordered.update(tags)
    return {(top + "/" if is_bag else "") + name: content for name, content in ordered.items()}


# pack.md, section 9.1: zip.
def extra_field(number, content):
    return struct.pack("<2H", number, len(content)) + content


def zip_file(contents, edits=None, before=b"", after=b"", comment=b"", is_zip64=False, end=None, end64=None):
    """`edits` replaces fields of members: `flags`, `method`, `packed`, `crc`, `mode`, `local` and `central` (fields of one
    header alone), `extra` and `central_extra` (extra fields of one header), `remark` (the comment), `gap` (bytes after
    the content), `raw` (the name). `end` and `end64` replace fields of the end records."""
    out, directory = bytearray(before), bytearray()
    for name, content in contents:
        edit = (edits or {}).get(name, {})
        is_directory = content is None
        content = edit.get("content", content or b"")
        packed = edit.get("packed", content)
        raw = edit.get("raw", (name + "/" if is_directory else name).encode())
        facts = {"version": 63 if edit.get("method") == 93 else 20, "flags": 0 if name.isascii() else 2048,
                 "method": 0, "time": 0x00210000, "crc": zlib.crc32(content), "packed_size": len(packed),
                 "size": len(content), **{key: edit[key] for key in ("version", "flags", "method", "crc") if key in edit}}
        at, extra = len(out), edit.get("extra", b"")
        if name.endswith(".ra") and facts["method"] == 0 and content[:8] == b"rawarray" and not extra:
            data = at + 30 + len(raw) + 48 + 8 * struct.unpack_from("<Q", content, 40)[0]
            if data % 64:
                length = next(length for length in range(6, 70) if (data + length) % 64 == 0)
                extra = extra_field(0xd935, struct.pack("<H", 64) + bytes(length - 6))
        local = {**facts, **edit.get("local", {})}
        out += b"PK\3\4" + struct.pack("<3H4I2H", *local.values(), len(raw), len(extra)) + raw + extra + packed
        out += edit.get("gap", b"")
        mode = edit.get("mode", 0o040755 << 16 | 0x10 if is_directory else 0o100644 << 16)
        central = {**facts, "at": at, **edit.get("central", {})}
        start, extra, remark = central.pop("at"), edit.get("central_extra", b""), edit.get("remark", b"")
        directory += b"PK\1\2" + struct.pack("<H", 3 << 8 | 45) + struct.pack("<3H4I", *central.values())
        directory += struct.pack("<5H2I", len(raw), len(extra), len(remark), 0, 0, mode, start) + raw + extra + remark
    count, start, length = len(contents), len(out), len(directory)
    out += directory
    fields = {"disk": 0, "directory_disk": 0, "disk_count": count, "count": count, "length": length, "start": start}
    if is_zip64:
        out += struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 3 << 8 | 45, 45, *{**fields, **(end64 or {})}.values())
        out += struct.pack("<4sIQI", b"PK\6\7", 0, start + length, 1)
        fields.update(disk_count=0xffff, count=0xffff, start=0xffffffff)
    fields.update(end or {})
    out += b"PK\5\6" + struct.pack("<4H2IH", *fields.values(), len(comment)) + comment
    return bytes(out + after)


# pack.md, section 9.2: tar.
def tar_header(name, length, kind=b"0", mode=0o644, prefix=b"", link=b"", magic=b"ustar\x0000", size=None):
    block = bytearray(512)
    size = b"%011o" % length if size is None else size
    for at, field in [(0, name), (100, b"%07o" % mode), (108, b"0000000"), (116, b"0000000"), (124, size),
                      (136, b"02263523000"), (148, b"        "), (156, kind), (157, link), (257, magic),
                      (345, prefix)]:
        block[at:at + len(field)] = field
    if magic == b"ustar\x0000":
        block[329:344] = b"0000000\x000000000"
    block[148:156] = b"%07o\0" % sum(block)
    return bytes(block)


def padded(content):
    return content + bytes(-len(content) % 512)


def tar_record(key, value):
    length = len(key) + len(value) + 3
    while len(str(length)) + len(key) + len(value) + 3 != length:
        length = len(str(length)) + len(key) + len(value) + 3
    return b"%d %s=%s\n" % (length, key, value)


def tar_entry(name, content):
    kind, mode, raw = (b"5", 0o755, name.encode() + b"/") if content is None else (b"0", 0o644, name.encode())
    content = content or b""
    if len(raw) <= 100 and raw.isascii():
        return tar_header(raw, len(content), kind, mode) + padded(content)
    if raw.isascii():
        for at in (at for at, byte in enumerate(raw) if byte == ord("/")):
            if 1 <= at <= 155 and 1 <= len(raw) - at - 1 <= 100:
                return tar_header(raw[at + 1:], len(content), kind, mode, raw[:at]) + padded(content)
    record = tar_record(b"path", raw)
    short = raw[:100].decode(errors="ignore").rstrip("/").encode()
    pax = tar_header(b"././@PaxHeader", len(record), b"x") + padded(record)
    return pax + tar_header(short, len(content), kind, mode) + padded(content)


def tar_file(contents, end=bytes(1024)):
    return b"".join(tar_entry(name, content) for name, content in contents) + end


def deflated(content):
    """A deflate stream of one stored block."""
    return b"\1" + struct.pack("<2H", len(content), len(content) ^ 0xffff) + content


def gzipped(content):
    blocks = [content[start:start + 65535] for start in range(0, len(content), 65535)]
    body = b"".join(bytes([block is blocks[-1]]) + deflated(block)[1:] for block in blocks)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + body + struct.pack("<2I", zlib.crc32(content), len(content))


def zstd_frame(content):
    """A Zstandard frame of one raw block, with the size of the content."""
    return struct.pack("<IBI", 0xfd2fb528, 0xa0, len(content)) + struct.pack("<I", len(content) << 3 | 1)[:3] + content


def add(name, content, errors=(), warnings=(), layout="plain", files=None, source=None, options=(), beside=None):
    """Adds a pack: the bytes of an archive, or the files of a directory. `source` is given if `ra-pack create` makes the
    same bytes from this payload, with `options`. `beside` are files next to the archive, by what follows its name."""
    said = {"layout": layout}
    if beside is not None:
        BESIDE.update({name + end: text for end, text in beside.items()})
        said["beside"] = sorted(beside)
    if files is not None:
        said["files"] = {name: digest("sha256", content) for name, content in files.items() if content is not None}
    if source is not None:
        said["written_from"] = {"payload": sorted(source), "options": list(options)}
    ALL.append((name, content, sorted(errors), sorted(warnings), said))


def described(name, dims, entity, content):
    """The files of an array: the array, and its description in canonical text."""
    section = "ndarrays" if "shape" in entity else "dimcoords"
    yaml = canonical({section: {name.rpartition("/")[2]: entity}}).encode()
    return {name + ".ra": content, name + ".yaml": yaml}


def uint8(dims, data):
    return ra(2, 1, dims, bytes(data))


# Valid packs, as `create` writes them.
A = {"shape": [2], "type": "uint8", "attributes": {"units": "1"}}
B = {"shape": [2, 2], "type": "float32", "attributes": {"long_name": "four numbers"}, "storage": {"order": "row"}}
PLAIN = {**described("a", [2], A, uint8([2], [1, 2])),
         **described("run/b", [2, 2], B, ra(3, 4, [2, 2], struct.pack("<4f", 1, 2, 3, 4))),
         "notes.txt": b"some notes\n"}
ARRAYS = {"a": ([2], A), "run/b": ([2, 2], B)}
YAML = document(ARRAYS)


def written(name, payload, own, pack=zip_file, options=(), layout="plain", directories=(), warnings=(),
            **how):
    made = members(payload, own, directories=directories, **how)
    top = how["top"] + "/" if how.get("top") else ""
    files = {name.removeprefix(top): content for name, content in made.items()}
    add(name, pack(list(made.items())), (), warnings, layout, files, [*payload, *(name + "/" for name in directories)],
        options)


MINIMAL = described("a", [2], {"shape": [2], "type": "uint8"}, uint8([2], [1, 2]))
MINIMAL_YAML = document({"a": ([2], {"shape": [2], "type": "uint8"})})
written("minimal.zip", MINIMAL, MINIMAL_YAML)
written("plain.zip", PLAIN, YAML, directories=["empty"])
written("plain.tar", PLAIN, YAML, tar_file, directories=["empty"])
written("two-digests.zip", PLAIN, YAML, algorithms=("sha256", "sha512"), options=["--digest", "sha256,sha512"])
LONG = {**described("long", [4200], {"shape": [4200], "type": "uint8"}, uint8([4200], [at % 251 for at in range(4200)])),
        "notes.txt": b"some notes\n"}
LONG_YAML = document({"long": ([4200], {"shape": [4200], "type": "uint8"})})
written("blocks.zip", LONG, LONG_YAML, blocks=4096, options=["--block-digests=4K"])
written("bag.zip", PLAIN, YAML, layout="bagit", top="bag", options=["--layout", "bagit"])
written("bag.tar", MINIMAL, MINIMAL_YAML, tar_file, layout="bagit", top="bag", options=["--layout", "bagit"])
written("bag-empty.zip", {}, document({}), layout="bagit", top="bag-empty", options=["--layout", "bagit"])
written("empty.zip", {}, document({}))
TIME = {"shape": [3], "type": "float64", "attributes": {"units": "h"}}
DEPTH = {"size": 2, "type": "int16", "attributes": {"units": "m"}}
T = {"shape": ["time", "depth"], "type": "uint8", "attributes": {"units": "1"}}
COORDINATES = {**described("time", [3], TIME, ra(3, 8, [3], struct.pack("<3d", 0, 1, 2))),
               **described("run/depth", [2], DEPTH, ra(1, 2, [2], struct.pack("<2h", 10, 20))),
               **described("run/t", [3, 2], T, uint8([3, 2], range(6)))}
WITH_TIME = {"time": ([3], TIME), "run/depth": ([2], DEPTH), "run/t": ([3, 2], T)}
written("coordinates.zip", COORDINATES, document(WITH_TIME))
GROUP = {"x/" + name: content for name, content in {**described("p", [2], A, uint8([2], [1, 2])),
                                                    **described("q", [2], A, uint8([2], [3, 4]))}.items()}
GROUP["x/p.yaml"] = b"attributes:\n  cruise: N7\n  ship: no\n" + GROUP["x/p.yaml"]
GROUP["x/q.yaml"] = b"attributes:\n  cruise: N7\n  leg: 2\n" + GROUP["x/q.yaml"]
STATED = {"/": {"title": "A title"}, "/x": {"cruise": "N7", "ship": "no", "leg": 2}}
written("attributes.zip", GROUP, document({"x/p": ([2], A), "x/q": ([2], A)}, STATED, True),
        options=["--attribute", "title=A title"])
ROW = {"shape": [2, 3], "type": "uint8", "storage": {"order": "row"}}
written("row-major.zip", described("r", [3, 2], ROW, uint8([3, 2], range(6))), document({"r": ([3, 2], ROW)}))
ODD = {"ü": b"1", "line\nfeed": b"2", "-": b"3", "a b": b"4", "%41": b"5"}
written("odd-names.zip", ODD, document({}), warnings=["NAME008"])
DEEP = "d" * 60 + "/" + "e" * 60 + "/" + "f" * 90
written("long-names.tar", {DEEP: b"1", "g" * 120: b"2", "ü": b"3"}, document({}), tar_file)
