"""Controls a browser with the WebDriver protocol and the standard library."""

import base64
import json
import os
import pathlib
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ESCAPE = "\ue00c"


class Browser:
    """A headless Chromium, which ends with the `with` block."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        log = open(os.path.join(self.directory.name, "log"), "w+")
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"],
            stdout=log,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, HOME=self.directory.name),
        )
        self.session = None
        try:
            self.root = f"http://127.0.0.1:{self.port(log.name)}"
            arguments = [
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-extensions",
                "--window-size=1280,900",
                "--lang=en",
                f"--user-data-dir={self.directory.name}/profile",
            ]
            options = {"args": arguments}
            wanted = {
                "browserName": "chrome",
                "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            }
            self.session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
            # Leaves the start page of the browser, and discards its requests.
            self.post("/url", {"url": "about:blank"})
            self.requests()
        except BaseException:
            self.end()
            raise

    def port(self, log):
        for _ in range(600):
            for line in pathlib.Path(log).read_text().splitlines():
                if "started successfully on port" in line:
                    return int(line.rsplit(" ", 1)[1].rstrip("."))
            if self.driver.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit("chromedriver does not start: " + pathlib.Path(log).read_text())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        try:
            if self.session:
                self.call("DELETE", f"/session/{self.session}")
        except OSError:
            pass
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.directory.cleanup()

    def call(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.read().decode()}") from None

    def post(self, path, body=None):
        return self.call("POST", f"/session/{self.session}{path}", body)

    def open(self, page, fragment=""):
        self.post("/url", {"url": pathlib.Path(page).resolve().as_uri() + fragment})

    def run(self, script, *arguments):
        return self.post("/execute/sync", {"script": script, "args": arguments})

    def tool(self, command, **parameters):
        """Runs a command of the developer tools."""
        return self.post("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def keys(self, text):
        """Types into the focused element."""
        presses = [action for key in text for action in ({"type": "keyDown", "value": key}, {"type": "keyUp", "value": key})]
        self.post("/actions", {"actions": [{"type": "key", "id": "keys", "actions": presses}]})

    def log(self, kind):
        return self.post("/se/log", {"type": kind})

    def requests(self):
        """Returns the addresses that were requested since the last call."""
        asked = []
        for entry in self.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return asked

    def screen(self, width, height, dark=False, scale=1):
        self.tool("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 500)
        scheme = "dark" if dark else "light"
        self.tool("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path):
        path = pathlib.Path(path)
        path.write_bytes(base64.b64decode(self.call("GET", f"/session/{self.session}/screenshot")))

    def paper(self):
        """Returns the page as a PDF."""
        return base64.b64decode(self.tool("Page.printToPDF", printBackground=False, preferCSSPageSize=True)["data"])
