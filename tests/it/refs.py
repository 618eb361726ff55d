"""Reads packs through references with programs that know Zarr, and compares every array with `ra-pack get`.

usage: refs.py RA_PACK PACK...
"""

import collections
import contextlib
import functools
import http.server
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import urllib.parse

import numpy as np
import virtualizarr
import xarray as xr
import zarr
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import HTTPStore, LocalStore

# Number of arrays that were compared.
COUNTS = collections.Counter()
RAW = dict(decode_cf=False, mask_and_scale=False)
# Arrays that VirtualiZarr cannot open: it writes the metadata of Zarr 3, which has no such types.
NOT_VIRTUAL = "SUV"


class RangeHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files with ranges of bytes, and counts the bytes."""

    served = 0
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = pathlib.Path(self.translate_path(self.path))
        if not path.is_file():
            return self.send_error(404)
        data = path.read_bytes()
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        total = len(data)
        if asked:
            first, last = int(asked[1]), int(asked[2] or total - 1)
            # A real server shortens such a range, and a reader would not notice.
            assert last < total, f"{self.path}: {last} is past the end {total}"
            data = data[first : last + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{total}")
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        type(self).served += len(data)
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(directory):
    """Serves a directory, and returns its address."""
    handler = functools.partial(RangeHandler, directory=directory)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def ra_pack(*arguments):
    ran = subprocess.run([RA_PACK, *map(str, arguments)], capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout


def expected(pack):
    """Returns every array of a pack as `get` writes it, with the last index fastest."""
    arrays = {}
    for member in json.loads(ra_pack("list", pack, "--arrays", "--json"))["members"]:
        array = np.load(io.BytesIO(ra_pack("get", pack, member["name"], "--format", "npy")))
        if array.dtype.kind in "mM":
            array = array.view("i8")
        is_column_major = member["array"]["order"] == "column"
        arrays[member["name"].removesuffix(".ra")] = array.T if is_column_major else array
    return arrays


def check(found, wanted, what):
    """Compares two arrays bit for bit. Only the byte order may differ."""
    found = np.asarray(found)
    native = wanted.dtype.newbyteorder("=")
    assert found.dtype.newbyteorder("=") == native, f"{what}: {found.dtype}, not {native}"
    assert found.shape == wanted.shape, f"{what}: {found.shape}, not {wanted.shape}"
    same = found.astype(native).tobytes() == wanted.astype(native).tobytes()
    assert same, f"{what}: {found} is not {wanted}"


def by_group(arrays):
    groups = {}
    for name, array in arrays.items():
        group, _, stem = name.rpartition("/")
        groups.setdefault(group, {})[stem] = array
    return groups


def check_dataset(dataset, arrays, what):
    for name, array in arrays.items():
        check(dataset[name].values, array, f"{what}: {name}")


def references(refs, remote):
    return dict(fo=str(refs), remote_options={"asynchronous": True} if remote else {})


def with_zarr(refs, remote, arrays):
    options = references(refs, remote)
    for consolidated in (True, False):
        root = zarr.open_group(
            "reference://", mode="r", storage_options=options, use_consolidated=consolidated
        )
        for name, array in arrays.items():
            check(root[name][...], array, f"zarr: {name}")
    one = zarr.open_array("reference://", path="large", mode="r", storage_options=options)
    check(one[7:9, ::3], arrays["large"][7:9, ::3], "zarr: a slice")


def with_xarray(refs, remote, arrays):
    backend = dict(consolidated=True, storage_options=references(refs, remote))
    tree = xr.open_datatree("reference://", engine="zarr", backend_kwargs=backend, **RAW)
    for group, inside in by_group(arrays).items():
        check_dataset(tree[f"/{group}"], inside, f"open_datatree: /{group}")
        dataset = xr.open_dataset(
            "reference://", engine="zarr", group=group, backend_kwargs=backend, **RAW
        )
        check_dataset(dataset, inside, f"open_dataset: /{group}")
    # This engine reads no consolidated metadata, without which zarr does not list the arrays of other groups.
    remote_options = backend["storage_options"]["remote_options"]
    dataset = xr.open_dataset(
        str(refs),
        engine="kerchunk",
        storage_options=dict(remote_options=remote_options),
        open_dataset_options=RAW,
    )
    check_dataset(dataset, by_group(arrays)[""], "kerchunk")
    # Coordinates of a group above are inherited.
    assert tree["/run1/temperature"].dims == ("time", "depth")
    assert "time" in tree["/run1"].coords
    return backend


def with_dask(backend, arrays):
    for group, inside in by_group(arrays).items():
        options = dict(engine="zarr", group=group, backend_kwargs=backend)
        lazy = xr.open_dataset("reference://", chunks={}, **options, **RAW)
        # Dask has no arrays without elements to compute.
        check_dataset(lazy.compute(scheduler="threads"), inside, f"dask: /{group}")
        if group == "":
            assert len(lazy["large"].chunks[0]) > 1, lazy["large"].chunks
            total = lazy["large"].sum().compute().item()
            assert total == int(inside["large"].sum())


def with_virtualizarr(refs, root, arrays):
    # It escapes addresses that are escaped already, so it reads none with such characters.
    chunks = json.loads(refs.read_text())["refs"].items()
    plain = re.compile(r"[\w:./-]+", re.ASCII)
    escaped = {
        key.rpartition("/")[0]
        for key, chunk in chunks
        if isinstance(chunk, list) and not plain.fullmatch(chunk[0])
    }
    registry = ObjectStoreRegistry({"file://": LocalStore()})
    if root:
        registry.register(root, HTTPStore.from_url(root, client_options={"allow_http": True}))
    for group, inside in by_group(arrays).items():
        prefix = f"{group}/" if group else ""
        skipped = [
            name
            for name, array in inside.items()
            if array.dtype.kind in NOT_VIRTUAL or f"{prefix}{name}" in escaped
            # It looks up the chunk of a scalar by an array instead of an address (2.5.1).
            or array.ndim == 0
        ]
        parser = virtualizarr.parsers.KerchunkJSONParser(
            group=group or None, skip_variables=skipped
        )
        store = parser(refs.as_uri(), registry)
        dataset = xr.open_zarr(store, consolidated=False, zarr_format=3, chunks=None, **RAW)
        kept = {name: array for name, array in inside.items() if name not in skipped}
        COUNTS["VirtualiZarr"] += len(kept)
        check_dataset(dataset, kept, f"VirtualiZarr: /{group}")
        if {"counts", "huge"} <= set(kept):
            masked = xr.open_zarr(
                store, consolidated=False, zarr_format=3, chunks=None, decode_times=False
            )
            assert np.isnan(masked["counts"].values[0, 0]), masked["counts"].values
            assert masked["huge"].encoding["_FillValue"] == 2**64 - 1
            assert np.isnan(masked["level"].values).tolist() == [True, False]
        with virtualizarr.open_virtual_dataset(
            refs.as_uri(), registry=registry, parser=parser, loadable_variables=[]
        ) as virtual:
            assert set(virtual.variables) == set(kept), virtual


def decoded(backend):
    """Checks the meaning of attributes and fill values."""
    run1, run2 = (
        xr.open_dataset("reference://", engine="zarr", group=group, backend_kwargs=backend)
        for group in ("run1", "run2")
    )
    assert run1["temperature"].attrs["units"] == "degree_Celsius"
    assert np.isnan(run1["temperature"].encoding["_FillValue"])
    assert run2["counts"].encoding["_FillValue"] == -1
    assert np.isnan(run2["counts"].values[0, 0]), run2["counts"].values
    assert np.isnan(run2["level"].values).tolist() == [True, False]
    assert run2["quality"].attrs["flag_meanings"] == "unknown good bad not_measured"
    assert np.isnan(run2["quality"].values[-1])
    assert run2["when"].dtype.kind == "M" and np.isnat(run2["when"].values[1])
    assert run2["huge"].encoding["_FillValue"] == 2**64 - 1
    root = xr.open_dataset("reference://", engine="zarr", backend_kwargs=backend)
    assert root["time"].dtype.kind == "M" and root.attrs["title"] == "a test"


def check_pack(pack, root):
    """Reads a pack with every program, at its path and, if it has a root URL, over HTTP."""
    arrays = expected(pack)
    assert len(arrays) >= 20, sorted(arrays)
    with tempfile.TemporaryDirectory() as scratch:
        for remote in (False, True) if root else (False,):
            refs = pathlib.Path(scratch, f"{remote}.json")
            address = ["--url", f"{root}/{urllib.parse.quote(pack.name)}"] if remote else []
            ra_pack("refs", pack, "-o", refs, *address)
            json.loads(refs.read_text())
            with_zarr(refs, remote, arrays)
            backend = with_xarray(refs, remote, arrays)
            with_dask(backend, arrays)
            decoded(backend)
            with_virtualizarr(refs, root if remote else None, arrays)
            print(f"{pack.name}: {len(arrays)} arrays, {'http' if remote else 'path'}")
        if not root:
            return
        before = RangeHandler.served
        xr.open_dataset("reference://", engine="zarr", backend_kwargs=backend, chunks={})
        opened = RangeHandler.served - before
        assert opened < 1000, f"opening reads {opened} bytes"
        before = RangeHandler.served
        large = xr.open_dataset("reference://", engine="zarr", backend_kwargs=backend)["large"]
        check(large[3:5].values, arrays["large"][3:5], "a slice over HTTP")
        read = RangeHandler.served - before
        assert read < arrays["large"].nbytes * 0.6, f"the slice reads {read} bytes"


if __name__ == "__main__":
    RA_PACK, *packs = sys.argv[1:]
    with served(pathlib.Path(packs[0]).parent) as root:
        # One archive and one directory are also read over HTTP.
        for nth, pack in enumerate(packs):
            check_pack(pathlib.Path(pack), root if nth % 3 == 0 else None)
    assert COUNTS["VirtualiZarr"] > 80, COUNTS
