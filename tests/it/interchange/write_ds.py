"""Writes a file with ds-format, and prints its content: element bytes, masks and texts."""

import json
import sys

import ds_format as ds
import numpy as np

made = {}
attributes = {}


def add(name, data, dims=None):
    made[name] = data
    attributes[name] = {'.dims': dims if dims is not None else ['%s_%d' % (name, i) for i in range(data.ndim)]}


for word in 'int8 int16 int32 int64 uint8 uint16 uint32 uint64'.split():
    info = np.iinfo(word)
    for order in '<>':
        add(word + order, np.array([info.min, info.max, 0, 1], np.dtype(word).newbyteorder(order)))
patterns = {
    'float32': [0x7FC00001, 0xFFC0BEEF, 0x7F800001, 0x80000000, 0x7F800000, 0xFF800000, 1, 0x7F7FFFFF],
    'float64': [
        0x7FF8000000000001, 0xFFF80000DEADBEEF, 0x7FF0000000000001, 1 << 63, 0x7FF << 52, 0xFFF << 52, 1,
        0x7FEFFFFFFFFFFFFF,
    ],
}
for word, bits in patterns.items():
    for order in '<>':
        width = np.dtype(word).itemsize
        data = np.array(bits, 'u%d' % width).astype('%su%d' % (order, width))
        add(word + order, data.view(np.dtype(word).newbyteorder(order)))
add('scalar', np.array(2.5))
add('cube', np.arange(24, dtype='i4').reshape(2, 3, 4))
add('fortran', np.asfortranarray(np.arange(6, dtype='i2').reshape(2, 3)))
add('none', np.zeros((0, 3)))
add('time', np.array([1, 2, 3]), ['time'])
add('temperature', np.array([16.0, 18.0, 21.0]), ['time'])
attributes['temperature'].update(units='K', range=[1.5, float('nan')], long_name='t\u00e9')
for count in (1, 7, 8, 9, 16, 20):
    values = np.arange(count) % 3 == 0
    mask = np.arange(count) % 5 == 1
    add('bool%d' % count, values)
    add('masked_bool%d' % count, np.ma.array(values, mask=mask))
    add('masked_i2_%d' % count, np.ma.array(np.arange(count, dtype='>i2'), mask=mask))
    add('masked_f8_%d' % count, np.ma.array(np.arange(count, dtype='f8'), mask=mask))
add('all', np.ma.array(np.zeros(3), mask=True))
add('unmasked', np.ma.array(np.zeros(3), mask=False))
add('unicode', np.array([['a', 'žluť'], ['', 'line\nbreak']]))
add('bytes', np.array([b'abc', b'd'], 'S3'))
if len(sys.argv) > 2:
    # The writer gives these arrays a wrong length.
    add('a_bytes', np.array([b'abc', b'de', b'\xff'], object))
    if not ds.__version__.startswith('4.'):  # 4.x rejects masked text
        add('b_text', np.ma.array(np.array(['a', 'bcd', 'e'], object), mask=[False, True, False]))

d = dict(made)
d['.'] = dict(attributes)
d['.']['.'] = {'title': 'T\u00e9st', 'g': [0, 1, 2]}
ds.write(sys.argv[1], d)

out = {}
for name, data in made.items():
    mask = np.ma.getmaskarray(data)
    facts = {'shape': list(data.shape), 'mask': bytes(mask.flatten().astype('u1')).hex()}
    plain = np.ma.getdata(data).flatten()
    if data.dtype.kind in 'UOS':
        texts = [x if isinstance(x, bytes) else str(x).encode() for x in plain]
        facts['texts'] = [text.hex() for text in texts]
    else:
        plain = plain.copy()
        plain[mask.flatten()] = 0
        facts['data'] = plain.astype(plain.dtype.newbyteorder('<')).tobytes().hex()
    out[name] = facts
print(json.dumps(out))
