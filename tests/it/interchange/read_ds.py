"""Reads a file with ds-format and prints its content."""

import json
import sys

import ds_format as ds
import numpy as np

d = ds.read(sys.argv[1])
out = {}
for name in ds.vars(d):
    data = ds.var(d, name)
    plain = np.ma.getdata(data)
    mask = np.ma.getmaskarray(data).flatten()
    facts = {'type': ds.type(d, name), 'dims': ds.dims(d, name), 'shape': list(np.shape(data))}
    facts['mask'] = bytes(mask.astype('u1')).hex()
    if facts['type'] in ('unicode', 'str'):
        facts['texts'] = [str(x) for x in np.array(plain, object).flatten()]
    else:
        plain = np.array(plain).flatten()
        plain[mask] = 0
        facts['data'] = plain.astype(plain.dtype.newbyteorder('<')).tobytes().hex()
    facts['attributes'] = ds.attrs(d, name)
    out[name] = facts
print(json.dumps(out))
