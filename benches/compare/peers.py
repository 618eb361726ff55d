"""Does the jobs of the benchmark with Python libraries. The first argument names the job."""

import hashlib
import os
import shutil
import sys
import time


def files(root):
    for directory, names, found in os.walk(root):
        names.sort()
        for name in sorted(found):
            path = os.path.join(directory, name)
            yield os.path.relpath(path, root), path


def load(path):
    import numpy

    with open(path, "rb") as file:
        words = numpy.frombuffer(file.read(48), "<u8")
        dims = numpy.frombuffer(file.read(8 * int(words[5])), "<u8").astype(int)
        dtype = {2: "u", 3: "f"}[int(words[2])] + str(int(words[3]))
        array = numpy.empty(dims[::-1], dtype)
        file.readinto(memoryview(array).cast("B"))
    return array


def arrays(root):
    for name, path in files(root):
        if name.endswith(".ra"):
            yield name[:-3], load(path)


def zip_create(root, out):
    import zipfile

    lines = []
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, path in files(root):
            digest = hashlib.sha256()
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.file_size = os.path.getsize(path)
            with open(path, "rb") as file, archive.open(info, "w") as member:
                while block := file.read(1 << 20):
                    digest.update(block)
                    member.write(block)
            lines.append(f"{digest.hexdigest()}  {name}\n")
        archive.writestr("manifest-sha256.txt", "".join(lines))


def zip_verify(path):
    import zipfile

    with zipfile.ZipFile(path) as archive:
        for line in archive.read("manifest-sha256.txt").decode().splitlines():
            digest = hashlib.sha256()
            with archive.open(line[66:]) as member:
                while block := member.read(1 << 20):
                    digest.update(block)
            if digest.hexdigest() != line[:64]:
                sys.exit(1)


def zip_get(path, member, out):
    import zipfile

    with zipfile.ZipFile(path) as archive, archive.open(member) as source, open(out, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)


def npz_create(root, out):
    write_npz(arrays(root), out)


def npz_get(path, member, out):
    import numpy

    with numpy.load(path) as archive, open(out, "wb") as file:
        file.write(archive[member[:-3]].tobytes())


def h5_create(root, out):
    write_h5(arrays(root), out)


def h5_get(path, member, out):
    import h5py

    with h5py.File(path, "r") as archive, open(out, "wb") as file:
        file.write(archive[member[:-3]][()].tobytes())


def write_npz(pairs, out):
    import numpy

    with open(out, "wb") as file:
        numpy.savez(file, **dict(pairs))


def write_h5(pairs, out):
    import h5py

    with h5py.File(out, "w") as file:
        for name, array in pairs:
            file.create_dataset(name, data=array)


def write_h5s(pairs, out):
    import h5py

    for name, array in pairs:
        with h5py.File(f"{out}/{name}", "w") as file:
            file["x"] = array


def write_nc(pairs, out):
    import netCDF4

    for name, array in pairs:
        with netCDF4.Dataset(f"{out}/{name}", "w") as file:
            axes = [f"axis{axis}" for axis in range(array.ndim)]
            for axis, extent in zip(axes, array.shape):
                file.createDimension(axis, extent)
            file.createVariable("x", array.dtype, axes)[...] = array


def write_npy(pairs, out):
    import numpy

    for name, array in pairs:
        numpy.save(f"{out}/{name}.npy", array)


def write_png(pairs, out):
    from PIL import Image

    for name, array in pairs:
        # Three colour planes, or one grey plane.
        picture = array.transpose(1, 2, 0) if array.ndim == 3 else array
        Image.fromarray(picture).save(f"{out}/{name}.png")


def count(kind, path):
    if kind == "npz":
        import zipfile

        print(sum(name.endswith(".npy") for name in zipfile.ZipFile(path).namelist()))
    else:
        import h5py

        found = []
        with h5py.File(path, "r") as file:
            file.visititems(lambda name, item: found.append(name) if hasattr(item, "shape") else None)
        print(len(found))


def read_npz(path):
    import numpy

    with numpy.load(path) as archive:
        for name in archive.files:
            archive[name]


def read_h5(path):
    import h5py

    def read(_, item):
        if isinstance(item, h5py.Dataset):
            item[()]

    with h5py.File(path, "r") as file:
        file.visititems(read)


def read_h5s(root):
    import h5py

    for _, path in files(root):
        with h5py.File(path) as file:
            file["x"][()]


def read_nc(root):
    import netCDF4

    for _, path in files(root):
        with netCDF4.Dataset(path) as file:
            file["x"][...]


def read_npy(root):
    import numpy

    for _, path in files(root):
        numpy.load(path)


def read_png(root):
    import numpy
    from PIL import Image

    for _, path in files(root):
        numpy.asarray(Image.open(path))


def slices(h5, name, raw, offset, side):
    """Prints the seconds to read a row, a column and a plane of a cube, with h5py and with a memory map."""
    import h5py
    import numpy

    side, at = int(side), int(side) // 3
    with h5py.File(h5, "r") as file:
        for tool in ("h5py", "numpy memmap"):  # words: the name of a contestant
            for part in ("row", "column", "plane"):
                # A new map for each part, because a column and the plane through it share pages.
                cube = numpy.memmap(raw, "<f4", "r", int(offset), (side, side, side))
                array = file[name] if tool == "h5py" else cube
                start = time.perf_counter()
                if part == "row":
                    numpy.array(array[at, at, :])
                elif part == "column":
                    numpy.array(array[:, at, at])
                else:
                    numpy.array(array[:, at, :])
                print(f"{tool}\t{part}\t{time.perf_counter() - start:.9f}")


def fortran(path, out):
    import numpy

    numpy.save(out, numpy.asfortranarray(numpy.load(path)))


def timed(job, kind, root, made):
    """Prints the seconds to write the arrays in a format, or to read them.

    Before, a small array is written and read, because the first call imports modules and takes longer.
    """
    import numpy

    write, read = globals()[f"write_{kind}"], globals()[f"read_{kind}"]
    is_one_file = kind in ("h5", "npz")
    small = f"{made}-small"
    if not is_one_file:
        os.makedirs(small, exist_ok=True)
    write([("x", numpy.zeros((3, 3), "u1"))], small)
    read(small)
    if job == "write" or not os.path.exists(made):
        pairs = list(arrays(root))
        if not is_one_file:
            shutil.rmtree(made, ignore_errors=True)
            for name, _ in pairs:
                os.makedirs(os.path.dirname(f"{made}/{name}"), exist_ok=True)
        start = time.perf_counter()
        write(pairs, made)
    if job == "read":
        start = time.perf_counter()
        read(made)
    print(f"{time.perf_counter() - start:.9f}")


globals()[sys.argv[1]](*sys.argv[2:])
