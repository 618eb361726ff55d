"""Writes NetCDF and HDF5 files to the working directory, or compares what they were converted to with them."""

import pathlib
import struct
import sys

import h5py
import netCDF4
import numpy as np

NETCDF = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4", "NETCDF4_CLASSIC"]
HDF5 = ["earliest", "v108", "latest"]
KINDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i4", ">u2", ">f8", "c8", "c16", "?"]
random = np.random.default_rng(1)


def netcdf(form):
    with netCDF4.Dataset(f"{form}.nc", "w", format=form) as data:
        data.title = "Ünïcode"
        data.version = np.float32(2.5)
        data.list = np.arange(3, dtype="i2")
        for name, length in [("time", None), ("lat", 3), ("lon", 4), ("nv", 2), ("width", 5)]:
            data.createDimension(name, length)
        time = data.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "days since 2000-01-01", "calendar": "noleap"})
        time[:] = np.arange(5.0)
        lat = data.createVariable("lat", "f4", ("lat",))
        lat.bounds = "lat_bnds"
        lat[:] = [1, 2, 3]
        data.createVariable("lat_bnds", "f4", ("lat", "nv"))[:] = random.random((3, 2))
        sst = data.createVariable("sst", "i2", ("time", "lat", "lon"), fill_value=-999)
        sst.set_auto_maskandscale(False)
        sst.setncatts({"scale_factor": 0.01, "add_offset": np.float32(5), "missing_value": np.int16(-999)})
        sst[:] = random.integers(-9999, 9999, (5, 3, 4))
        data.createVariable("bytes", "i1", ("time",))[:] = range(5)
        data.createVariable("odd", "i2", ("time", "lat"))[:] = random.integers(0, 99, (5, 3))
        text = data.createVariable("text", "S1", ("lat", "width"))
        text[:] = np.array([b"north", "é".encode(), b""], "S5").view("S1").reshape(3, 5)
        data.createVariable("crs", "i4").grid_mapping_name = "latitude_longitude"
        data["crs"][...] = 7
        if not form.endswith(("3_CLASSIC", "OFFSET", "4_CLASSIC")):
            for kind in ["u1", "u2", "u4", "i8", "u8"]:
                data.createVariable(kind, kind, ("lat",))[:] = random.integers(0, 200, 3)
        if form == "NETCDF4":
            netcdf4(data)


def netcdf4(data):
    # A dimension of length 0, and a variable that is shorter than its dimension.
    data.createDimension("empty", None)
    data.createVariable("none", "f8", ("empty", "lat"))
    data.createVariable("short", "f4", ("time", "lon"), zlib=True, shuffle=True, chunksizes=(2, 3))[:3] = 1.5
    data.createVariable("zstd", "f4", ("lat", "lon"), compression="zstd")[:] = random.random((3, 4))
    data.createVariable("station", str, ("lat",))[:] = np.array(["a", "bé", "ccc"], object)
    flag = data.createEnumType("u1", "flag_t", {"good": 0, "bad": 3})
    data.createVariable("flag", flag, ("lat",))[:] = [0, 3, 0]
    pair = data.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")], align=True), "pair_t")
    data.createVariable("pair", pair, ("lat",))[:] = np.array([(1, 2.5)] * 3, pair.dtype)
    data.createVariable("ragged", data.createVLType("i4", "ragged_t"), ("lat",))[0] = np.array([1, 2], "i4")
    deep = data.createGroup("obs/deep")
    deep.note = "in a group"
    deep.createDimension("x", 2)
    deep.createVariable("p", "f8", ("x", "lat"))[:] = random.random((2, 3))
    # A variable with the name of a dimension that is not its own.
    deep.createVariable("x", "i4", ("lat",))[:] = [1, 2, 3]


def hdf5(version):
    with h5py.File(f"{version}.h5", "w", libver=version) as data:
        data.attrs.update({"title": "Ünïcode", "list": ["a", "bc"], "n": np.arange(3, dtype="i2"), "yes": True})
        group = data.create_group("g/h")
        for kind in KINDS:
            group[f"t_{kind.replace('>', 'big_').replace('?', 'bool')}"] = (random.random((3, 5)) * 100).astype(kind)
        values = random.random((37, 41))
        options = {"compression": "gzip", "shuffle": True, "fletcher32": True}
        data.create_dataset("chunked", data=values, chunks=(10, 8), **options)
        data.create_dataset("deep", data=random.random((7, 6, 5, 4)), chunks=(2, 3, 2, 4), **options)
        numbers = random.integers(0, 20, (10, 100)) * np.arange(100)
        data.create_dataset("lzf", data=numbers, chunks=(3, 30), compression="lzf")
        data.create_dataset("scaleoffset", data=numbers, chunks=(3, 30), scaleoffset=0)
        data.create_dataset("grows", data=np.arange(20).reshape(4, 5), maxshape=(None, 5), chunks=(3, 2))
        data.create_dataset("grows2", data=np.arange(20).reshape(4, 5), maxshape=(None, None), chunks=(3, 2))
        data.create_dataset("filled", shape=(6, 7), dtype="f4", fillvalue=-1, chunks=(2, 2))[1, 1] = 5
        data.create_dataset("unwritten", shape=(6,), dtype="i4")
        data["scalar"] = 3.5
        data.create_dataset("zero", shape=(0, 3), dtype="f8")
        data.create_dataset("null", data=h5py.Empty("f4"))
        data.create_dataset("any_text", data=["a", "bcé", ""], dtype=h5py.string_dtype())
        data["text"] = np.array([b"ab", b"c"], "S3")
        data["utf8"] = np.array(["é".encode(), b"c"], h5py.string_dtype("utf-8", 4))
        padded = h5py.h5t.C_S1.copy()
        padded.set_size(4)
        padded.set_strpad(h5py.h5t.STR_SPACEPAD)
        h5py.h5d.create(data.id, b"spaces", padded, h5py.h5s.create_simple((2,))).write(
            h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"a", b"bcd"], "S4"))
        data.create_dataset("enum", data=np.array([0, 2], "i2"), dtype=h5py.enum_dtype({"A": 0, "B": 2}, "i2"))
        compound = np.dtype([("a", ">i2"), ("b", "f8"), ("s", "S3"), ("v", ">i4", 2)])
        data["compound"] = np.array([(1, 2.5, b"x", [1, 2]), (3, -1, b"yz", [5, 6])], compound)
        data["opaque"] = np.array([b"ab\0c"]).view("V4")
        data.create_dataset("ref", data=data["chunked"].ref, dtype=h5py.ref_dtype)
        data.create_dataset("ragged", (2,), dtype=h5py.vlen_dtype("i4"))[0] = [1, 2]
        data["time"] = np.arange(4.0)
        data["time"].make_scale("time")
        data["time"].attrs["units"] = "s"
        data["g/x"] = random.random((4, 2))
        data["g/x"].dims[0].attach_scale(data["time"])
        data["g"]["loop"] = data["g"]
        data["other"] = h5py.ExternalLink("other.h5", "/x")
        for number in range(40):
            data[f"many/d{number}"] = [number]
            group.attrs[f"a{number}"] = number


def stored(path):
    """Returns the dims and the elements of a RawArray file."""
    raw = path.read_bytes()
    magic, flags, _, _, size, ndims = struct.unpack_from("<8s5Q", raw)
    assert (magic, flags) == (b"rawarray", 0), path
    return struct.unpack_from(f"<{ndims}Q", raw, 48), raw[48 + 8 * ndims :], size


def same(root, name, array):
    """Compares a file, whose elements are row-major, with an array."""
    array = np.asarray(array)
    if array.dtype.fields is None or array.dtype.kind != "V":
        array = array.astype(array.dtype.newbyteorder("<"))
    dims, data, _ = stored(root / f"{name}.ra")
    assert dims == array.shape[::-1], (name, dims, array.shape)
    if array.dtype.names and array.dtype.kind == "V":
        little = [(key, array.dtype[key].newbyteorder("<")) for key in array.dtype.names]
        offsets = [array.dtype.fields[key][1] for key in array.dtype.names]
        spec = {"names": [key for key, _ in little], "formats": [kind for _, kind in little],
                "offsets": offsets, "itemsize": array.dtype.itemsize}
        found = np.frombuffer(data, np.dtype(spec)).reshape(array.shape)
        for key, _ in little:
            assert found[key].tobytes() == array[key].astype(found[key].dtype).tobytes(), (name, key)
    else:
        assert data == np.ascontiguousarray(array).tobytes(), name
    return 1


def compare_netcdf(form):
    count, root = 0, pathlib.Path(form)
    with netCDF4.Dataset(f"{form}.nc") as data:
        data.set_auto_maskandscale(False)
        data.set_auto_chartostring(False)
        groups = [data, *([data["obs/deep"]] if form == "NETCDF4" else [])]
        for group in groups:
            for name, variable in group.variables.items():
                array = variable[...]
                if name == "ragged":
                    assert not (root / "ragged.ra").exists()
                    continue
                if variable.dtype is str:
                    array = np.array([one.encode() for one in array])
                elif variable.dtype == "S1":
                    array = array.view(f"S{array.shape[-1]}")[..., 0]
                count += same(root, f"{group.path}/{name}".lstrip("/"), array)
    return count


def compare_hdf5(version):
    count, root = 0, pathlib.Path(version)

    def visit(name, dataset):
        nonlocal count
        if not isinstance(dataset, h5py.Dataset):
            return
        if name in ("null", "ref", "ragged"):
            assert not (root / f"{name}.ra").exists(), name
        elif name == "any_text":
            count += same(root, name, np.array([one.encode() for one in dataset.asstr()[()]]))
        else:
            count += same(root, name, dataset[()])

    with h5py.File(f"{version}.h5") as data:
        data.visititems(visit)
    return count


if sys.argv[1] == "write":
    for form in NETCDF:
        netcdf(form)
    for version in HDF5:
        hdf5(version)
else:
    print([*map(compare_netcdf, NETCDF), *map(compare_hdf5, HDF5)])
