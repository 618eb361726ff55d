"""Ctrl-C stops long calls at once, and leaves nothing."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

#: Seconds that a call may take after Ctrl-C.
LIMIT = 0.3

PREPARE = """
import os, pathlib, signal, sys, threading, time
import numpy as np, ra_pack
directory = pathlib.Path(sys.argv[1])
data = np.random.default_rng(0).integers(0, 256, 400_000_000, np.uint8)
"""

ARCHIVE = """
with ra_pack.PackWriter(directory / "pack.tar.gz", compression="deflate:2", external_manifest=False) as writer:
    writer.add("x", data[:60_000_000])
pack = ra_pack.open(directory / "pack.tar.gz")
"""

#: Programs that run before Ctrl-C, and the calls that it stops.
CALLS = {
    "finish": ("writer = ra_pack.PackWriter(directory / 'new.zip', compression='deflate'); writer.add('x', data)",
               "writer.finish()"),
    "add_file": ("writer = ra_pack.PackWriter(directory / 'new.zip')",
                 "writer.add_file('zero', '/dev/zero')"),
    "read": (ARCHIVE, "[pack['x'].read() for _ in range(100)]"),
    "slice": (ARCHIVE, "[pack['x'][:1] + pack['x'][-1:] for _ in range(100)]"),
    "create": ("source = directory / 'source'; source.mkdir(); (source / 'x').write_bytes(data)",
               "ra_pack.create(source, directory / 'new.zip', compression='deflate')"),
}  # fmt: skip

PROGRAM = """
def stop():
    time.sleep(0.4)
    global at
    at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=stop).start()
try:
    {call}
except KeyboardInterrupt:
    took = time.monotonic() - at
else:
    sys.exit("the call ended before the signal")
{after}
print(took)
"""


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_stops_a_long_call_and_leaves_nothing(tmp_path, name):
    before, call = CALLS[name]
    after = "print(pack['x'][:3].shape)" if before is ARCHIVE else ""
    program = PREPARE + textwrap.dedent(before) + PROGRAM.format(call=call, after=after)
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    *shapes, took = done.stdout.split("\n")[:-1]
    # A pack remains usable.
    assert shapes == (["(3,)"] if after else [])
    assert float(took) < LIMIT
    left = {path.name for path in tmp_path.iterdir()}
    assert left <= {"source", "pack.tar.gz"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_signals_stop_the_command(tmp_path, number):
    (tmp_path / "source").mkdir()
    with open(tmp_path / "source/large", "wb") as file:
        file.truncate(20_000_000_000)
    command = [sys.executable, "-m", "ra_pack", "create", "source", "-o", "new.zip", "--compression", "zstd:19"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(1)
    assert child.poll() is None
    child.send_signal(number)
    at = time.monotonic()
    _, told = child.communicate(timeout=30)
    assert time.monotonic() - at < LIMIT
    assert child.returncode == 128 + number, told
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
