"""The metadata of packages: what the conda recipe repeats is what `pyproject.toml` says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "packaging" / "conda" / "recipe.yaml"
PROJECT = (ROOT / "python" / "pyproject.toml").read_text()


def stated(name: str) -> str:
    return re.search(rf"^{name} = (.+?)(?: #.*)?$", PROJECT, re.MULTILINE)[1]


def test_the_conda_recipe_says_what_the_project_says():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load(RECIPE.read_text())
    version = re.search(r'^version = "(.+)"$', (ROOT / "python" / "Cargo.toml").read_text(), re.MULTILINE)[1]
    assert recipe["context"]["version"] == version
    about = recipe["about"]
    assert f'"{about["license"]}"' == stated("license")
    assert f'"{about["summary"]}"' == stated("description")
    run = [one.replace(" ", "") for one in recipe["requirements"]["run"] if one != "python"]
    assert str(run).replace("'", '"') == stated("dependencies")
    maturin = [one.replace(" ", "") for one in recipe["requirements"]["host"] if one.startswith("maturin")]
    assert str(maturin).replace("'", '"') == stated("requires")
    for test in recipe["tests"]:
        for path in test.get("files", {}).get("source", []):
            assert (RECIPE.parent / recipe["source"]["path"] / path).exists()
    for path in about["license_file"]:
        assert (ROOT / path).is_file()


def test_a_wheel_has_the_licences_and_the_page():
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "DejaVuSans.LICENSE"):
        assert (ROOT / "python" / name).read_text().strip()
    assert (ROOT / "python" / stated("readme").strip('"')).is_file()
