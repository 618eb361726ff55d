"""Measures remote packs with other readers of zips on a web server of this machine.

    python3 benches/remote.py target/release/ra-pack [--members 100000]

It needs NumPy, fsspec, aiohttp and remotezip. Requests and bytes are counted by the server. The time of ra-pack
includes the start of its process; that of the Python libraries does not include their import. Prints Markdown tables.
"""

import argparse
import http.server
import json
import multiprocessing
import pathlib
import statistics
import struct
import subprocess
import tempfile
import threading
import time
import urllib.request

import numpy

RUNS = 3


def serve(directory, delay, ready):
    """Serves files with ranges. Each answer is delayed. `/counts` returns the counts and resets them."""
    counts = {"requests": 0, "bytes": 0}
    held = threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_HEAD(self):
            self.do_GET(is_head=True)

        def do_GET(self, is_head=False):
            if self.path == "/counts":
                with held:
                    body = json.dumps(counts).encode()
                    counts.update(requests=0, bytes=0)
                return self.answer(200, {}, body, is_head)
            time.sleep(delay)
            path = pathlib.Path(directory, self.path.lstrip("/"))
            size = path.stat().st_size
            start, end, status, headers = 0, size, 200, {"ETag": '"1"', "Accept-Ranges": "bytes"}
            asked = self.headers.get("Range")
            if asked:
                first, last = asked.removeprefix("bytes=").split("-")
                start = int(first) if first else max(0, size - int(last))
                end = min(size, int(last) + 1) if first and last else size
                status = 206
                headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
            with path.open("rb") as file:
                file.seek(start)
                body = b"" if is_head else file.read(end - start)
            with held:
                counts["requests"] += 1
                counts["bytes"] += len(body)
            headers["Content-Length"] = str(end - start)
            self.answer(status, headers, body, is_head)

        def answer(self, status, headers, body, is_head):
            self.send_response(status)
            for name, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(name, value)
            self.end_headers()
            if not is_head:
                self.wfile.write(body)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_):
            pass  # a client that leaves

    server = Server(("127.0.0.1", 0), Handler)
    ready.send(server.server_address[1])
    server.serve_forever()


def make_pack(ra_pack, home, name, members, length):
    """Writes a pack of `members` arrays of `length` float32."""
    source = home / name
    source.mkdir()
    header = struct.pack("<8s6Q", b"rawarray", 0, 3, 4, 4 * length, 1, length)
    for number in range(members):
        values = numpy.arange(number, number + length, dtype="<f4")
        (source / f"a{number:06}.ra").write_bytes(header + values.tobytes())
        (source / f"a{number:06}.yaml").write_text(
            f"ndarrays:\n  a{number:06}:\n    shape: [{length}]\n    type: float32\n"
        )
    subprocess.run([ra_pack, "create", "-q", source, "-o", home / f"{name}.zip"], check=True)


def make_references(home, name, url):
    """Writes references in the form of kerchunk: the place of the elements of each array."""
    import zipfile

    references = {}
    with zipfile.ZipFile(home / f"{name}.zip") as archive, open(home / f"{name}.zip", "rb") as file:
        for info in archive.infolist():
            if info.filename.endswith(".ra"):
                file.seek(info.header_offset)
                names, extra = struct.unpack("<HH", file.read(30)[26:])
                data = info.header_offset + 30 + names + extra + 56
                references[info.filename + "/0"] = [url, data, info.file_size - 56]
    (home / f"{name}.json").write_text(json.dumps({"version": 1, "refs": references}))


def of_ra_pack(ra_pack, url, name, _):
    def run(*args):
        return subprocess.run([ra_pack, *args], check=True, capture_output=True).stdout

    yield "list", lambda: run("list", "--names", url)
    yield "array", lambda: run("get", url, name)
    yield "slice", lambda: run("get", url, name, "--slice", "5:8", "--no-verify", "--format", "raw")


def of_remotezip(_, url, name, __):
    from remotezip import RemoteZip

    def part():
        with RemoteZip(url) as archive, archive.open(name) as file:
            return numpy.frombuffer(file.read(56 + 32)[56 + 20 :], "<f4")

    yield "list", lambda: RemoteZip(url).namelist()
    yield "array", lambda: RemoteZip(url).read(name)
    yield "slice", part


def of_fsspec(_, url, name, __):
    import fsspec

    def opened():
        fsspec.implementations.http.HTTPFileSystem.clear_instance_cache()
        return fsspec.filesystem("zip", fo=url, skip_instance_cache=True)

    def part():
        system = opened()
        with system.open(name) as file:
            file.seek(56 + 20)
            return numpy.frombuffer(file.read(12), "<f4")

    import fsspec.implementations.http

    yield "list", lambda: opened().find("")
    yield "array", lambda: numpy.frombuffer(opened().cat_file(name)[56:], "<f4")
    yield "slice", part


def of_references(_, __, name, references):
    import fsspec

    def opened():
        return fsspec.filesystem(
            "reference", fo=references, remote_protocol="http", skip_instance_cache=True
        )

    yield "list", lambda: opened().find("")
    yield "array", lambda: numpy.frombuffer(opened().cat_file(name + "/0"), "<f4")
    # A chunk is the smallest unit.
    yield "slice", lambda: numpy.frombuffer(opened().cat_file(name + "/0"), "<f4")[5:8]


READERS = {
    "**ra-pack**": of_ra_pack,
    "remotezip": of_remotezip,
    "fsspec, zip": of_fsspec,
    "fsspec, references": of_references,
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ra_pack")
    parser.add_argument("--members", type=int, default=100_000)
    options = parser.parse_args()
    ra_pack = str(pathlib.Path(options.ra_pack).resolve())
    with tempfile.TemporaryDirectory() as directory:
        home = pathlib.Path(directory)
        packs = {"24 arrays of 4 MB": (24, 1_000_000), f"{options.members} arrays of 96 bytes": (options.members, 10)}
        for at, (members, length) in enumerate(packs.values()):
            make_pack(ra_pack, home, f"p{at}", members, length)
        for milliseconds in (0, 30):
            ready, told = multiprocessing.Pipe()
            server = multiprocessing.Process(target=serve, args=(directory, milliseconds / 1000, told))
            server.start()
            base = f"http://127.0.0.1:{ready.recv()}"

            def counts():
                with urllib.request.urlopen(base + "/counts") as answer:
                    return json.load(answer)

            for at, (title, (members, _)) in enumerate(packs.items()):
                url = f"{base}/p{at}.zip"
                make_references(home, f"p{at}", url)
                name = f"a{members * 2 // 3:06}.ra"
                print(f"\n{title}, {milliseconds} ms:\n")
                print("| | list | one array | a slice |\n|---|--:|--:|--:|")
                for reader, make in READERS.items():
                    cells = []
                    for _, act in make(ra_pack, url, name, f"{base}/p{at}.json"):
                        times = []
                        for _ in range(RUNS):
                            counts()
                            begun = time.perf_counter()
                            act()
                            times.append(time.perf_counter() - begun)
                            count = counts()
                        megabytes = count["bytes"] / 1e6
                        cells.append(
                            f"{count['requests']} / {megabytes:.3g} MB / {statistics.median(times) * 1000:.0f} ms"
                        )
                    print(f"| {reader} | {' | '.join(cells)} |", flush=True)
            server.terminate()
            server.join()


if __name__ == "__main__":
    main()
