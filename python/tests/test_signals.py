"""Ctrl-C stops long calls at once, and leaves nothing."""

import signal
import subprocess
import sys
import textwrap
import time

import pytest

#: Seconds that a call may take after Ctrl-C.
LIMIT = 0.3

# A shell lets programs that it starts in the background ignore Ctrl-C, and they pass this on to the programs below.
signal.signal(signal.SIGINT, signal.default_int_handler)

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

ARCHIVE_OF_ALL = """
with ra_pack.PackWriter(directory / "all.zip", external_manifest=False) as writer:
    writer.add("x", data[:256_000_000])
"""

#: Programs that run before Ctrl-C, and the calls that it stops.
CALLS = {
    "finish": ("writer = ra_pack.PackWriter(directory / 'new.zip', compression='deflate'); writer.add('x', data)",
               "writer.finish()"),
    "add_file": ("writer = ra_pack.PackWriter(directory / 'new.zip')",
                 "writer.add_file('zero', '/dev/zero')"),
    "read": (ARCHIVE, "[pack['x'].read() for _ in range(100)]"),
    "slice": (ARCHIVE, "[pack['x'][:1] + pack['x'][-1:] for _ in range(100)]"),
    "verify": (ARCHIVE_OF_ALL, "[ra_pack.verify(directory / 'all.zip') for _ in range(100)]"),
    "verify in one thread": (ARCHIVE_OF_ALL, "[ra_pack.verify(directory / 'all.zip', jobs=1) for _ in range(100)]"),
    "audit": (ARCHIVE_OF_ALL, "[ra_pack.audit([directory / 'all.zip']) for _ in range(100)]"),
    "verify one array": (ARCHIVE_OF_ALL, "[ra_pack.open(directory / 'all.zip')['x'].verify() for _ in range(100)]"),
    "extract": (ARCHIVE_OF_ALL, "[ra_pack.extract(directory / 'all.zip', directory / 'source', force=True) for _ in range(100)]"),
    "diff": (ARCHIVE_OF_ALL, "[ra_pack.diff(directory / 'all.zip', directory / 'all.zip', read_all=True) for _ in range(100)]"),
    "convert": (ARCHIVE_OF_ALL, "[ra_pack.convert(directory / 'all.zip', directory / 'new.npz', force=True, compression='deflate') for _ in range(100)]"),
    "statistics": (ARCHIVE_OF_ALL, "[ra_pack.open(directory / 'all.zip')['x'].statistics() for _ in range(100)]"),
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
    assert left <= {"source", "pack.tar.gz", "all.zip"}


@pytest.mark.parametrize(
    "call",
    [
        "ra_pack.verify(path)",
        "ra_pack.verify(path, jobs=1)",
        "ra_pack.audit([path])",
        "ra_pack.open(path)['x'].verify()",
        "ra_pack.open(path)['x'].statistics()",
        "ra_pack.open(path)['x'].plot()",
        "ra_pack.diff(path, path, read_all=True)",
        "ra_pack.extract(path, path.with_name('out'), force=True)",
        "ra_pack.convert(path, path.with_name('out.npz'), force=True)",
        "ra_pack.describe(path, dims={'x': ['y']})",
        "ra_pack.refs(path)",
    ],
)
def test_ctrl_c_at_any_moment_is_a_keyboard_interrupt(tmp_path, call):
    program = f"""
import os, pathlib, random, signal, sys, threading, time
import numpy as np, ra_pack
path = pathlib.Path(sys.argv[1]) / "pack.zip"
with ra_pack.PackWriter(path, external_manifest=False) as writer:
    writer.add("x", np.zeros(100_000_000, np.uint8))
for _ in range(30):
    timer = threading.Timer(random.uniform(0.001, 0.08), os.kill, [os.getpid(), signal.SIGINT])
    try:
        timer.start()
        while True:
            {call}
    except KeyboardInterrupt:
        timer.join()
print("ended")
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


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


AT_EXIT = {
    "slices": "while True: array[1:5]",
    "reads": "while True: array.read()",
    "names": "while True: list(pack); pack['x'].attrs",
    "verify": "while True: ra_pack.verify(directory / 'small.zip')",
    "blocks": "writer.add_blocks('y', (10**9, 1), 'u1', (np.zeros((9, 1), 'u1') for _ in range(10**9)))",
    "a block": "writer.add_blocks('y', (2, 1), 'u1', (time.sleep(100) for _ in range(2)))",
    "arrays": "[writer.add(f'y{n}', np.zeros(9)) for n in range(10**9)]",
}


@pytest.mark.parametrize("name", AT_EXIT)
def test_daemon_threads_do_not_abort_the_end_of_the_program(tmp_path, name):
    program = f"""
import pathlib, sys, threading, time, tempfile
import numpy as np, ra_pack
directory = pathlib.Path(sys.argv[1])
with ra_pack.PackWriter(directory / "small.zip") as writer:
    writer.add("x", np.arange(1000.0))
pack = ra_pack.open(directory / "small.zip")
array, writer = pack["x"], ra_pack.PackWriter(directory / "new.zip")
def run():
    {AT_EXIT[name]}
for _ in range(3):
    threading.Thread(target=run, daemon=True).start()
time.sleep(0.2)
print("ended")
"""
    for _ in range(5):
        scratch = tmp_path / str(time.monotonic())
        scratch.mkdir()
        done = subprocess.run([sys.executable, "-c", program, scratch], capture_output=True, text=True, timeout=30)
        assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr
        assert "FATAL" not in done.stderr
