"""Saves the columns of a CSV file; INDEX names the column of coordinates: from_csv.py FILE DIRECTORY [INDEX]"""

import re
import sys

import pandas as pd

from save import save

source, directory, *index = sys.argv[1:]
for column, values in pd.read_csv(source).items():
    name, units = re.fullmatch(r"\s*(.*?)\s*(?:\[(.*)\])?\s*", column).groups()
    save(directory, name, values, index or [None], {"units": units} if units else {})
