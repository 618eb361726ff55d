"""Saves the datasets of an HDF5 file that need a filter of h5py or hdf5plugin: from_hdf5.py FILE DIRECTORY"""

import sys

import h5py

from save import save, save_attributes

source, directory = sys.argv[1:]
SCALES = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}  # attributes of dimension scales


def visit(name, dataset):
    if not isinstance(dataset, h5py.Dataset) or dataset.shape is None:
        return
    attrs = {key: dataset.attrs[key] for key in dataset.attrs if key not in SCALES}
    dims = [axis[0].name if len(axis) else None for axis in dataset.dims]
    if dataset.is_scale:
        dims = [dataset.name.rsplit("/", 1)[1]]
    array = dataset.asstr()[()] if h5py.check_string_dtype(dataset.dtype) else dataset[()]
    save(directory, name, array, dims, attrs)


with h5py.File(source) as data:
    data.visititems(visit)
    save_attributes(directory, data.attrs)
