"""Saves the arrays of a MATLAB file before version 7.3: from_matlab.py FILE DIRECTORY"""

import pathlib
import sys

import numpy as np
import scipy.io

source, directory = sys.argv[1:]
pathlib.Path(directory).mkdir()
for name, array in scipy.io.loadmat(source, squeeze_me=True).items():
    if not name.startswith("__") and array.dtype.kind in "biufc":
        np.save(f"{directory}/{name}.npy", array)
