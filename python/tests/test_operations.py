"""`create`, `verify`, errors and the command."""

import dataclasses
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import ra_pack
import rawarray

COMMAND = [sys.executable, "-m", "ra_pack"]


@pytest.fixture
def source(tmp_path):
    directory = tmp_path / "source"
    rawarray.write(directory, "run1/x", np.arange(12, dtype="<f4").reshape(3, 4))
    rawarray.write(directory, "y", np.arange(5, dtype="<i8"))
    return directory


def test_create_packs_a_directory_and_reports(source, tmp_path):
    report = ra_pack.create(source, str(tmp_path / "pack.zip"), attrs={"title": "T"}, compression="zstd:3", jobs=1)
    assert (report.container, report.layout, report.arrays, report.findings) == ("zip", "plain", 2, [])
    assert report.archive_bytes == (tmp_path / "pack.zip").stat().st_size
    pack = ra_pack.open(tmp_path / "pack.zip")
    assert pack.attrs == {"title": "T"} and pack["run1/x"][2, 3] == 11


def test_create_refuses_a_source_with_all_its_problems(source, tmp_path):
    (source / "y.yaml").write_text("ndarrays:\n  y: {shape: [6], type: int64}\n")
    (source / "run1/x.yaml").write_text("ndarrays:\n  x: {shape: [3, 4], type: floot32}\n")
    with pytest.raises(ra_pack.Refused, match="2 errors") as raised:
        ra_pack.create(source, tmp_path / "pack.zip")
    first, second = raised.value.findings
    assert (first.member, first.severity, first.line, first.column) == ("run1/x.yaml", "error", 2, 28)
    assert second.member == "y.yaml" and second.expected and second.found
    assert str(first) in str(raised.value) and first.code in str(first)
    assert not (tmp_path / "pack.zip").exists()


def test_create_has_the_options_of_the_directory(source, tmp_path):
    (source / "bare.ra").write_bytes(rawarray.bytes_of(np.zeros(3)))
    (source / "left.tmp").write_bytes(b"")
    with pytest.raises(ra_pack.Refused):
        ra_pack.create(source, tmp_path / "pack.zip", exclude=["*.tmp"])
    report = ra_pack.create(source, tmp_path / "pack.zip", exclude=["*.tmp"], describe=True)
    assert report.described == ["bare.yaml"] and report.arrays == 3
    with pytest.raises(ra_pack.Unsupported):
        ra_pack.create(source, tmp_path / "other.zip", exclude=["[a"])


def test_a_bag_follows_the_profile_of_a_repository(source, tmp_path):
    profile = pathlib.Path(__file__).parents[2] / "examples/profiles/moorings.json"
    bag = tmp_path / "bag.zip"
    with pytest.raises(ra_pack.Refused) as raised:
        ra_pack.create(source, bag, layout="bagit", profile=profile)
    assert {finding.code for finding in raised.value.findings if finding.severity == "error"} == {"PROF003", "PROF004"}
    hints = "\n".join(finding.hint or "" for finding in raised.value.findings)
    assert '`create` with `bag_info={"Contact-Email": VALUE}`' in hints
    assert '`create` with `digests=["sha256", "sha512"]`' in hints
    info = {"Contact-Email": "a@example.org", "Keyword": ["one", "two"]}
    ra_pack.create(source, bag, layout="bagit", profile=profile, digests=["sha256", "sha512"], bag_info=info)
    report = ra_pack.validate(bag, profile=profile)
    assert report and report.profile == "https://example.org/profile.json"
    assert (report.container, report.arrays, report.findings) == ("zip", 2, [])
    ra_pack.extract(bag, tmp_path / "unpacked")
    text = (tmp_path / "unpacked/bag/bag-info.txt").read_text()
    assert "Keyword: one\nKeyword: two\n" in text
    assert not ra_pack.validate(bag, metadata=True, strict=True)
    with pytest.raises(ra_pack.WrongTarget):
        ra_pack.validate(source, profile=profile)


def test_uploads_follow_the_rules_of_repositories(source, tmp_path):
    ra_pack.create(source, tmp_path / "pack.zip")
    report = ra_pack.validate(tmp_path / "pack.zip", repositories=["zenodo", "dataverse"])
    assert report and [finding.code for finding in report.findings] == ["REPO003"]
    with pytest.raises(ra_pack.InvalidOption, match="found `foo`"):
        ra_pack.validate(source, repositories=["foo"])


def test_create_adds_an_ro_crate_from_the_attributes(source, tmp_path):
    with pytest.raises(ra_pack.Refused, match="4 errors") as raised:
        ra_pack.create(source, tmp_path / "pack.zip", ro_crate=True)
    assert 'attrs={"title": "A few words"}' in raised.value.findings[0].hint
    attrs = {"title": "T", "summary": "S", "license": "MIT", "date_issued": "2024-05-31"}
    ra_pack.create(source, tmp_path / "pack.zip", attrs=attrs, ro_crate=True)
    report = ra_pack.verify(tmp_path / "pack.zip")
    assert report and report.ro_crate == "ro-crate-metadata.json"


def test_attributes_follow_the_rules_of_conventions(source):
    report = ra_pack.validate(source, conventions=["cf"])
    assert not report and "CONV001" in [finding.code for finding in report.findings]
    report = ra_pack.validate(source, conventions=["acdd"])
    assert report and "CONV002" in [finding.code for finding in report.findings]
    with pytest.raises(ra_pack.InvalidOption, match="expected the convention cf, acdd, found `foo`"):
        ra_pack.validate(source, conventions=["foo"])


def test_verify_reports_every_problem_as_the_command_does(source, tmp_path):
    path = tmp_path / "pack.zip"
    ra_pack.create(source, path)
    report = ra_pack.verify(path)
    assert report.valid and report and report.findings == [] and report.contents_read
    assert (report.verdict, report.archive_bytes) == ("valid", path.stat().st_size)
    assert report.intact == {"files": 6, "arrays": 2, "bytes": report.bytes}
    content = bytearray(path.read_bytes())
    for array in [np.arange(12, dtype="<f4").reshape(3, 4), np.arange(5, dtype="<i8")]:
        content[content.index(array.tobytes("F"))] ^= 1
    path.write_bytes(content)
    report = ra_pack.verify(path)
    assert not report.valid and not report
    errors = [finding for finding in report.findings if finding.severity == "error"]
    assert {finding.member for finding in errors} == {"run1/x.ra", "y.ra"}
    done = subprocess.run([*COMMAND, "verify", "--json", path], capture_output=True)
    assert done.returncode == 1
    told = json.loads(done.stdout)
    told = told if isinstance(told, list) else told.get("targets", [told])
    assert [one["message"] for one in told[0]["findings"]] == [one.message for one in report.findings]
    # The reports have every field of the library's.
    fields = {field.name for field in dataclasses.fields(report)}
    assert set(told[0]) - fields <= {"valid", "errors", "warnings"}
    assert ra_pack.verify(path, fast=True).contents_read is False


def test_verify_needs_a_manifest(source):
    report = ra_pack.verify(source)
    assert not report.valid and report.findings[-1].hint


def test_damaged_archives_are_errors_with_findings(source, tmp_path):
    path = tmp_path / "pack.zip"
    ra_pack.create(source, path)
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        try:
            pack = ra_pack.open(path)
            for array in pack.values():
                array.read()
        except (ra_pack.Damaged, ra_pack.NotAPack):
            pass
        else:
            pytest.fail(f"the first {length} bytes are read as a pack")


def test_errors_are_also_those_of_python(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        ra_pack.open(tmp_path / "none.zip")
    error = raised.value
    assert isinstance(error, ra_pack.Error) and error.errno == 2 and error.filename == str(tmp_path / "none.zip")
    assert "none.zip" in str(error) and error.findings == []
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ra_pack.NotAPack, match="text"):
        ra_pack.open(tmp_path / "text")
    if os.geteuid() != 0:
        (tmp_path / "secret").touch(0)
        with pytest.raises(PermissionError):
            ra_pack.open(tmp_path / "secret")
    with pytest.raises(TypeError):
        ra_pack.open(3)
    assert issubclass(ra_pack.NotFound, KeyError) and issubclass(ra_pack.Mismatch, ValueError)


def test_the_command_has_its_exit_statuses_and_arguments(source, tmp_path):
    def run(*words, **options):
        return subprocess.run([*COMMAND, *words], capture_output=True, text=True, cwd=tmp_path, **options)

    done = run("create", "source", "-o", "pack.zip")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert run("verify", "-q", "pack.zip").returncode == 0
    assert run("get", "pack.zip", "y", "--format", "csv").returncode == 0
    assert "ra-pack create" in run("create", "--help").stdout
    assert run("-V").stdout == f"ra-pack {ra_pack.__version__}\n"
    assert run("verify", "none.zip").returncode == 2
    done = run("creat")
    assert done.returncode == 2 and "create" in done.stderr
    pack = tmp_path / "pack.zip"
    content = pack.read_bytes()
    pack.write_bytes(content.replace(np.arange(5, dtype="<i8").tobytes(), bytes(40)))
    assert run("verify", "pack.zip").returncode == 1


def test_the_command_is_quiet_about_a_closed_pipe(source):
    command = " ".join(COMMAND)
    done = subprocess.run(["bash", "-o", "pipefail", "-c", f"{command} man | head -n 1"], capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_command_is_installed():
    script = pathlib.Path(sys.executable).with_name("ra-pack")
    if not script.exists():
        pytest.skip("the module is not installed in this environment")
    assert subprocess.run([script, "--version"], capture_output=True, text=True).stdout.startswith("ra-pack ")
    versions = json.loads(subprocess.run([script, "--version", "--json"], capture_output=True).stdout)
    assert (versions["program"], versions["ndl"]) == ("ra-pack", "0.6.1")


@pytest.mark.parametrize("file, at", [("ra-pack.xml", "mime/packages/ra-pack.xml"), ("ra-pack.magic", "file/magic/ra-pack")])
def test_the_type_of_arrays_is_installed(file, at):
    installed = pathlib.Path(sys.prefix, "share", at)
    if not pathlib.Path(sys.executable).with_name("ra-pack").exists():
        pytest.skip("the module is not installed in this environment")
    registry = pathlib.Path(__file__).parents[2] / "packaging" / "registry"
    assert installed.read_bytes() == (registry / file).read_bytes()
    listed = importlib.metadata.files("ra-pack") or []
    assert any(path.as_posix().endswith(f"share/{at}") for path in listed), "uninstalling removes it"
