"""Saves the columns of a Parquet file; INDEX names the column of coordinates: from_parquet.py FILE DIRECTORY [INDEX]"""

import sys

import pyarrow.parquet as pq

from save import save, save_attributes


def decode(metadata):
    return {key.decode(): value.decode() for key, value in (metadata or {}).items()}


source, directory, *index = sys.argv[1:]
table = pq.read_table(source)
for field, column in zip(table.schema, table.columns):
    save(directory, field.name, column.to_numpy(), index or [None], decode(field.metadata))
attrs = decode(table.schema.metadata)
save_attributes(directory, {key: value for key, value in attrs.items() if key not in ("pandas", "ARROW:schema")})
