"""Saves the arrays of a Zarr store of version 2 or 3, a directory or a zip: from_zarr.py STORE DIRECTORY"""

import sys

import xarray as xr

from save import save, save_attributes

source, directory = sys.argv[1:]
with xr.open_zarr(source, decode_cf=False, consolidated=False) as data:  # raw values
    for name, variable in data.variables.items():
        dims = [dim if dim in data.variables else None for dim in variable.dims]
        save(directory, name, variable.values, dims, variable.attrs)
    save_attributes(directory, data.attrs)
