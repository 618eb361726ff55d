"""Writes the same arrays in every format, and prints the content digest of each, computed from the specification."""

import hashlib
import json
import struct

import h5py
import netCDF4
import numpy as np

KINDS = {"i": 1, "u": 2, "f": 3, "c": 4, "b": 2}


def digest(a):
    kind = KINDS.get(a.dtype.kind, 0)
    header = struct.pack(f"<{5 + a.ndim}Q", 0, kind, a.dtype.itemsize, a.nbytes, a.ndim, *a.shape[::-1])
    little = a.astype(a.dtype.newbyteorder("<"))
    return hashlib.sha256(b"rawarray" + header + little.tobytes("C")).hexdigest()


numbers = np.random.default_rng(7)
pair = np.zeros(3, [("a", "i2"), ("b", "f8")])
pair["a"], pair["b"] = [1, 2, 3], [0.5, np.nan, -0.0]
arrays = {
    "bool": np.array([[True, False, True], [False, False, True]]),
    "bytes": np.array([b"ab", b"cde"]),
    "complex": np.array([1 + 2j, -0.5j], "c8"),
    "cube": numbers.standard_normal((2, 3, 4)),
    "empty": np.zeros((0, 3), "i4"),
    "half": np.array([0.5, np.inf], "f2"),
    "large": numbers.integers(-(2**15), 2**15, (300, 700, 3), "i2"),
    "pair": pair,
    "scalar": np.array(2.5, "f4"),
    "wide": numbers.integers(0, 2**63, (1, 5), "u8"),
}
big = {name: a.astype(a.dtype.newbyteorder(">")) for name, a in arrays.items()}
np.savez("c.npz", **arrays)
np.savez_compressed("f.npz", **{name: np.asarray(a, order="F") for name, a in arrays.items()})
np.savez("big.npz", **big)
for name, all in [("little.h5", arrays), ("big.h5", big)]:
    with h5py.File(name, "w") as file:
        for key, a in all.items():
            file.create_dataset(key, data=a, compression="gzip" if a.size > 1000 else None)
for version in ["NETCDF3_64BIT_DATA", "NETCDF4"]:
    with netCDF4.Dataset(version + ".nc", "w", format=version) as file:
        for key in ["cube", "empty", "large", "scalar", "wide"]:
            a = arrays[key]
            dims = [f"{key}_{axis}" for axis in range(a.ndim)]
            for dim, length in zip(dims, a.shape):
                file.createDimension(dim, length or None)
            file.createVariable(key, a.dtype, dims)[...] = a
print(json.dumps({name: digest(a) for name, a in arrays.items()}))
