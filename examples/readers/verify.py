"""Verifies packs with the standard library, as docs/spec/pack.md says: python3 verify.py PACK

It checks neither descriptions, extra fields of zips and extended headers of tars, nor files next to the pack. It cannot
tell about Zstandard, encoded arrays, and bags that are not plain 1.0. Exit status: 0 valid, 1 not valid, 2 cannot tell.
"""

import gzip, hashlib, io, math, pathlib, re, struct, sys, tarfile, zipfile, zlib

ALGORITHMS = ["sha512", "sha384", "sha256", "sha224", "sha1", "md5"]  # the strongest first
LIST = re.compile(rf"(tag)?manifest-({'|'.join(ALGORITHMS)})\.txt(\.minisig|\.sig|\.asc|\.sigstore\.json)?")
CannotTell = NotImplementedError
CODES = {"%0a": "\n", "%0d": "\r", "%25": "%", "\\\\": "\\", "\\n": "\n", "\\r": "\r"}

def need(is_so, problem, error=ValueError):
    if not is_so:
        raise error(problem)

def zip_members(data):  # section 9.1
    first, most = max(0, len(data) - 65557), [65535] * 4 + [0xffffffff] * 2
    ends = [first + found.start() for found in re.finditer(b"PK\5\6", data[first:] + bytes(22))]
    fit = [at for at in ends if at + 22 + int.from_bytes(data[at + 20:at + 22], "little") == len(data)]
    need(len(fit) == 1 and fit == ends[-1:], "expected one end record, at the end")
    infos, start = (archive := zipfile.ZipFile(io.BytesIO(data))).infolist(), archive.start_dir
    stop, spans = fit[0] - 76 * (data[max(0, fit[0] - 20):fit[0] - 16] == b"PK\6\7"), []
    pairs = zip(struct.unpack_from("<4H2I", data, fit[0] + 4), [0, 0, *[len(infos)] * 2, stop - start, start], most)
    need(all(a == b or a == none and stop < fit[0] for a, b, none in pairs), "the end records are wrong")
    for info in infos:
        name, local, facts = info.orig_filename, info.header_offset, (info.CRC, info.compress_size, info.file_size)
        magic, _, flags, method, _, *numbers, name_len, extra_len = struct.unpack_from("<4s3H4I2H", data, local)
        raw, begin = data[local + 30:local + 30 + name_len], local + 30 + name_len + extra_len
        same = raw == name.encode("utf-8" if info.flag_bits & 0x800 else "cp437") and method == info.compress_type
        same &= all(a in (b, 0xffffffff) or flags & 8 and a == 0 for a, b in zip(numbers, facts))
        need(magic == b"PK\3\4" and same and flags == info.flag_bits, f"{name}: the headers differ")
        is_plain = info.external_attr >> 28 in ([0, 4, 8] if name.endswith("/") else [0, 8]) and not flags & 0x2061
        need(is_plain and not info.volume and b"PK" not in info.comment, f"{name}: not a file, or not readable")
        need(method in (0, 8), f"{name}: compressed with a method that this program lacks", CannotTell)
        content, end = data[begin:begin + info.compress_size], begin + info.compress_size
        if flags & 8:
            forms = [mark + struct.pack(form, *facts) for form in ("<IQQ", "<III") for mark in (b"PK\7\x08", b"")]
            end += next((len(form) for form in forms if data.startswith(form, end)), 0)  # a wrong one leaves a gap
        if method == 8:
            content = (stream := zlib.decompressobj(-15)).decompress(content, info.file_size + 1)
            need(stream.eof and not stream.unused_data, f"{name}: bytes after the compressed data, or too few")
        need(len(content) == info.file_size and zlib.crc32(content) == info.CRC, f"{name}: a wrong checksum or size")
        spans.append((local, end))
        yield name if flags & 0x800 else raw.decode(errors="replace"), content
    edges = [0, *(edge for span in sorted(spans) for edge in span), start]
    need(edges[::2] == edges[1::2], "members overlap, or bytes belong to no member")

def tar_members(data):  # section 9.2
    for info in (tar := tarfile.open(fileobj=io.BytesIO(data))):
        need(info.type in b"07\0005" and not info.linkname and not info.sparse, f"{info.name}: no file or directory")
        yield info.name + "/" * info.isdir(), data[info.offset_data:info.offset_data + info.size]
    need(info.offset_data + info.size <= len(data) and not any(data[tar.offset:]), "the tar is cut off or damaged")

def directory_members(path):
    for file in path.rglob("*"):
        need(not file.is_symlink() and (file.is_dir() or file.is_file()), f"{file}: no file or directory")
        yield file.relative_to(path).as_posix() + "/" * file.is_dir(), b"" if file.is_dir() else file.read_bytes()

def listed(text, algorithm, is_bag):  # section 6.1
    entries, blanks = {}, "[ \t]*" if is_bag else ""
    for line in text.decode().split("\n"):
        is_escaped, line = line.startswith("\\") and not is_bag, line.removesuffix("\r")
        bsd = re.fullmatch(rf"(?si){algorithm} \((.+)\) = ([0-9a-f]+)", line[is_escaped:])
        gnu = re.fullmatch(rf"(?si)([0-9a-f]+)[ \t][ *]?{blanks}(.+)", line[is_escaped:])
        need(bsd or gnu or not line.strip() or line.startswith("#"), f"a malformed line: {line}")
        if bsd or gnu:
            name, digest = bsd.groups() if bsd else gnu.groups()[::-1]
            pattern = r"(?i)%0a|%0d|%25" if is_bag else r"\\." if is_escaped else "(?!)"
            name = re.sub(pattern, lambda code: CODES[code[0].lower()], name).removeprefix("./")
            need(len(digest) == 2 * hashlib.new(algorithm).digest_size, f"{name}: a malformed digest")
            need(entries.setdefault(name, digest.lower()) == digest.lower(), f"{name}: two digests")
    return entries

def check_lists(files, payload, is_bag):  # section 6.2
    lists = {name: it for name in files if (it := LIST.fullmatch(name)) and not it[3] and (is_bag or not it[1])}
    strongest = min((found[2] for found in lists.values() if not found[1]), key=ALGORITHMS.index, default=None)
    need(strongest, "there is no manifest")
    for name, (tag, algorithm, _) in ((name, found.groups()) for name, found in lists.items()):
        entries = listed(files[name], algorithm, is_bag)
        for entry, digest in entries.items():
            is_apart = entry.startswith("data/") == bool(tag) or entry.startswith("tagmanifest-")
            need(not (is_bag and is_apart), f"{name}: must not list {entry}")
            need(entry in files, f"{entry}: missing", ValueError if entry.isascii() or not is_bag else CannotTell)
            need(hashlib.new(algorithm, files[entry]).hexdigest() == digest, f"{entry}: differs from {name}")
        must = {other for other in lists if not lists[other][1]} if tag else payload.keys()
        need(must <= entries.keys() or not is_bag and algorithm != strongest, f"{name} does not list every file")

def check_blocks(files, payload, is_bag):  # section 7
    text = files.get("blocks-sha256.txt", b"")
    if not text.startswith(b"# block-size "):
        return
    size, rows = int(text.split()[2]), (line.split("  ", 2) for line in text.decode().splitlines()[1:])
    found = [(*listed(f"{one}  {name}".encode(), "sha256", is_bag).popitem(), number) for one, number, name in rows]
    expected = [(name, hashlib.sha256(all[at:at + size]).hexdigest(), str(at // size))
                for name, all in sorted(payload.items()) for at in range(0, len(all), size) if len(all) > size]
    need(4096 <= size <= 1 << 26 and found == expected, "blocks-sha256.txt is wrong")

def check_bag(files, payload, is_bag):  # section 8
    plain = re.fullmatch(rb"BagIt-Version: 1\.0\r?\nTag-File-Character-Encoding: UTF-8\r?\n?", files["bagit.txt"])
    need(plain and "fetch.txt" not in files, "a malformed bagit.txt, or a bag that is not plain 1.0", CannotTell)
    lines, size = files.get("bag-info.txt", b"").decode().splitlines(), sum(map(len, payload.values()))
    need(all(re.fullmatch(r"[ \t].*|[^:]*[^:\s]:([ \t].*)?|", line) for line in lines), "bag-info.txt is malformed")
    oxums = [line[13:].strip() for line in lines if re.match("(?i)payload-oxum:", line)]
    need(oxums in ([], [f"{size}.{len(payload)}"]), "Payload-Oxum does not fit the files")
    unknown = [name for name in files if re.fullmatch(r"(tag)?manifest-[^/]*\.txt", name) and not LIST.fullmatch(name)]
    need(not unknown, f"unknown algorithms: {unknown}")

def verify(path):
    data = b"" if path.is_dir() else path.read_bytes()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    is_tar = data[257:262] == b"ustar" or path.suffix == ".tar" and data[:2] != b"PK"
    need(not is_tar or data[-22:-18] != b"PK\5\6", "the file is both a tar and a zip")
    need(data[:4] != b"\x28\xb5\x2f\xfd", "this program has no Zstandard", CannotTell)
    members = directory_members(path) if path.is_dir() else tar_members(data) if is_tar else zip_members(data)
    members = [(name.removeprefix("./"), content) for name, content in members if name not in ("./", ".")]
    files = {name: content for name, content in members if content or not name.endswith("/")}  # a directory has none
    names = [name.removesuffix("/") for name, _ in members]
    need(len(set(names)) == len(names), "two members have one name")
    for name in names:  # section 2
        is_name = not {"", ".", ".."} & set(name.split("/")) and not re.match(r"(?s)[A-Za-z]:|.*[\\\0]", name)
        is_below = any(name[:found.start()] in files for found in re.finditer("/", name))
        need(is_name and not is_below, f"{name}: a wrong name, or below a file")
    bags = sorted(name for name in files if re.fullmatch("[^/]+/bagit.txt", name))  # section 3
    tops = {name.split("/")[0] + "/" for name in names}
    root = bags[0][:-9] if bags else min(tops) if len(tops) == 1 else ""
    root = "" if any(name == "bagit.txt" or LIST.fullmatch(name) for name in files) else root
    need(all((name + "/").startswith(root) for name in names), "there are files outside the pack")
    files = {name.removeprefix(root): content for name, content in files.items()}
    is_bag = "bagit.txt" in files
    payload = {name: files[name] for name in files if (name[:5] == "data/" if is_bag else not LIST.fullmatch(name))}
    need(not is_bag or any((name + "/").startswith(root + "data/") for name in names), "there is no data/")
    for check in [check_bag] * is_bag + [check_lists, check_blocks]:
        check(files, payload, is_bag)
    for name, data in ((name, data) for name, data in payload.items() if re.search(r"[^/]\.ra$", name)):  # rawarray.md
        flags, eltype, elbyte, size, ndims = struct.unpack_from("<5Q", data, 8)
        is_sound = data[:8] == b"rawarray" and flags < 8 and eltype <= 5 and elbyte and ndims <= 64
        expected = elbyte * math.prod(struct.unpack_from(f"<{min(ndims, 64)}Q", data, 48))
        need(not flags & 2, f"{name}: encoded, which this program does not decode", CannotTell)
        need(is_sound and size == expected and len(data) >= 48 + 8 * ndims + size, f"{name}: a wrong header or size")

try:
    verify(pathlib.Path(sys.argv[1]))
    print(f"{sys.argv[1]}: valid")
except (CannotTell, UnicodeDecodeError, OSError) as error:
    print(f"{sys.argv[1]}: CANNOT TELL: {error}", file=sys.stderr)
    sys.exit(2)
except (ValueError, LookupError, EOFError, struct.error, zlib.error, tarfile.TarError, zipfile.BadZipFile) as error:
    sys.exit(f"{sys.argv[1]}: NOT VALID: {error}")
