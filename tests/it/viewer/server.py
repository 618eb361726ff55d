"""Serves a directory on the loopback as different servers do."""

import functools
import http.server
import pathlib
import re
import threading
import time
import urllib.parse


TYPES = {".html": "text/html", ".js": "text/javascript"}


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Options of the server.
    ranges, cors, exposed, changing, delay = True, True, True, False, 0.0

    def do_GET(self):
        time.sleep(self.delay)
        path = pathlib.Path(self.directory, urllib.parse.unquote(self.path.split("?")[0]).lstrip("/"))
        if not path.is_file():
            self.send_error(404)
            return
        size = path.stat().st_size
        version = f'"{len(self.server.asked) if self.changing else 1}"'
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if self.ranges else None
        if self.headers.get("If-Range", version) != version:
            asked = None
        self.server.asked.append((self.path, asked and (int(asked[1]), int(asked[2]))))
        with path.open("rb") as file:
            file.seek(int(asked[1]) if asked else 0)
            part = file.read(int(asked[2]) + 1 - int(asked[1]) if asked else -1)
        self.send_response(206 if asked else 200)
        self.send_header("Content-Type", TYPES.get(path.suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(part)))
        if asked:
            self.send_header("Content-Range", f"bytes {asked[1]}-{int(asked[1]) + len(part) - 1}/{size}")
        self.send_header("ETag", version)
        if self.cors:
            self.send_header("Access-Control-Allow-Origin", "*")
            if self.exposed:
                self.send_header("Access-Control-Expose-Headers", "Content-Range, ETag")
        self.end_headers()
        self.wfile.write(part)

    def do_OPTIONS(self):
        self.send_response(204 if self.cors else 405)
        if self.cors:
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Access-Control-Allow-Headers", "Range")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A browser may close a connection at any time."""


def serve(directory, **options):
    """Starts a server. Its `root` is its address, `asked` the paths and ranges that were requested."""
    handler = functools.partial(type("Options", (Handler,), options), directory=str(directory))
    server = Server(("127.0.0.1", 0), handler)
    server.asked = []
    server.root = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
