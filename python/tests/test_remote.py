"""Packs at URLs, on servers on this machine: a web server with ranges, and an S3 server."""

from __future__ import annotations

import http.server
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from files import EXPERIMENT


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves ranges of the files in a directory. A path that begins with `/stall` gets no answer."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    root: Path
    requests: list[str]

    def do_GET(self) -> None:
        path = self.root / self.path.partition("?")[0].removeprefix("/stall").lstrip("/")
        self.requests.append(self.path)
        if self.path.startswith("/stall"):
            time.sleep(20)
        if not path.is_file():
            self.send_error(404)
            return
        content = path.read_bytes()
        first, _, last = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
        start = int(first) if first else max(0, len(content) - int(last))
        end = min(len(content), int(last) + 1) if first and last else len(content)
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(content)}")
        self.send_header("Content-Length", str(end - start))
        self.send_header("ETag", f'"{path.stat().st_mtime_ns}"')
        self.end_headers()
        self.wfile.write(content[start:end])

    def log_message(self, *_: Any) -> None:
        pass


class Server:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests: list[str] = []
        handler = type("Handler", (Handler,), {"root": root, "requests": self.requests})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}"

    def count(self) -> int:
        """Return the number of requests since the last call."""
        count = len(self.requests)
        self.requests.clear()
        return count


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    ra_pack.create(EXPERIMENT, tmp_path / "exp.zip")
    large = {f"a{nth}": np.full((100, 5000), nth, "f4") for nth in range(8)}
    ra_pack.write(tmp_path / "large.zip", large)
    server = Server(tmp_path)
    yield server
    server.server.shutdown()
    server.server.server_close()


def test_arrays_at_a_url_are_those_of_the_file_in_few_requests(server: Server) -> None:
    pack, local = ra_pack.open(server.url("exp.zip")), ra_pack.open(server.root / "exp.zip")
    assert list(pack) == list(local) and pack.attrs == local.attrs
    for name, array in local.items():
        assert np.array_equal(pack[name].read(), array.read()), name
        np.testing.assert_equal(pack[name].attrs, array.attrs)
        assert pack[name].dims == array.dims
    assert server.count() == 1
    large = ra_pack.open(server.url("large.zip"))
    assert server.count() == 1
    assert large["a3"][2:4, 7].tolist() == [3.0, 3.0]
    assert server.count() <= 3
    assert large["a5"].read().mean() == 5
    assert server.count() <= 3


def test_the_functions_for_packs_take_urls(server: Server) -> None:
    report = ra_pack.verify(server.url("exp.zip"))
    assert report.valid and not report.findings
    with pytest.raises(ra_pack.NoSuchFile):
        ra_pack.open(server.url("missing.zip"))
    with pytest.raises(ra_pack.IoError, match="download"):
        ra_pack.open(server.url("exp.zip"))["time"].view()
    with pytest.raises(ra_pack.Unsupported):
        ra_pack.create(EXPERIMENT, server.url("new.zip"))
    with pytest.raises(ra_pack.Unsupported):
        ra_pack.write(server.url("new.zip"), {"x": np.zeros(3)})


def test_damage_and_changes_of_a_remote_pack_are_found(server: Server) -> None:
    path = server.root / "large.zip"
    pack = ra_pack.open(server.url("large.zip"))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(ra_pack.Changed):
        pack["a1"].read()
    with pytest.raises(ra_pack.Damaged) as caught:
        for array in ra_pack.open(server.url("large.zip")).values():
            array.read()
    assert caught.value.findings
    assert not ra_pack.verify(server.url("large.zip")).valid


def test_secrets_of_a_url_are_not_shown_but_pickled(server: Server) -> None:
    url = server.url("exp.zip?signature=secret")
    pack = ra_pack.open(url)
    assert "secret" not in repr(pack) and "secret" not in str(pack.path)
    again = pickle.loads(pickle.dumps(pack))
    assert list(again) == list(pack)
    assert server.requests[-1].endswith("signature=secret")
    with pytest.raises(ra_pack.NoSuchFile) as caught:
        ra_pack.open(server.url("missing.zip?signature=secret"))
    assert "secret" not in str(caught.value)


def read_mean(pack: Any) -> float:
    return float(pack["a6"].read().mean())


def test_threads_forks_and_new_processes_read_a_remote_pack(server: Server) -> None:
    pack = ra_pack.open(server.url("large.zip"))
    assert read_mean(pack) == 6
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read_mean, [pack] * 16)) == [6] * 16
    for method in ["fork", "spawn"]:
        with multiprocessing.get_context(method).Pool(2) as processes:
            assert processes.map(read_mean, [pack] * 4) == [6] * 4, method


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer")
def test_ctrl_c_ends_waiting_for_a_server(server: Server) -> None:
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ra_pack.open(server.url("stall/exp.zip"))
    assert time.monotonic() - begun < 3


def test_xarray_reads_a_url_lazily(server: Server) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("dask")
    url = server.url("exp.zip")
    with xr.open_dataset(url, engine="ra-pack", group="thermistors", chunks={}) as remote:
        with xr.open_dataset(server.root / "exp.zip", engine="ra-pack", group="thermistors") as local:
            xr.testing.assert_identical(remote.compute(), local)
    assert server.count() == 1
    with xr.open_datatree(url, engine="ra-pack") as tree:
        assert "/thermistors" in tree.groups
    server.count()
    with xr.open_dataset(server.url("large.zip"), engine="ra-pack") as large:
        assert server.count() == 1
        assert large.a2[10, :5].values.tolist() == [2] * 5
        assert server.count() <= 3


def test_a_cluster_reads_a_url(server: Server) -> None:
    xr = pytest.importorskip("xarray")
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with distributed.Client(cluster), xr.open_dataset(
            server.url("large.zip"), engine="ra-pack", chunks={}
        ) as large:
            assert float(large.a7.mean()) == 7


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An S3 client with a bucket called `bucket`, on a server on this machine."""
    moto = pytest.importorskip("moto.server")
    for name in list(os.environ):
        if name.startswith("AWS_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    s3 = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    s3.start()
    host, port = s3.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    import boto3

    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="bucket")
    yield client
    client.close()
    s3.stop()


def test_a_pack_in_a_bucket_is_read(server: Server, bucket: Any) -> None:
    bucket.upload_file(str(server.root / "exp.zip"), "bucket", "run 1/exp.zip")
    pack = ra_pack.open("s3://bucket/run 1/exp.zip")
    local = ra_pack.open(server.root / "exp.zip")
    assert np.array_equal(pack["time"].read(), local["time"].read())
    assert ra_pack.verify("s3://bucket/run 1/exp.zip").valid


def test_packs_are_written_to_a_bucket(server: Server, bucket: Any, tmp_path: Path) -> None:
    data = {"a": np.random.default_rng(0).normal(size=2_500_000), "b": np.arange(10)}
    source = tmp_path / "source"
    ra_pack.extract(server.root / "exp.zip", source)

    def with_writer(path: Path | str) -> None:
        with ra_pack.PackWriter(path) as writer:
            writer.add("a", data["a"], ["x"])

    for nth, make in enumerate([with_writer, partial(ra_pack.write, obj=data), partial(ra_pack.create, source)]):
        make(tmp_path / f"{nth}.zip")
        make(f"s3://bucket/run 1/{nth}.zip")
        for suffix in ["", ".manifest-sha256.txt"]:
            stored = bucket.get_object(Bucket="bucket", Key=f"run 1/{nth}.zip{suffix}")["Body"].read()
            assert stored == (tmp_path / f"{nth}.zip{suffix}").read_bytes()
    with pytest.raises(FileExistsError):
        ra_pack.write("s3://bucket/run 1/1.zip", data)
    assert bucket.list_multipart_uploads(Bucket="bucket").get("Uploads", []) == []


def test_packs_in_a_bucket_are_audited_on_a_cluster(server: Server, bucket: Any, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    content = (server.root / "exp.zip").read_bytes()
    damaged = content[:9000] + bytes([content[9000] ^ 1]) + content[9001:]
    for nth in range(20):
        bucket.put_object(Bucket="bucket", Key=f"{nth}.zip", Body=damaged if nth == 7 else content)
    targets = [f"s3://bucket/{nth}.zip" for nth in range(21)]
    log = tmp_path / "audit.jsonl"
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with distributed.Client(cluster) as client:
            report = ra_pack.audit(targets, client, log=log)
            assert report.counts == {"good": 19, "bad": 1, "missing": 1}
            # The version in the bucket is compared with the one in the log.
            bucket.put_object(Bucket="bucket", Key="7.zip", Body=content)
            report = ra_pack.audit(targets, client, log=log, max_age="1d")
            assert report.counts == {"good": 20, "missing": 1}
    assert len(log.read_text().splitlines()) == 21 + 2
