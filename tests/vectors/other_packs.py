"""Writes packs of other writers, and packs that break a rule: test vectors of docs/spec/pack.md.

As `packs.py`, it imports nothing of ra-pack. Most of these packs contain only a text file.
"""

import struct
import zlib

from arrays import ra
from packs import (A, PLAIN, add, deflated, described, digest, document, extra_field, gzipped, manifest, members,
                   padded, tar_entry, tar_file, tar_header, tar_record, uint8, zip_file, zstd_frame)

FEW = {**described("a", [2], A, uint8([2], [1, 2])), "notes.txt": b"some notes\n"}
MADE = members(FEW, None)
LIST = list(MADE.items())
TEXT = b"some notes\n"
NOTE = members({"notes.txt": TEXT}, None)
SHORT = list(NOTE.items())


def short_zip(name, codes=(), warnings=(), more=(), edit=None, edits=None, **how):
    """Adds a zip with one text file, whose member `edit` changes."""
    edits = edits or {"notes.txt": edit or {}}
    files = None if codes else {**NOTE, **dict(more)}
    add(name, zip_file([*SHORT, *more], edits, **how), codes, warnings, files=files)


def changed(name, codes, payload=FEW, own=None, edit=None, layout="plain", warnings=(), **how):
    """Adds a zip of a pack whose members `edit` changes after the lists were made."""
    made = members(payload, own, **how)
    if edit:
        edit(made)
    add(name, zip_file(list(made.items())), codes, warnings, layout, None if codes or layout == "bagit" else made)


# Containers and names that `create` does not write.
add("directory", MADE, files=MADE)
add("bad-directory", {**NOTE, "notes.txt": b"other note\n"}, ["MAN003"])
add("top-directory.zip", zip_file([("exp/" + name, content) for name, content in LIST]), files=MADE)
DOTS = [(".", None), *(("./" + name, content) for name, content in SHORT)]
add("dot-names.zip", zip_file(DOTS), files=NOTE)
add("dot-names.tar", tar_file(DOTS), files=NOTE)
add("other-name.tar", zip_file(SHORT), warnings=["ARC011"], files=NOTE)
add("bad-empty.zip", b"", ["ARC001"])
for name, member in [("bad-name-climbs", "../x"), ("bad-name-backslash", "a\\b")]:
    short_zip(name + ".zip", ["NAME001"], more=[(member, b"")])
short_zip("bad-name-dots.zip", ["MAN004", "NAME001"], edit={"raw": b"././notes.txt"})
add("bad-name-absolute.tar", tar_file([*SHORT, ("/x", b"")]), ["NAME001"])
add("bad-name-latin.tar", b"".join(tar_entry(*one) for one in SHORT) + tar_header(b"\xfc", 0) + bytes(1024), ["NAME001"])
short_zip("bad-name-twice.zip", ["NAME002"], more=[("notes.txt", TEXT)])
add("bad-file-and-directory.tar", tar_file([*SHORT, ("notes.txt/x", b"")]), ["NAME003", "MAN005"])
short_zip("bad-link.zip", ["NAME004"], more=[("x", b"notes.txt")], edits={"x": {"mode": 0o120777 << 16}})
NAMES = {name: b"" for name in ["a", "A", "aux.txt", "\u00e9", "e\u0301"]}
# Some systems cannot unpack it.
add("names.zip", zip_file(list(members(NAMES, None).items())), (), ["NAME006", "NAME009", "NAME010", "NAME011"])
UMLAUT = members({"\u00fc": TEXT}, None)
for name, raw, flags in [("code-page.zip", b"\x81", 2048), ("no-utf8-flag.zip", "\u00fc".encode(), 0)]:
    add(name, zip_file(list(UMLAUT.items()), {"\u00fc": {"raw": raw, "flags": flags}}), (), ["NAME007"], files=UMLAUT)

# Layouts and lists.
changed("bad-no-manifest.zip", ["MAN001"], edit=lambda made: made.pop("manifest-sha256.txt"))
changed("bad-outside-bag.zip", ["BAG009"], edit=lambda made: made.update(x=b""), top="bag", layout="bagit")
changed("bad-digest.zip", ["MAN003"], edit=lambda made: made.update({"notes.txt": b"other note\n"}))
changed("bad-missing.zip", ["MAN004"], edit=lambda made: made.pop("notes.txt"))
changed("bad-unlisted.zip", ["MAN005"], edit=lambda made: made.update({"more.txt": b""}))
changed("bad-empty-manifest.zip", ["MAN005", "MAN009"], edit=lambda made: made.update({"manifest-sha256.txt": b""}))


def with_manifest(name, text, codes=(), warnings=(), more=(), **how):
    """Adds a zip whose manifest is this text."""
    files = {**MADE, **dict(more), "manifest-sha256.txt": text.encode()}
    add(name, zip_file(list(files.items())), codes, warnings, files=None if codes else files, **how)


LINES = MADE["manifest-sha256.txt"].decode()
forms = LINES.splitlines()
forms[0] = forms[0].upper().replace("  A.RA", " *./a.ra")
forms[1] = "SHA256 (a.yaml) = " + forms[1].split()[0]
with_manifest("manifest-forms.zip", "# made by hand\r\n\r\n" + "\r\n".join(forms))
with_manifest("manifest-spaces.zip", LINES.replace("  ", " ", 1).replace("  ", "\t"))
with_manifest("manifest-odd.zip", LINES.replace("  ", " ", 1) + forms[2] + "\n", warnings=["MAN002"])
with_manifest("bad-manifest-line.zip", LINES + "nonsense\n", ["MAN002"])
with_manifest("bad-manifest-mark.zip", "\ufeff" + LINES, ["MAN002"])
with_manifest("bad-manifest-name.zip", LINES + forms[2].replace("notes", "../notes") + "\n", ["MAN002"])
with_manifest("bad-manifest-two.zip", LINES + "0" * 64 + "  notes.txt\n", ["MAN002"])
with_manifest("signature.zip", LINES, more={"manifest-sha256.txt.minisig": b"a signature\n"})
with_manifest("bad-copy.zip", LINES, ["MAN006"], beside={".manifest-sha256.txt": forms[2].encode()})
SHA1 = manifest({"notes.txt": TEXT}, "sha1")
add("weak.zip", zip_file([("notes.txt", TEXT), ("manifest-sha1.txt", SHA1)]), (), ["MAN007"],
    files={"notes.txt": TEXT, "manifest-sha1.txt": SHA1})
two = {"notes.txt": TEXT, "more.txt": b"", "manifest-sha256.txt": NOTE["manifest-sha256.txt"]}
two["manifest-sha512.txt"] = manifest({"notes.txt": TEXT, "more.txt": b""}, "sha512")
add("fewer.zip", zip_file(list(two.items())), (), ["MAN006"])
ZIP = zip_file(SHORT)
COPIES = {".manifest-sha256.txt": NOTE["manifest-sha256.txt"], ".sha256": f"{digest('sha256', ZIP)}  any\n".encode()}
add("copies.zip", ZIP, files=NOTE, beside=COPIES)
add("bad-archive-digest.zip", ZIP, ["MAN008"], beside={".sha256": b"0" * 64 + b"  bad-archive-digest.zip\n"})
# Deflate streams of 4,097 zeros, and of 4,096 zeros and `!`.
ZEROS, MARKED = bytes.fromhex("edc1010d000000c2a0f74f6d0f0714000000706f"), bytes.fromhex("edc1010900000002a0aef4ff643f424d00000080771d")
DIGITS = digest("sha256", bytes(4096)).encode()
for name, codes, old, new in [("list", ["MAN011"], b"  1  ", b"  2  "), ("size", ["MAN011"], b" 4096\n", b" 4095\n"),
                              ("digest", ["MAN011"], DIGITS, DIGITS[::-1]), ("", ["MAN003", "MAN010"], b"", b"")]:
    def replaced(tags, old=old, new=new):
        tags["blocks-sha256.txt"] = tags["blocks-sha256.txt"].replace(old, new)
    made = members({"long.bin": bytes(4097)}, None, blocks=4096, edit=replaced)
    packed = {"method": 8, "packed": ZEROS} if name else {"method": 8, "packed": MARKED, "content": bytes(4096) + b"!"}
    add(f"bad-block{name and '-' + name}.zip", zip_file(list(made.items()), {"long.bin": packed}), codes)

# Descriptions.
NEWER = members(FEW, document({"a": ([2], A)}).replace(b"Pack format 1.0", b"Pack format 1.1"))
add("newer.zip", zip_file(list(NEWER.items())), warnings=["DESC015"], files=NEWER)
ARRAY = {"a.ra": uint8([2], [1, 2])}
changed("bad-undescribed.zip", ["DESC001"], ARRAY)
WRONG = [("bad-shape.zip", "DESC004", {**A, "shape": [3]}), ("bad-type.zip", "DESC005", {**A, "type": "int8"}),
         ("bad-coordinate.zip", "DESC007", {**A, "shape": ["x"]}), ("bad-value.zip", "DESC014", {**A, "value": [1, 3]})]
for name, code, entity in WRONG:
    entity = {key: entity[key] for key in ("shape", "type", "value", "attributes") if key in entity}
    changed(name, [code], described("a", [2], entity, ARRAY["a.ra"]))
SHAPED = "shape: [2], type: uint8"
for name, code, text in [
    ("bad-entity.zip", "DESC003", f"ndarrays: {{x: {{{SHAPED}, value: [1, 2]}}, y: {{{SHAPED}, value: [1, 2]}}}}\n"),
    ("bad-storage.zip", "DESC006", f"ndarrays: {{a: {{{SHAPED}, storage: {{filter: [lz4]}}}}}}\n"),
]:
    changed(name, [code], {**ARRAY, "a.yaml": text.encode()})
changed("bad-document.zip", ["DESC012", "NDL020"], {"notes.txt": TEXT}, b"files: [a, b]\n")
ONE = f"/:\n  ndarrays: {{a: {{{SHAPED}}}, gone: {{{SHAPED}}}}}\n".encode()
changed("missing-array.zip", (), ARRAY, ONE, warnings=["DESC010"])
changed("partly-described.zip", (), {**FEW, "x/a.ra": ARRAY["a.ra"], "x/a.yaml": FEW["a.yaml"]},
        document({"a": ([2], A)}).replace(b"# This file", b"# My file"), warnings=["DESC013"])
changed("bad-partly-described.zip", ["DESC013"], {**FEW, "x/a.ra": ARRAY["a.ra"], "x/a.yaml": FEW["a.yaml"]},
        document({"a": ([2], A)}))
changed("bad-array.zip", ["RA001"], {**FEW, "a.ra": ARRAY["a.ra"][:-1]})
changed("bad-encoded.zip", ["RA002"], {**FEW, "a.ra": ra(2, 1, [2], b"\1", flags=2)}, warnings=["RA004"])
LENGTHS = {f"{name}.{end}": content for name, length in [("x", 3), ("y", 4)] for end, content in [
    ("ra", uint8([length], range(length))),
    ("yaml", f"dimcoords: {{n: {{size: null, type: int8}}}}\nndarrays: {{{name}: {{shape: [n], type: uint8}}}}\n".encode())]}
changed("bad-coordinate-length.zip", ["DESC008"], LENGTHS)
changed("bad-contradiction.zip", ["DESC002"], own=document({"a": ([2], {**A, "attributes": {"units": "m"}})}))


# Bags.
def listing(files, algorithm="sha256"):
    """Lines with names that are not encoded, as before BagIt 1.0."""
    return "".join(f"{digest(algorithm, content)}  {name}\n" for name, content in files.items())


def bag(name, codes=(), warnings=(), payload=(), lists=None, version="1.0", encoding="UTF-8", tags=(), has_tag_list=True,
        top="bag/", more=()):
    """Adds a zip of a bag. `lists` are the payload manifests, `tags` other tag files, and `more` other members."""
    files = {"data/" + name: content for name, content in dict(payload or {"notes.txt": TEXT}).items()}
    tags = {"bagit.txt": f"BagIt-Version: {version}\nTag-File-Character-Encoding: {encoding}\n", **dict(tags),
            **(lists or {"manifest-sha256.txt": listing(files)})}
    tags = {name: text.encode("utf-8" if name == "bagit.txt" or "?" in encoding else encoding) for name, text in tags.items()}
    if has_tag_list:
        tags["tagmanifest-sha256.txt"] = listing(tags).encode()
    files.update(tags)
    members = [*((top + name, content) for name, content in files.items()), *more]
    # `ra-pack extract` unpacks only if one manifest lists every file by its own name.
    is_unpacked = not codes and version == "1.0" and "BAG012" not in warnings
    add(name, zip_file(members), codes, warnings, "bagit", files if is_unpacked else None)


changed("bad-bag-digest.zip", ["MAN003"], top="bag", layout="bagit",
        edit=lambda made: made.update({"bag/data/notes.txt": b"other note\n"}))
changed("bad-bag-tag.zip", ["BAG007"], top="bag", layout="bagit", edit=lambda made: made.update(
    {"bag/tagmanifest-sha256.txt": manifest({"bagit.txt": made["bag/bagit.txt"],
     "bag-info.txt": made["bag/bag-info.txt"]}, is_bag=True)}))
bag("bad-oxum.zip", ["BAG004"], tags={"bag-info.txt": "Payload-Oxum: 1.1\n"})
bag("bad-bag-declaration.zip", ["BAG001"], tags={"bagit.txt": "BagIt-Version: 1.0\n"})
bag("bad-bag-version.zip", ["BAG001"], version="2.0")
bag("bad-bag-encoding.zip", ["BAG003", "MAN001"], encoding="KOI8?")
bag("bad-bag-info.zip", ["BAG002"], tags={"bag-info.txt": "no label\n"})
bag("bad-bag-algorithm.zip", ["BAG014"], tags={"manifest-sha3.txt": "00  data/notes.txt\n"})
bag("bag-latin.zip", payload={"\u00fc": TEXT}, encoding="ISO-8859-1", tags={
    "bagit.txt": "BagIt-Version: 1.0\r\nTag-File-Character-Encoding: iso-8859-1\r\n",
    "bag-info.txt": "Contact-Name: \u00fc\r\n"})
bag("bag-small.zip", warnings=["BAG008"], has_tag_list=False)
bag("bag-top.zip", warnings=["BAG010"], top="")
PAIR = {"data/100%25": TEXT, "data/b": b""}
HALVES = {"manifest-md5.txt": listing({"data/100%25": TEXT}, "md5"), "manifest-sha256.txt": listing({"data/b": b""})}
PAIRED = {name[5:]: content for name, content in PAIR.items()}
bag("bag-0.97.zip", payload=PAIRED, lists=HALVES, version="0.97")
bag("bad-bag-0.97.zip", ["MAN005"], payload=PAIRED, lists={"manifest-sha256.txt": listing({"data/b": b""})}, version="0.97")
bag("bad-bag-partly.zip", ["BAG016"], payload={"a": TEXT, "b": b""}, lists={
    "manifest-sha512.txt": listing({"data/a": TEXT, "data/b": b""}, "sha512"),
    "manifest-sha256.txt": listing({"data/a": TEXT})})
ONE = listing({"data/notes.txt": TEXT})
bag("bag-spaces.zip", lists={"manifest-sha256.txt": ONE.replace("  ", " \t \t")})
bag("bag-forms.zip", warnings=["BAG011", "BAG013"], payload={"notes.txt": TEXT, "5%": b""}, lists={
    "manifest-sha256.txt": ONE.replace("  ", " *") + listing({"data/5%": b""})})
bag("bag-normalized.zip", warnings=["BAG012"], payload={"\u00fc": TEXT}, lists={
    "manifest-sha256.txt": ONE.replace("notes.txt", "u\u0308")})
FETCH = "https://example.org/x - data/notes.txt\n"
bag("bag-fetch.zip", tags={"fetch.txt": FETCH})
bag("bad-fetch.zip", ["BAG005"], payload={"a": b""}, tags={"fetch.txt": FETCH}, lists={
    "manifest-sha256.txt": ONE + listing({"data/a": b""})})
bag("bad-fetch-line.zip", ["BAG006"], tags={"fetch.txt": FETCH.replace(" - ", " many ")})

# Zips.
add("zip64.zip", zip_file(LIST, is_zip64=True), files=MADE)
add("deflate.zip", zip_file(LIST, {"a.ra": {"method": 8, "packed": deflated(PLAIN["a.ra"])}}), files=MADE)
add("zstd.zip", zip_file(LIST, {"a.ra": {"method": 93, "packed": zstd_frame(PLAIN["a.ra"])}}), files=MADE)
CRC, ONES = zlib.crc32(TEXT), {"packed_size": 0xffffffff, "size": 0xffffffff}
MEMBER64 = {"version": 45, "local": ONES, "central": {**ONES, "at": 0xffffffff},
            "extra": extra_field(1, struct.pack("<2Q", 11, 11)), "central_extra": extra_field(1, struct.pack("<3Q", 11, 11, 0))}
short_zip("zip64-member.zip", edit=MEMBER64)
short_zip("mode-bits.zip", edit={"mode": 0o600 << 16})
STREAMED = {"method": 8, "packed": deflated(TEXT), "flags": 8, "local": {"crc": 0, "packed_size": 0, "size": 0}}
SIZES = struct.pack("<3I", CRC, 16, 11)
short_zip("descriptor.zip", edit={**STREAMED, "gap": b"PK\7\x08" + SIZES})
short_zip("descriptor-unsigned.zip", edit={**STREAMED, "gap": SIZES})
LONG_SIZES = b"PK\7\x08" + struct.pack("<I2Q", CRC, 16, 11)
short_zip("descriptor-zip64.zip", edit={**STREAMED, "version": 45, "local": {"crc": 0, **ONES}, "gap": LONG_SIZES,
                                        "extra": extra_field(1, bytes(16))})
short_zip("descriptor-width.zip", warnings=["ARC011"], edit={**STREAMED, "gap": LONG_SIZES})
short_zip("comment.zip", warnings=["ARC011"], comment=b"a comment")
short_zip("padding.zip", warnings=["ARC023"], edit={"extra": extra_field(0xd935, b"\x40\0more")})
short_zip("times.zip", warnings=["ARC028"], edit={"local": {"time": 0x00220000}})
short_zip("extra-unknown.zip", warnings=["ARC029"], edit={"extra": extra_field(0x9999, b"more")})
add("bad-cut.zip", ZIP[:-1], ["ARC001"])
add("bad-after.zip", ZIP + b"more", ["ARC013"])
add("bad-before.zip", b"more" + ZIP, ["ARC012"])
short_zip("bad-gap.zip", ["ARC002"], edit={"gap": b"more"})
short_zip("bad-hidden.zip", ["ARC014"], edit={"gap": zip_file([("x", b"hidden")])[:37]})
add("bad-two-ends.zip", zip_file(SHORT, comment=zip_file([])), ["ARC020"])
short_zip("bad-count.zip", ["ARC003"], end={"disk_count": 1, "count": 1})
short_zip("bad-split.zip", ["ARC019"], end={"disk": 1})
short_zip("bad-zip64.zip", ["ARC015"], is_zip64=True, end={"length": 1})
short_zip("bad-zip64-member.zip", ["ARC015"], edit={"extra": extra_field(1, struct.pack("<2Q", 11, 12))})
short_zip("bad-extra.zip", ["ARC021"], edit={"extra": struct.pack("<2H", 0x5455, 9)})
short_zip("bad-comment.zip", ["ARC022"], edit={"remark": b"PK"})
short_zip("bad-headers.zip", ["ARC004", "ARC007"], edit={"central": {"method": 8}})
short_zip("bad-overlap.zip", ["ARC004", "ARC005"], more=[("x", b"1")], edits={
    "x": {"central": {"packed_size": 200, "size": 200}}})
short_zip("bad-crc.zip", ["ARC006"], edit={"crc": 1})
short_zip("bad-deflate.zip", ["ARC007"], edit={"method": 8, "packed": b"\7"})
short_zip("bad-deflate-more.zip", ["ARC024"], edit={"method": 8, "packed": deflated(TEXT) + b"x"})
short_zip("bad-encrypted.zip", ["ARC017", "MAN004"], edit={"flags": 1})
short_zip("bad-patch.zip", ["ARC008", "MAN004"], edit={"flags": 32})
short_zip("bad-method.zip", ["ARC018", "MAN004"], edit={"method": 12})
short_zip("bad-descriptor.zip", ["ARC016"], edit={**STREAMED, "gap": b"PK\7\x08" + SIZES[:-1] + b"\1"})
short_zip("bad-directory-data.zip", ["ARC010"], more=[("d", None)], edits={"d": {"content": b"1"}})

# Tars. An entry that is not one of `SHORT` is after them.
SMALL = tar_file(SHORT)
ENTRIES = SMALL[:-1024]
FIRST, LAST = (tar_entry(*one) for one in SHORT)


def pax(*records):
    records = b"".join(records)
    return tar_header(b"././@PaxHeader", len(records), b"x") + padded(records)


def entries(form, **how):
    return b"".join(tar_header(name.encode(), len(content), magic=form, **how) + padded(content) for name, content in SHORT)


add("plain.tar.gz", gzipped(SMALL), files=NOTE)
add("members.tar.gz", gzipped(SMALL[:700]) + gzipped(SMALL[700:]), files=NOTE)
add("plain.tar.zst", zstd_frame(SMALL), files=NOTE)
add("gnu.tar", entries(b"ustar  \0") + bytes(1024), files=NOTE)
add("old.tar", entries(bytes(8), kind=b"\0") + bytes(1024), files=NOTE)
DEEP = "n" * 101
NAMED = {DEEP: TEXT, "manifest-sha256.txt": manifest({DEEP: TEXT})}
DEEP_NAME = tar_header(b"././@LongLink", 102, b"L", magic=b"ustar  \0") + padded(DEEP.encode() + b"\0")
BINARY = tar_header(DEEP[:100].encode(), 11, magic=b"ustar  \0", size=b"\x80" + (11).to_bytes(11, "big"))
add("gnu-long.tar", DEEP_NAME + BINARY + padded(TEXT) + tar_entry(*list(NAMED.items())[1]) + bytes(1024), files=NAMED)
ODD = tar_header(b"notes.txt", 11, size=b"        013 ") + TEXT + b"!" * 501
ODD = pax(tar_record(b"VENDOR.key", b"1")) + ODD
add("odd.tar", ODD + tar_entry(*SHORT[1]) + bytes(1024), (), ["ARC023", "ARC027"], files=NOTE)
add("no-end-mark.tar", ENTRIES, (), ["ARC009"], files=NOTE)
add("one-zero-block.tar", ENTRIES + bytes(512), (), ["ARC009"], files=NOTE)
add("bad-cut.tar", SMALL[:1560], ["ARC001", "MAN001"])
add("bad-after.tar", SMALL + b"more", ["ARC013"])
add("bad-zero-block.tar", FIRST + bytes(512) + LAST + bytes(1024), ["ARC014", "MAN001"])
add("bad-checksum.tar", SMALL[:100] + b"0000600" + SMALL[107:], ["ARC006", "MAN001"])
add("bad-magic.tar", tar_header(b"a", 0, magic=b"vstar\x0000") + SMALL, ["ARC026", "MAN001"])
PATH = pax(tar_record(b"path", SHORT[1][0].encode()))
LONG_NAME = tar_header(b"././@LongLink", 1, b"L", magic=b"ustar  \0") + padded(b"x")
for name, code, headers in [("pax", "ARC027", pax(b"5 a=b\n")), ("pax-twice", "ARC027", PATH + PATH),
                            ("two-names", "ARC004", LONG_NAME + PATH)]:
    add(f"bad-{name}.tar", FIRST + headers + LAST + bytes(1024), [code, "MAN001"])
add("bad-pax-alone.tar", ENTRIES + PATH + bytes(1024), ["ARC027"])
for name, codes, kind, size in [("link", ["NAME004"], b"2", 0), ("fifo", ["NAME005"], b"6", 0),
                                ("directory-data", ["ARC010"], b"5", 1)]:
    link = b"notes.txt" if kind == b"2" else b""
    add(f"bad-{name}.tar", ENTRIES + tar_header(b"x", size, kind, link=link) + padded(bytes(size)) + bytes(1024), codes)
for name, codes, kind in [("type", ["MAN004", "NAME005"], b"V"), ("sparse", ["ARC008", "MAN001"], b"S")]:
    add(f"bad-{name}.tar", tar_header(b"notes.txt", len(TEXT), kind) + padded(TEXT) + LAST + bytes(1024), codes)
add("bad-two-formats.tar", SMALL + zip_file([]), ["ARC030"])
add("bad-after.tar.gz", gzipped(SMALL) + b"more", ["ARC024"])
add("bad-stream.tar.gz", gzipped(SMALL)[:-8] + bytes(8), ["ARC025"])
add("bad-cut.tar.gz", gzipped(SMALL)[:600], ["ARC001", "MAN001"])
