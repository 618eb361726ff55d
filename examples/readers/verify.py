"""Verifies packs with the standard library: python3 verify.py PACK

A pack is a zip, a tar, a tar.gz or a directory, plain or a bag. This was written from docs/spec/pack.md. It checks the
container, names, manifests, block digests and headers of arrays, but not descriptions. Exit status: 1 if not valid.
"""

import gzip, hashlib, io, math, pathlib, re, struct, sys, zipfile, zlib


def need(is_so, problem):
    if not is_so:
        raise ValueError(problem)


def zip_members(data):  # section 9.1
    tail = data[-65557:] + bytes(22)
    ends = [found.start() for found in re.finditer(b"PK\5\6", tail)]
    ends = [at for at in ends if struct.unpack_from("<H", tail, at + 20)[0] + at + 44 == len(tail)]
    need(len(ends) == 1 and b"PK\5\6" not in tail[ends[0] + 4:], "expected one end record, at the end")
    archive, spans = zipfile.ZipFile(io.BytesIO(data)), []
    for info in archive.infolist():
        name, local, facts = info.orig_filename, info.header_offset, (info.CRC, info.compress_size, info.file_size)
        magic, _, flags, method, _, *numbers, name_len, extra_len = struct.unpack_from("<4s3H4I2H", data, local)
        start, raw = local + 30 + name_len + extra_len, data[local + 30:local + 30 + name_len]
        same = raw == name.encode("utf-8" if info.flag_bits & 0x800 else "cp437") and method == info.compress_type
        same &= all(a in (b, 0xffffffff) or flags & 8 and a == 0 for a, b in zip(numbers, facts))
        need(magic == b"PK\3\4" and same and flags == info.flag_bits, f"{name}: the headers differ")
        need(not flags & 0x2061 and method in (0, 8) and info.external_attr >> 28 in (0, 4, 8),
             f"{name}: encrypted, a link, a special file, or a method that this program lacks")
        content, end = data[start:start + info.compress_size], start + info.compress_size
        if flags & 8:
            forms = [mark + struct.pack(form, *facts) for form in ("<IQQ", "<III") for mark in (b"PK\7\x08", b"")]
            end += next((len(form) for form in forms if data.startswith(form, end)), 0)  # a wrong one leaves a gap
        if method == 8:
            content = (stream := zlib.decompressobj(-15)).decompress(content, info.file_size + 1)
            need(stream.eof and not stream.unused_data, f"{name}: bytes after the compressed data")
        need(len(content) == info.file_size and zlib.crc32(content) == info.CRC, f"{name}: a wrong checksum or size")
        spans.append((local, end))
        yield name if flags & 0x800 else raw.decode(errors="replace"), content
    edges = [0, *(edge for span in sorted(spans) for edge in span), archive.start_dir]
    need(edges[::2] == edges[1::2], "members overlap, or bytes belong to no member")


def tar_members(data):  # section 9.2
    at, pax = 0, {}
    while any(data[at:at + 512]):
        block = data[at:at + 512].ljust(512)
        need(int(block[148:156].strip(b" \0"), 8) == sum(block[:148] + block[156:]) + 256, "a wrong checksum")
        need(block[257:265] in (b"ustar\x0000", b"ustar  \0", bytes(8)), "an unknown kind of tar")
        prefix = block[345:500].strip(b"\0") if block[262:263] == b"\0" else b""
        kind, name = block[156:157], b"/".join(filter(None, [prefix, block[:100].split(b"\0")[0]]))
        size = int(pax.pop(b"size", 0)) or int(block[124:136].strip(b" \0"), 8)
        content, at = data[at + 512:at + 512 + size], at + 512 + size + -size % 512
        need(at <= len(data), "the tar is cut off")
        if kind != b"x":
            need(kind in b"07\0005", f"{name}: a link, a special file or an extended header")
            name = pax.pop(b"path", name).decode()
            yield name.rstrip("/") + "/" if kind == b"5" else name, content
            continue
        while content:
            found = re.match(rb"(\d+) ([^=\n]+)=", content)
            need(found and content[:int(found[1])].endswith(b"\n"), "a malformed pax record")
            pax[found[2]], content = content[found.end():int(found[1]) - 1], content[int(found[1]):]
    need(not any(data[at:]), "bytes follow the end of the tar")


def listed(text, algorithm, is_bag):  # section 6.1
    entries, codes = {}, {"%0a": "\n", "%0d": "\r", "%25": "%", "\\\\": "\\", "\\n": "\n", "\\r": "\r"}
    for line in text.decode().split("\n"):
        is_escaped, line = line.startswith("\\") and not is_bag, line.removesuffix("\r")
        bsd = re.fullmatch(rf"{algorithm} \((.*)\) = ([0-9a-f]+)", line[is_escaped:], re.S | re.I)
        gnu = re.fullmatch(r"([0-9a-f]+)[ \t][ *]?(.+)", line[is_escaped:], re.S | re.I)
        need(bsd or gnu or not line.strip() or line.startswith("#"), f"a malformed line: {line}")
        if bsd or gnu:
            name, digest = bsd.groups() if bsd else gnu.groups()[::-1]
            pattern = r"(?i)%0a|%0d|%25" if is_bag else r"\\." if is_escaped else "(?!)"
            name = re.sub(pattern, lambda code: codes[code[0].lower()], name).removeprefix("./")
            need(entries.setdefault(name, digest.lower()) == digest.lower(), f"{name}: two digests")
    return entries


def check_lists(files, is_bag):  # sections 6.2, 7 and 8
    algorithms = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"]
    pattern = rf"(tag)?manifest-({'|'.join(algorithms)})\.txt(\.minisig|\.sig|\.asc|\.sigstore\.json)?"
    lists = {name: found for name in files if (found := re.fullmatch(pattern, name)) and (is_bag or not found[1])}
    payload = {name for name in files if (name.startswith("data/") if is_bag else name not in lists)}
    strongest = max((algorithms.index(found[2]) for found in lists.values() if not found[1]), default=-1)
    need(strongest >= 0, "there is no manifest")
    for name, found in ((name, found) for name, found in lists.items() if not found[3]):
        entries = listed(files[name], found[2], is_bag)
        for entry, digest in entries.items():
            need(entry in files, f"{entry}: missing")
            need(hashlib.new(found[2], files[entry]).hexdigest() == digest, f"{entry}: differs from {name}")
        must = {name for name in lists if not lists[name][1]} if found[1] else payload
        if is_bag or found[2] == algorithms[strongest]:
            need(must <= entries.keys(), f"{name} does not list {must - entries.keys()}")
        need(not is_bag or {entry.startswith("data/") for entry in entries} <= {not found[1]}, f"{name}: a wrong entry")
    text = files.get("blocks-sha256.txt", b"")
    if text.startswith(b"# block-size "):
        size, blocks = int(text.split()[2]), {}
        for line in text.decode().splitlines()[1:]:
            digest, number, name = line.split("  ", 2)
            entries = listed(f"{digest}  {name}".encode(), "sha256", is_bag)
            blocks.setdefault(*entries, []).append((*entries.values(), number))
        parts = {name: [files[name][at:at + size] for at in range(0, len(files[name]), size)] for name in payload}
        expected = {name: [(hashlib.sha256(part).hexdigest(), str(number)) for number, part in enumerate(all)]
                    for name, all in parts.items() if len(all) > 1}
        need(4096 <= size <= 1 << 26 and blocks == expected, "blocks-sha256.txt is wrong")


def verify(path):
    data = b"" if path.is_dir() else path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    need(data[257:262] != b"ustar" or data[-22:-18] != b"PK\5\6", "the file is both a tar and a zip")
    members = [(file.relative_to(path).as_posix(), file.read_bytes()) for file in path.rglob("*") if file.is_file()]
    if not path.is_dir():
        members = zip_members(data) if data[:2] == b"PK" and data[257:262] != b"ustar" else tar_members(data)
    members = [(name.removeprefix("./"), content) for name, content in members]
    files = {name: content for name, content in members if not name.endswith("/")}
    names = [name.removesuffix("/") for name, _ in members]
    need(len(set(names)) == len(names), "two members have one name")
    for name, parts in ((name, name.split("/")) for name in names):  # section 2
        need(not {"", ".", ".."} & set(parts) and not re.match(r"[A-Za-z]:|.*[\\\0]", name), f"{name}: a wrong name")
        need(not any("/".join(parts[:at]) in files for at in range(1, len(parts))), f"{name}: below a file")
    root, tops = "", {name.split("/")[0] for name in names}  # section 3
    if not any(re.fullmatch(r"bagit\.txt|manifest-\w+\.txt", name) for name in files):
        bags = sorted(name for name in files if re.fullmatch("[^/]+/bagit.txt", name))
        root = bags[0][:-9] if bags else (tops.pop() + "/" if len(tops) == 1 else "")
    need(all((name + "/").startswith(root) for name in names), "there are files outside the pack")
    files = {name.removeprefix(root): content for name, content in files.items()}
    is_bag = "bagit.txt" in files
    check_lists(files, is_bag)
    payload = {name: content for name, content in files.items() if not is_bag or name.startswith("data/")}
    if is_bag:  # section 8
        declaration = rb"BagIt-Version: (1\.0|0\.9[3-7])\r?\nTag-File-Character-Encoding: UTF-8\r?\n?"
        need(re.fullmatch(declaration, files["bagit.txt"]), "bagit.txt is malformed, or has another encoding")
        oxum = re.search(r"(?mi)^Payload-Oxum *: *(.*)$", files.get("bag-info.txt", b"").decode())
        need(not oxum or oxum[1].strip() == f"{sum(map(len, payload.values()))}.{len(payload)}", "a wrong Payload-Oxum")
    for name, data in ((name, data) for name, data in payload.items() if re.search(r"[^/]\.ra$", name)):  # rawarray.md
        flags, eltype, elbyte, size, ndims = struct.unpack_from("<5Q", data, 8)
        need(data[:8] == b"rawarray" and flags < 8 and eltype <= 5 and elbyte and ndims <= 64, f"{name}: a bad header")
        expected = elbyte * math.prod(struct.unpack_from(f"<{ndims}Q", data, 48))
        need(flags & 2 or size == expected and len(data) >= 48 + 8 * ndims + size, f"{name}: a wrong size")


try:
    verify(pathlib.Path(sys.argv[1]))
    print(f"{sys.argv[1]}: valid")
except (ValueError, EOFError, OSError, struct.error, zlib.error, zipfile.BadZipFile) as error:
    sys.exit(f"{sys.argv[1]}: NOT VALID: {error}")
