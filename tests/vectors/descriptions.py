"""Writes `descriptions/` and `descriptions.json`, the test vectors of docs/spec/ndl.md."""

ALL = []


def short(value, type=None):
    types = {int: "int64", float: "float64", str: "string"}
    return {"shape": [], "type": type or types[value.__class__], "value": value}


def array(shape, type, **others):
    return {"shape": shape, "type": type, **others}


def good(name, text, warnings=(), **groups):
    """Adds a valid document. `groups` are its groups: `root` is `/`, and `a__b` is `/a/b`."""
    path = {group: "/" + ("" if group == "root" else group.replace("__", "/")) for group in groups}
    ALL.append((name, text.encode() if isinstance(text, str) else text, [], list(warnings),
                {"groups": {path[group]: body for group, body in groups.items()}}))


def bad(name, text, code, warnings=()):
    ALL.append((name, text.encode() if isinstance(text, str) else text, [code], list(warnings), {}))


def one(type="int8", shape="[2]", more=""):
    return f"ndarrays:\n  z:\n    shape: {shape}\n    type: {type}\n{more}"


# Section 1.
good("core-schema", """attributes:
  a: no
  b: 2008-12-31
  c: 12:30:00
  d: 010
  e: 1e3
  f: 0x1F
  g: 0o17
  h: "7"
  i: +5
  j: .5
  k: 1.
  l: Yes
  m: 1_000
  n: .inf
  o: -.INF
  p: .nan
  q: 18446744073709551615
  r: nan
""", root={"attributes": {
    "a": short("no"), "b": short("2008-12-31"), "c": short("12:30:00"), "d": short(10), "e": short(1000.0),
    "f": short(31), "g": short(15), "h": short("7"), "i": short(5), "j": short(0.5), "k": short(1.0),
    "l": short("Yes"), "m": short("1_000"), "n": short("inf", "float64"), "o": short("-inf", "float64"),
    "p": short("nan", "float64"), "q": short(2**64 - 1, "uint64"), "r": short("nan")}})
good("bom", "\ufeffattributes: {a: 1}\n", root={"attributes": {"a": short(1)}})
good("core-tags", "attributes: {a: !!str 7, b: !!float 7, c: ! 7, d: !!int 7}\n",
     root={"attributes": {"a": short("7"), "b": short(7.0), "c": short("7"), "d": short(7)}})
good("anchors", "ndarrays:\n  a: &x {shape: [2], type: int8}\n  b: *x\n",
     root={"ndarrays": {"a": array([2], "int8"), "b": array([2], "int8")}})
good("key-texts", "attributes: {1: a, true: b, null: c, 1.0: d}\n",
     root={"attributes": {"1": short("a"), "true": short("b"), "null": short("c"), "1.0": short("d")}})
bad("bad-utf8", b"attributes: {a: \xff}\n", "NDL001")
bad("bad-syntax", "ndarrays: {a: [1, 2}\n", "NDL003")
bad("bad-control", "attributes: {a: \x07}\n", "NDL003")
bad("bad-two-documents", "attributes: {a: 1}\n---\nattributes: {a: 1}\n", "NDL004")
bad("bad-empty", "# nothing\n", "NDL022")
bad("bad-duplicate-key", "attributes: {a: 1, a: 2}\n", "NDL005")
bad("bad-tag", "attributes: {a: !date 2008-12-31}\n", "NDL006")
bad("bad-tag-value", "attributes: {a: !!int seven}\n", "NDL006")
bad("bad-merge-key", "attributes: {<<: 1}\n", "NDL007")
bad("bad-alias", "attributes: {a: &x {shape: [1], type: int8, value: [*x]}}\n", "NDL008")
bad("bad-depth", "attributes: {a: " + "[" * 101 + "]" * 101 + "}\n", "NDL009")
bad("bad-key", "attributes: {[a]: 1}\n", "NDL010")
bad("bad-number", "attributes: {a: 18446744073709551616}\n", "NDL011")

# Section 2.
good("empty", "{}\n", root={})
good("empty-sections", "attributes:\ndimcoords:\nndarrays: {}\n", root={})
bad("bad-unknown-key", one(more="    units: m\n"), "NDL020")
bad("bad-no-type", "ndarrays: {z: {shape: [2]}}\n", "NDL021")
bad("bad-shape-kind", one(shape="2"), "NDL022")
bad("bad-mixed", "/a: {}\nattributes: {b: 1}\n", "NDL023")

# Section 3.
good("groups", "/:\n  attributes: {title: t}\n/a b/c.d:\n  ndarrays:\n    z: {shape: [], type: int8}\n/e:\n",
     **{"root": {"attributes": {"title": short("t")}}, "a b__c.d": {"ndarrays": {"z": array([], "int8")}}, "e": {}})
bad("bad-group-path", "/a/../b: {}\n", "NDL024")
bad("bad-name", "ndarrays: {a/b: {shape: [], type: int8}}\n", "NDL025")
bad("bad-same-name", "ndarrays: {a: {shape: [], type: int8}}\ndimcoords: {a: {size: 1, type: int8}}\n", "NDL026")

# Section 4.
good("attributes", """attributes:
  a: {shape: [], type: string, value: Ηελλο ωορλδ}
  b: {shape: [2], type: int16, value: [0, 40]}
  same_as_a: Ηελλο ωορλδ
  many: |
    two
    lines
""", root={"attributes": {"a": array([], "string", value="Ηελλο ωορλδ"), "b": array([2], "int16", value=[0, 40]),
                          "same_as_a": short("Ηελλο ωορλδ"), "many": short("two\nlines\n")}})
good("attribute-names", "attributes: {shape: 1, type: 2, a/b: 3}\n",
     root={"attributes": {"shape": short(1), "type": short(2), "a/b": short(3)}})
bad("bad-short-list", "attributes: {a: [1, 2]}\n", "NDL030")
bad("bad-short-boolean", "attributes: {a: true}\n", "NDL031")
bad("bad-short-null", "attributes: {a: }\n", "NDL031")

# Section 5.
WORDS = ("string int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 objref float16 bfloat16 float128 "
         "complex64 complex128 int128 uint128").split()
good("datatypes", "ndarrays:\n" + "".join(f"  {word}: {{shape: [], type: {word}}}\n" for word in WORDS) + """\
  opaque: {shape: [], type: {opaque: {size: 16, tag: uuid}}}
  vlen: {shape: [], type: {vlen: {base: uint8}}}
  array: {shape: [], type: {array: {base: float32, shape: [3, 3]}}}
  regref: {shape: [], type: {regref: {selection: element}}}
""", root={"ndarrays": {**{word: array([], word) for word in WORDS},
                        "opaque": array([], {"opaque": {"size": 16, "tag": "uuid"}}),
                        "vlen": array([], {"vlen": {"base": "uint8"}}),
                        "array": array([], {"array": {"base": "float32", "shape": [3, 3]}}),
                        "regref": array([], {"regref": {"selection": "element"}})}})
ENUM = {"base": "int8", "members": {"off": 0, "on": -1}}
good("enums", "ndarrays:\n  a: {shape: [], type: {enum: {base: int8, members: {off: 0, on: -1}}}, value: on}\n"
     "  b: {shape: [2], type: {enum: {members: {good: 1, bad: 4}}}, value: [bad, 1]}\n"
     "  c: {shape: [], type: {enum: {members: {\"false\": 0, \"true\": 1}}}, value: true}\n",
     root={"ndarrays": {"a": array([], {"enum": ENUM}, value="on"),
                        "b": array([2], {"enum": {"members": {"good": 1, "bad": 4}}}, value=["bad", 1]),
                        "c": array([], {"enum": {"members": {"false": 0, "true": 1}}}, value=True)}})
good("compounds", """ndarrays:
  v:
    shape: [50]
    type:
      compound:
        - x: float32
        - array: {array: {base: int8, shape: [2]}}
        - pad: {opaque: {size: 3}}
        - inner: {compound: [{a: int8}]}
""", root={"ndarrays": {"v": array([50], {"compound": [
    {"x": "float32"}, {"array": {"array": {"base": "int8", "shape": [2]}}}, {"pad": {"opaque": {"size": 3}}},
    {"inner": {"compound": [{"a": "int8"}]}}]})}})
bad("bad-datatype", one("double"), "NDL040")
bad("bad-datatype-form", one("opaque"), "NDL041")
bad("bad-datatype-keys", one("{opaque: {size: 1}, vlen: {base: int8}}"), "NDL041")
bad("bad-opaque", one("{opaque: {size: 0}}"), "NDL042")
bad("bad-enum-members", one("{enum: {members: {a: x}}}"), "NDL043")
bad("bad-enum-twice", one("{enum: {members: {a: 1, b: 1}}}"), "NDL044")
bad("bad-enum-range", one("{enum: {base: int8, members: {a: 128}}}"), "NDL045")
bad("bad-enum-base", one("{enum: {base: float32, members: {a: 1}}}"), "NDL046")
bad("bad-selection", one("{regref: {selection: all}}"), "NDL047")
bad("bad-compound", one("{compound: {x: int8}}"), "NDL048")
bad("bad-compound-member", one("{compound: [{x: int8, y: int8}]}"), "NDL048")
bad("bad-compound-twice", one("{compound: [{x: int8}, {x: int8}]}"), "NDL049")
bad("bad-datatype-size", one("{array: {base: int64, shape: [4294967296, 4294967295]}}"), "NDL050")

# Section 6.
good("shapes", "ndarrays:\n  a: {shape: [0, 3], type: int8}\n  b: {shape: [null, 20], type: int8}\n"
     "  c:\n    shape:\n      - 10\n      - \"10\"\n    type: int8\ndimcoords: {10: {size: null, type: int8}}\n",
     root={"dimcoords": {"10": array([None], "int8")},
           "ndarrays": {"a": array([0, 3], "int8"), "b": array([None, 20], "int8"), "c": array([10, "10"], "int8")}})
good("references", "/:\n  dimcoords: {t: {size: 5, type: int8}, x: {size: 6, type: int8}}\n"
     "/a/b:\n  dimcoords: {t: {size: 7, type: int8}}\n  ndarrays:\n"
     "    z: {shape: [t], type: int8, value: [1, 2, 3, 4, 5, 6, 7]}\n"
     "    y: {shape: [x], type: int8, value: [1, 2, 3, 4, 5, 6]}\n"
     "    w: {shape: [/t], type: int8, value: [1, 2, 3, 4, 5]}\n",
     root={"dimcoords": {"t": array([5], "int8"), "x": array([6], "int8")}},
     a__b={"dimcoords": {"t": array([7], "int8")}, "ndarrays": {
         "z": array(["t"], "int8", value=[1, 2, 3, 4, 5, 6, 7]), "y": array(["x"], "int8", value=[1, 2, 3, 4, 5, 6]),
         "w": array(["/t"], "int8", value=[1, 2, 3, 4, 5])}})
bad("bad-extent", one(shape="[-1]"), "NDL060")
bad("bad-extent-kind", "attributes: {a: {shape: [null], type: int8, value: [1]}}\n", "NDL061")
bad("bad-reference", one(shape="[a/b]"), "NDL062")
bad("bad-unresolved", one(shape="[t]"), "NDL063")
bad("bad-size", "dimcoords: {t: {size: 0, type: int8}}\n", "NDL064")
bad("bad-shape-size", one(shape="[4294967296, 4294967296]"), "NDL065")

# Section 7.
good("values", "ndarrays:\n  a: {shape: [2, 3], type: float32, value: [[1, 2.5, .nan], [-1, 0, .inf]]}\n"
     "  b: {shape: [null], type: int8, value: [1, 2], storage: {shape: [2]}}\n"
     "  c: {shape: [null, 2], type: int8, value: [[1, 2], [3, 4], [5, 6]]}\n"
     "  d: {shape: [], type: string, value: no}\n",
     root={"ndarrays": {"a": array([2, 3], "float32", value=[[1, 2.5, "nan"], [-1, 0, "inf"]]),
                        "b": array([None], "int8", value=[1, 2], storage={"shape": [2]}),
                        "c": array([None, 2], "int8", value=[[1, 2], [3, 4], [5, 6]]),
                        "d": array([], "string", value="no")}})
good("object-references", "/a:\n  ndarrays:\n    z: {shape: [3, 4], type: int8}\n    o: {shape: [], type: objref, value: /a}\n"
     "    r: {shape: [], type: {regref: {selection: block}}, value: {target: /a/z, start: [0, 1], opposite: [2, 3]}}\n",
     a={"ndarrays": {"z": array([3, 4], "int8"), "o": array([], "objref", value="/a"),
                     "r": array([], {"regref": {"selection": "block"}},
                                value={"target": "/a/z", "start": [0, 1], "opposite": [2, 3]})}})
bad("bad-value-shape", one(more="    value: [1, 2, 3]\n"), "NDL070")
bad("bad-value-depth", one(more="    value: 1\n"), "NDL070")
bad("bad-value-type", one(more="    value: [1, 2.0]\n"), "NDL071")
bad("bad-value-range", one(more="    value: [1, 128]\n"), "NDL072")
bad("bad-value-infinite", one("float32", more="    value: [1, 1e39]\n"), "NDL072")
bad("bad-enum-value", one("{enum: {members: {a: 1}}}", "[]", "    value: b\n"), "NDL073")
bad("bad-target", one("objref", "[]", "    value: /x\n"), "NDL074")
bad("bad-region", "ndarrays:\n  z: {shape: [3], type: int8}\n  r: {shape: [], type: {regref: {selection: block}}, "
    "value: {target: /z, start: [0], opposite: [3]}}\n", "NDL075")

# Section 8.
good("storage", "ndarrays:\n  a:\n    shape: [10, null]\n    type: float32\n    storage: {shape: [10, 5], chunk: [5, 5], "
     "filter: [shuffle, {deflate: {level: 9}}], endian: big, fillvalue: -999.0, order: row}\n"
     "dimcoords: {t: {size: null, type: string, storage: {size: 5, charset: ascii}}}\n",
     root={"dimcoords": {"t": array([None], "string", storage={"shape": [5], "charset": "ascii"})},
           "ndarrays": {"a": array([10, None], "float32", storage={
               "shape": [10, 5], "chunk": [5, 5], "filter": ["shuffle", {"deflate": {"level": 9}}], "endian": "big",
               "fillvalue": -999.0, "order": "row"})}})
good("storage-warnings", one(more="    storage: {size: 2, colour: red}\n"), ["NDL082", "NDL083"],
     root={"ndarrays": {"z": array([2], "int8", storage={"size": 2, "colour": "red"})}})
good("storage-chunk-bound", one(more="    storage: {chunk: [3]}\n"), ["NDL081"],
     root={"ndarrays": {"z": array([2], "int8", storage={"chunk": [3]})}})
bad("bad-storage-rank", one(more="    storage: {shape: [2, 2]}\n"), "NDL080")
bad("bad-storage-bound", one(more="    storage: {shape: [3]}\n"), "NDL081")
bad("bad-endian", one(more="    storage: {endian: middle}\n"), "NDL084")
bad("bad-order", one(more="    storage: {order: c}\n"), "NDL085")
bad("bad-fillvalue", one(more="    storage: {fillvalue: 1000}\n"), "NDL086")
bad("bad-filter", one(more="    storage: {filter: lz4}\n"), "NDL087")
