"""`extract`, `diff`, `convert`, `refs`, `describe` and `Array.statistics` give what the command gives."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

import ra_pack
import rawarray
from files import EXPERIMENT

COMMAND = [sys.executable, "-m", "ra_pack"]


def told(*words, status=0):
    """Returns the JSON that the command prints."""
    done = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def printed(*words):
    """Returns what the command prints."""
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    path = tmp_path_factory.mktemp("functions") / "exp.zip"
    ra_pack.create(EXPERIMENT, path)
    return path


@pytest.fixture
def experiment(tmp_path):
    return shutil.copytree(EXPERIMENT, tmp_path / "experiment")


def fields(report, **changes):
    """Returns the fields of a report as JSON has them."""
    return {**vars(report), **changes}


def test_extract_unpacks_as_the_command_does(archive, tmp_path):
    report = ra_pack.extract(archive, tmp_path / "all")
    assert report and report.findings == [] and report.verified == report.files - 1
    assert ra_pack.diff(archive, tmp_path / "all")
    command = told("extract", "--json", archive, "-C", tmp_path / "other")
    assert fields(report, output=str(tmp_path / "other")) == command
    with pytest.raises(ra_pack.AlreadyExists, match="`force=`"):
        ra_pack.extract(archive, tmp_path / "all")
    assert ra_pack.extract(archive, tmp_path / "all", force=True, jobs=1).files == report.files


def test_extract_unpacks_an_array_with_its_description(archive, tmp_path, monkeypatch):
    ra_pack.extract(archive, tmp_path / "one", patterns=["thermistors/depth"])
    assert {path.name for path in (tmp_path / "one/thermistors").iterdir()} == {"depth.ra", "depth.yaml"}
    monkeypatch.chdir(tmp_path)
    assert ra_pack.extract(archive, patterns=["currents/*"]).output == "exp"
    with pytest.raises(ra_pack.NotFound, match="no member of `.*exp.zip` matches `none\\*`"):
        ra_pack.extract(archive, tmp_path / "two", patterns=["none*"])
    with pytest.raises(ra_pack.TooLarge, match="`max_size=`"):
        ra_pack.extract(archive, tmp_path / "two", max_size=1000)
    with pytest.raises(TypeError, match="a list of texts"):
        ra_pack.extract(archive, tmp_path / "two", patterns="currents")
    with pytest.raises(ra_pack.InvalidOption):
        ra_pack.extract(archive, tmp_path / "two", patterns=["[a"])


def test_extract_reports_damage(archive, tmp_path):
    content = bytearray(archive.read_bytes())
    content[content.index(ra_pack.open(archive)["time"].read().tobytes())] ^= 1
    (tmp_path / "bad.zip").write_bytes(content)
    report = ra_pack.extract(tmp_path / "bad.zip", tmp_path / "out")
    assert not report and {finding.member for finding in report.findings} == {"time.ra"}
    assert not (tmp_path / "out/time.ra").exists() and (tmp_path / "out/time.yaml").exists()


def test_diff_compares_packs_as_the_command_does(archive, experiment):
    assert ra_pack.diff(archive, experiment).equal
    temperature = ra_pack.open(archive)["thermistors/temperature"].read()
    temperature[3, 4] += 0.5
    (experiment / "thermistors/temperature.ra").write_bytes(rawarray.bytes_of(temperature))
    (experiment / "more.txt").write_text("more")
    report = ra_pack.diff(archive, experiment)
    assert isinstance(report, ra_pack.PackDiff) and not report and not report.equal
    assert fields(report, text=None) == {**told("diff", "--json", archive, experiment, status=1), "text": None}
    lines = printed("diff", archive, experiment).replace("--verify", "`read_all=True`")
    assert str(report) == lines.rstrip() and "more.txt" in lines
    changes = {member["name"]: member["change"] for member in report.members}
    assert changes == {"more.txt": "added", "thermistors/temperature.ra": "changed"}
    assert ra_pack.diff(archive, experiment, patterns=["thermistors/*"], tolerance=1.0)
    assert ra_pack.diff(archive, experiment, patterns=["currents/*"], read_all=True, generated=True, jobs=1)
    report = ra_pack.diff(archive, experiment, member="thermistors/temperature")
    assert isinstance(report, ra_pack.ArrayDiff) and not report and report.elements["first"]["index"] == [3, 4]
    words = "diff", "--json", archive, experiment, "--member", "thermistors/temperature"
    assert fields(report, text=None) == {**told(*words, status=1), "text": None}
    assert str(report) == printed(words[0], *words[2:]).rstrip()


def test_diff_compares_arrays(tmp_path):
    for name, array in {"a": [1.0, 2.0], "b": [1.0, 2.5], "c": [1.0, np.inf], "d": [[1.0]]}.items():
        rawarray.write(tmp_path, name, np.array(array))
    a, b, c, d = (tmp_path / f"{name}.ra" for name in "abcd")
    assert ra_pack.diff(a, a) and ra_pack.diff(a, b, relative=0.5)
    assert ra_pack.diff(a, c).elements["distance"]["max"] == np.inf
    assert ra_pack.diff(a, d).elements is None and not ra_pack.diff(a, d)
    with pytest.raises(ra_pack.InvalidOption, match="`read_all` .* for two packs"):
        ra_pack.diff(a, b, read_all=True)
    with pytest.raises(ra_pack.InvalidOption, match="`member` names one"):
        ra_pack.diff(a, tmp_path)
    for wrong in [-1, np.nan]:
        with pytest.raises(ra_pack.InvalidOption, match="`tolerance` must be at least 0"):
            ra_pack.diff(a, b, tolerance=wrong)
    (tmp_path / "text").write_text("text")
    with pytest.raises(ra_pack.Error, match="text"):
        ra_pack.diff(a, tmp_path / "text")


def test_diff_is_false_if_a_pack_is_damaged(archive, tmp_path):
    content = bytearray(archive.read_bytes())
    content[content.index(ra_pack.open(archive)["time"].read().tobytes())] ^= 1
    (tmp_path / "bad.zip").write_bytes(content)
    report = ra_pack.diff(archive, tmp_path / "bad.zip", read_all=True)
    assert not report and isinstance(report.b["findings"][0], ra_pack.Finding)
    with pytest.raises(ra_pack.NotFound, match="no member of `.*` or `.*` matches `none`"):
        ra_pack.diff(archive, archive, patterns=["none"])


def test_convert_converts_as_the_command_does(tmp_path):
    np.savez(tmp_path / "run.npz", counts=np.arange(6).reshape(2, 3), time=np.arange(3.0))
    report = ra_pack.convert(tmp_path / "run.npz", tmp_path / "run.zip", dimcoords=True)
    assert report and (report.from_, report.to, len(report.arrays)) == ("npz", "zip", 2)
    command = told("convert", "--json", "--dimcoords", tmp_path / "run.npz", tmp_path / "other.zip")
    assert fields(report, output=str(tmp_path / "other.zip")) == {
        "copied": [], "failed": [], "from_": command.pop("from"), **command
    }  # fmt: skip
    pack = ra_pack.open(tmp_path / "run.zip")
    assert pack["counts"].dims == ("dim_0", "time") and pack["counts"][1, 2] == 5
    np.save(tmp_path / "one.npy", np.arange(4, dtype=">i4"))
    ra_pack.convert([tmp_path / "one.npy", tmp_path / "run.npz"], tmp_path / "both", order="row", keep_endian=True)
    assert ra_pack.open(tmp_path / "both")["one"].dtype == np.dtype(">i4")
    ra_pack.convert(tmp_path / "run.zip", tmp_path / "counts.npy", member="counts")
    assert np.load(tmp_path / "counts.npy").tolist() == [[0, 1, 2], [3, 4, 5]]


def test_convert_speaks_in_parameters(tmp_path):
    np.savez(tmp_path / "run.npz", a=np.arange(3), b=np.arange(4))
    for options, message in [
        ({}, "`member=NAME`"),
        ({"member": "a", "masks": True}, "remove `masks=`"),
        ({"to": "xls"}, "`to=`: expected `ra` or `npy`"),
        ({"order": "row-unreversed"}, "`column` or `row`"),
        ({"reinterpret": "int"}, "`bfloat16` or `void`"),
        ({"member": "a", "compression": "lzma"}, "lzma"),
    ]:
        with pytest.raises(ra_pack.InvalidOption, match=message) as raised:
            ra_pack.convert(tmp_path / "run.npz", tmp_path / "new.npy", **options)
        assert "--" not in str(raised.value)
    data = tmp_path / "data"
    rawarray.write(data, "x", np.arange(3))
    (data / "x.ra").write_bytes((data / "x.ra").read_bytes() + b"trailing")
    np.save(data / "bad.npy", np.zeros(2, "V3"))
    report = ra_pack.convert(data / "x.ra", tmp_path / "x.npy")
    assert report.arrays[0]["losses"] == ["8 bytes after its elements are lost; save them with `keep_metadata=FILE`"]
    (data / "bad.npy").write_bytes(b"\x93NUMPY damaged")
    report = ra_pack.convert(data, tmp_path / "out")
    assert not report and [failed["name"] for failed in report.failed] == ["bad.npy"]


def test_refs_are_those_of_the_command(archive):
    found = ra_pack.refs(archive)
    done = subprocess.run([*COMMAND, "refs", archive], capture_output=True, check=True)
    assert found == json.loads(done.stdout)
    url = "https://example.org/exp.zip"
    assert ra_pack.refs(archive, url, jobs=1)["refs"]["time/0"][0] == url


def test_refs_warn_of_what_they_leave_out(tmp_path):
    path = tmp_path / "packed.zip"
    with ra_pack.PackWriter(path, compression="deflate") as writer:
        writer.add("x", np.zeros(1000))
    with pytest.raises(ra_pack.Unsupported) as raised:
        ra_pack.refs(path)
    assert "--" not in str(raised.value)
    with ra_pack.PackWriter(tmp_path / "half.zip", compression="deflate") as writer:
        writer.add("kept", np.random.default_rng(0).integers(0, 256, 1000, "u1"))
        writer.add("left", np.zeros(1000))
    with pytest.raises(ra_pack.Unsupported, match="`skip=` leaves it out"):
        ra_pack.refs(tmp_path / "half.zip")
    with pytest.warns(UserWarning, match="`left.*is left out"):
        found = ra_pack.refs(tmp_path / "half.zip", skip=True)
    assert "kept/.zarray" in found["refs"]


def test_describe_returns_text(archive, experiment, tmp_path):
    def shown(*words):
        return subprocess.run([*COMMAND, "describe", *words], capture_output=True, text=True, check=True).stdout

    assert ra_pack.describe(archive) == shown(archive)
    assert ra_pack.describe(experiment, template=True, jobs=1) == shown("--template", experiment)
    rawarray.write(tmp_path, "bare", np.zeros(3))
    assert "float64" in ra_pack.describe(tmp_path / "bare.ra")


def test_describe_writes_and_edits(tmp_path):
    bare = tmp_path / "bare"
    for name, array in {"depth": np.arange(2.0), "t": np.zeros((2, 3), "f4"), "image": np.zeros((4, 5), "c8")}.items():
        bare.mkdir(exist_ok=True)
        (bare / f"{name}.ra").write_bytes(rawarray.bytes_of(array))
    report = ra_pack.describe(bare, write=True, dry_run=True)
    assert report and sorted(report.written) == ["depth.yaml", "image.yaml", "t.yaml"]
    assert not list(bare.glob("*.yaml"))
    assert fields(report) == {**told("describe", "--write", "--dry-run", "--json", bare), "changes": [], "unchanged": 0}
    ra_pack.describe(bare, write=True)
    edits = {"set": {"t.units": "K", "title": "Mooring", "t.offsets": [1.5, 2.5]}, "dims": {"t": ["depth", "time"]}}
    report = ra_pack.describe(bare, **edits)
    assert report and {change["key"] for change in report.changes} > {"attributes.units", "attributes.title"}
    ra_pack.describe(bare, dims="bart")
    pack = ra_pack.open(bare)
    assert pack.attrs["title"] == "Mooring" and pack["t"].dims == ("depth", "time")
    assert pack["t"].attrs == {"units": "K", "offsets": [1.5, 2.5]} and pack["image"].dims == ("read", "phs1")
    assert ra_pack.describe(bare, set={"t.units": None}).changes[0]["from"] == "K"
    assert ra_pack.describe(bare / "t.ra", dims=["a", "b"], set={"units": "m"})
    table = tmp_path / "table.csv"
    table.write_text("name,units\nimage,T\n")
    assert ra_pack.describe(bare, apply=table)
    assert ra_pack.open(bare)["image"].attrs == {"units": "T"}
    rawarray.write(bare, "more", np.zeros(3))
    (bare / "more.ra").write_bytes(rawarray.bytes_of(np.zeros(4)))
    report = ra_pack.describe(bare / "more.ra", update=True)
    assert report and [(change["key"], change["from"]) for change in report.changes] == [("shape", "3")]


def test_describe_edits_archives(archive, tmp_path):
    path = tmp_path / "exp.zip"
    shutil.copy(archive, path)
    report = ra_pack.describe(path, set={"title": "Another"})
    assert report and ra_pack.open(path).attrs["title"] == "Another" and ra_pack.verify(path)


def test_describe_refuses_what_is_not_possible(experiment):
    for options, error in [
        ({"write": True, "template": True}, ra_pack.InvalidOption),
        ({"update": True, "set": {}}, ra_pack.InvalidOption),
        ({"dims": {"time": "time"}}, ra_pack.InvalidOption),
        ({"set": {"none.units": "K"}}, ra_pack.NotFound),
        ({"dims": {"time": ["a", "b", "c"]}}, ra_pack.Mismatch),
        ({"apply": "none.csv"}, FileNotFoundError),
        ({"set": {"time.units": object()}}, ra_pack.Unsupported),
    ]:
        with pytest.raises(error) as raised:
            ra_pack.describe(experiment, **options)
        assert "--" not in str(raised.value)


@pytest.mark.parametrize(
    "name", ["thermistors/temperature", "thermistors/counts", "thermistors/quality", "currents/spectrum", "sea_floor_depth"]
)
def test_statistics_are_those_of_the_command(archive, name):
    array = ra_pack.open(archive)[name]
    assert array.statistics() == told("show", archive, name, "--stats", "--json")["statistics"]
    assert "histogram" not in array.statistics(bins=None)
    raw = told("show", archive, name, "--stats", "--json", "--raw")["statistics"]
    assert array.statistics(raw=True, jobs=1) == raw


def test_statistics_are_checked(archive, tmp_path):
    content = bytearray(archive.read_bytes())
    content[content.index(ra_pack.open(archive)["time"].read().tobytes())] ^= 1
    (tmp_path / "bad.zip").write_bytes(content)
    with pytest.raises(ra_pack.Damaged):
        ra_pack.open(tmp_path / "bad.zip")["time"].statistics()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("thermistors/temperature", {}, []),
        ("thermistors/depth", {"title": "Depths", "log": True}, ["--title", "Depths", "--log"]),
        ("thermistors/counts", {"transpose": True}, ["--transpose"]),
        ("currents/velocity", {"slice": "0,:,:"}, ["--slice", "0,:,:"]),
        ("currents/spectrum", {}, []),
        ("currents/spectrum", {"part": "phase"}, ["--part", "phase"]),
        ("thermistors/quality", {"raw": True}, ["--raw"]),
        ("thermistors/temperature", {"cmap": "magma", "range": (8, 12.5)}, ["--cmap", "magma", "--range", "8:12.5"]),
        ("thermistors/temperature", {"range": "2%:98%", "size": (400, 300), "jobs": 1}, ["--range", "2%:98%", "--size", "400x300"]),
        ("thermistors/temperature", {"line": True, "slice": "::4,:"}, ["--line", "--slice", "::4,:"]),
        ("thermistors/temperature", {"scale": 2}, ["--scale", "2"]),
    ],
)
def test_plots_are_those_of_the_command(archive, tmp_path, name, options, words):
    subprocess.run([*COMMAND, "plot", archive, name, "-o", tmp_path / "plot.svg", "-q", *words], check=True)
    picture = ra_pack.open(archive)[name].plot(**options)
    assert picture.svg == picture._repr_svg_() == (tmp_path / "plot.svg").read_text()
    subprocess.run([*COMMAND, "plot", archive, name, "-o", tmp_path / "plot.png", "-q", *words], check=True)
    assert picture.png() == (tmp_path / "plot.png").read_bytes()


def test_plots_are_saved(archive, tmp_path):
    picture = ra_pack.open(archive)["thermistors/depth"].plot()
    for name, content in [("a.png", picture.png()), ("a.SVG", picture.svg.encode())]:
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == content
        with pytest.raises(FileExistsError):
            picture.save(tmp_path / name)
        picture.save(tmp_path / name, force=True)
    with pytest.raises(ra_pack.InvalidOption, match=r"\.png or \.svg, found `.*a\.pdf`"):
        picture.save(tmp_path / "a.pdf")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cmap": "jet"}, "`cmap=`: expected `viridis` or `cividis`.*found `jet`"),
        ({"part": "real"}, "`part=`: expected `magnitude` or `phase`"),
        ({"range": (2, 1)}, "`range=`: expected two numbers, the smaller first"),
        ({"range": (-1, 1), "log": True}, "`log=` needs a `range=` above 0"),
        ({"size": (10, 10)}, "`size=`: expected a width and a height"),
        ({"scale": 0}, "`scale=`: expected a number from 0.25 to 20"),
        ({"size": (9000, 9000), "scale": 2}, "10000 pixels; give a smaller `size=` or `scale=`"),
    ],
)
def test_options_of_plots_are_checked(archive, options, words):
    with pytest.raises(ra_pack.InvalidOption, match=words):
        ra_pack.open(archive)["currents/velocity"].plot("0,:,:", **options)


def test_plots_are_refused_with_parameters(archive):
    pack = ra_pack.open(archive)
    with pytest.raises(ra_pack.InvalidOption, match='`slice="0,:,:"`'):
        pack["currents/velocity"].plot()
    with pytest.raises(ra_pack.Unsupported, match="no picture"):
        pack["sea_floor_depth"].plot()
    whole = pack["time"]
    whole.plot()
    assert whole.verified


def test_hints_name_parameters(experiment):
    (experiment / "thermistors/depth.yaml").unlink()
    with pytest.raises(ra_pack.Refused) as raised:
        ra_pack.create(experiment, experiment.with_name("new.zip"))
    hints = [finding.hint for finding in raised.value.findings]
    assert hints == ["write descriptions from the headers: `describe` with `write=`"]
    (hint,) = (finding.hint for finding in ra_pack.verify(EXPERIMENT).findings if finding.code == "MAN001")
    assert "verify" not in hint


def test_the_command_finds_the_viewer_of_its_package(archive, tmp_path):
    """Wheels have the viewer, as a file that pip installs outside of the module; this program lists one such file."""
    (tmp_path / "viewer.html").write_text("before<!-- pack -->after")
    program = """
import pathlib, sys
import ra_pack.__main__ as command
class File:
    name = "viewer.html"
    def locate(self):
        return pathlib.Path(sys.argv[-1]).with_name(self.name)
command.files = lambda name: [File()] if name == "ra-pack" else None
sys.exit(command.main())
"""
    words = ["report", "--viewer", "-q", archive, "-o", tmp_path / "page.html"]
    subprocess.run([sys.executable, "-c", program, *words], check=True)
    page = (tmp_path / "page.html").read_text()
    assert page.startswith('before<script type="text/plain" id="pack"') and page.endswith("</script>after")


def test_a_signature_is_required_if_a_key_is_given(tmp_path):
    pack = tmp_path / "exp.zip"
    ra_pack.create(EXPERIMENT, pack)
    key = tmp_path / "lab.pub"
    key.write_text("untrusted comment: a key\nRWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n")
    report = ra_pack.verify(pack, minisign_key=key)
    assert not report and [finding.code for finding in report.findings] == ["SIG003"]
    (tmp_path / "exp.zip.manifest-sha256.txt.minisig").write_text("garbage")
    report = ra_pack.verify(pack, minisign_key=key.read_text().split()[-1])
    assert [finding.code for finding in report.findings] == ["SIG001"]
    assert [signature["state"] for signature in report.signatures] == ["bad"]
    assert ra_pack.verify(pack).signatures[0]["state"] == "not_checked"
    with pytest.raises(ra_pack.InvalidOption, match="is not a public key of minisign"):
        ra_pack.verify(pack, minisign_key=pack)
