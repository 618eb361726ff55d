"""Writes arrays as NumPy and netCDF4 files, and what NumPy, netCDF4 and cftime say that their values mean."""

import json
import random
import sys

import cftime
import netCDF4
import numpy

directory = sys.argv[1]
random.seed(7)
COUNT = 60
expected, statistics = {}, {}

# Values that NumPy knows.
arrays = {
    "text": numpy.array(["Kiel", "Übersee", "日本", "", "a'b", 'c"d,e']),
    "bytes": numpy.array([b"Kiel", b"ab", b""]),
    "complex": numpy.array([1 + 2j, 0.1 - 4j, -0.5j]),
    "truth": numpy.array([[True, False], [False, False]]),
    "half": numpy.arange(-40, 40, 0.7).astype("f2"),
    "single": numpy.array([0.1, 1e-40, 3.4e38, -0.0], "f4"),
    "pairs": numpy.array([(1, 2.5, "ab", True), (-3, 4.5, "ü", False)], "i4,f8,U3,?"),
    "moments": numpy.array([("2020-02-28", 1, ("NaT", 5)), ("1500-03-01", 2, ("2001-02-03T04", 6))],
                           [("t", "M8[D]"), ("n", "i2"), ("in.ner", [("h", "M8[h]"), ("i", "u1")])]),
    "spans": numpy.array([(1, "NaT"), ("NaT", "2020-01-01")], [("td", "m8[s]"), ("t", "M8[D]")]),
    "alone": numpy.array(b"csr"),
    "nested": numpy.array([((1, 2), [[3, 4], [5, 6]])], [("a", "i1,u2"), ("b", "i4", (2, 2))]),
}
for unit in ["W", "D", "h", "m", "s", "ms", "us", "ns"]:
    numbers = [random.randrange(-(10**4), 10**4) for _ in range(COUNT)]
    arrays[f"date_{unit}"] = numpy.array(numbers + ["NaT"], f"M8[{unit}]")


def plain(value):
    if isinstance(value, numpy.datetime64):
        return None if numpy.isnat(value) else moment(str(value.astype(f"M8[{unit_of(value)}]")))
    if isinstance(value, numpy.timedelta64):
        return None if numpy.isnat(value) else value.astype(int).item()
    if isinstance(value, numpy.void):
        return {name: plain(value[name]) for name in value.dtype.names}
    if isinstance(value, numpy.ndarray):
        return [plain(one) for one in value] if value.shape else plain(value.item())
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (complex, numpy.complexfloating)):
        return [float(value.real), float(value.imag)]
    if isinstance(value, numpy.floating):
        # The fewest digits that identify a number of its type.
        return float(numpy.format_float_scientific(value))
    return value.item() if isinstance(value, numpy.generic) else value


def unit_of(value):
    """Hours and minutes are written with seconds, and weeks as their first day."""
    unit = numpy.datetime_data(value.dtype)[0]
    return {"h": "s", "m": "s", "W": "D"}.get(unit, unit)


def moment(text):
    """Leaves out the zeros at the end of a fraction, three at a time."""
    whole, _, fraction = text.partition(".")
    while fraction.endswith("000"):
        fraction = fraction[:-3]
    return f"{whole}.{fraction}" if fraction else whole


for name, array in arrays.items():
    numpy.save(f"{directory}/{name}.npy", array)
    expected[name] = plain(array)

# Numbers with scale, offset and missing values, and names.
file = netCDF4.Dataset(f"{directory}/file.nc", "w")
file.createDimension("n", COUNT)
missing = [{}, {"missing_value": 3}, {"valid_range": [10, 50]}, {"valid_min": 0}, {"valid_max": 90}]
scales = [{}, {"scale_factor": 0.01}, {"add_offset": -273.15}, {"scale_factor": -0.5, "add_offset": 10.0}]
for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "f4", "f8"]:
    for nth, bounds in enumerate(missing):
        for mth, scale in enumerate(scales):
            name = f"{dtype}_{nth}{mth}"
            variable = file.createVariable(name, dtype, ("n",), fill_value=100)
            is_float = dtype[0] == "f"
            low = 0 if dtype[0] == "u" else -100
            raw = [random.uniform(-100, 100) if is_float else random.randint(low, 100) for _ in range(COUNT)]
            raw = numpy.array([100, 3, *raw[2:]], dtype)
            kinds = {key: numpy.array(value, dtype) for key, value in bounds.items()}
            variable.setncatts({**kinds, **scale})
            variable.set_auto_maskandscale(False)
            variable[:] = raw
            variable.set_auto_maskandscale(True)
            read = variable[:]
            expected[f"file/{name}"] = [None if one is numpy.ma.masked else plain(one) for one in read]
            wide = read.astype("f8")
            statistics[f"file/{name}"] = [wide.min(), wide.max(), wide.mean(), wide.std()]

# Integers whose sign is another than that of the type.
for dtype, other in [("i1", "u1"), ("i2", "u2"), ("i4", "u4"), ("u1", "i1")]:
    low, high = (-9, 100) if other == "i1" else (9, 240)
    for nth, bounds in enumerate([{}, {"valid_range": [low, high]}, {"valid_min": low}, {"valid_max": high}]):
        for mth, scale in enumerate(scales):
            name = f"unsigned_{dtype}_{nth}{mth}"
            variable = file.createVariable(name, dtype, ("n",), fill_value=numpy.array(255).astype(dtype))
            # netCDF4 reads no unsigned integers as signed ones.
            variable._Unsigned = "true" if dtype[0] == "i" else "false"
            kinds = {key: numpy.array(value).astype(dtype) for key, value in bounds.items()}
            variable.setncatts({**kinds, **scale})
            variable.set_auto_maskandscale(False)
            raw = numpy.array([255] + [random.randrange(256) for _ in range(COUNT - 1)]).astype(dtype)
            variable[:] = raw
            if dtype[0] == "i":
                variable.set_auto_maskandscale(True)
                read = variable[:]
            else:
                read = raw.view(other)
                outside = raw == 255
                for key, value in kinds.items():
                    value = value.view(other)
                    outside |= (read < value.min()) & (key != "valid_max") | (read > value.max()) & (key != "valid_min")
                read = numpy.ma.masked_array(read, outside)
                if scale:
                    read = read * scale.get("scale_factor", 1.0) + scale.get("add_offset", 0.0)
            expected[f"file/{name}"] = [None if one is numpy.ma.masked else plain(one) for one in read]
            wide = read.astype("f8")
            statistics[f"file/{name}"] = [wide.min(), wide.max(), wide.mean(), wide.std()]

# Scale and offset as floats of 4 bytes.
for dtype in ["i1", "u1", "i2", "u2", "i4", "f4", "f8"]:
    for nth, scale in enumerate([{"scale_factor": 0.01}, {"add_offset": 273.15}, {"scale_factor": 0.1, "add_offset": -3}]):
        name = f"single_{dtype}_{nth}"
        variable = file.createVariable(name, dtype, ("n",))
        variable.setncatts({key: numpy.float32(value) for key, value in scale.items()})
        variable.set_auto_maskandscale(False)
        raw = numpy.array([random.randrange(100) for _ in range(COUNT)], dtype)
        variable[:] = raw
        # As netCDF4 and NumPy compute it.
        read = raw * numpy.float32(scale.get("scale_factor", 1)) + numpy.float32(scale.get("add_offset", 0))
        expected[f"file/{name}"] = [plain(one) for one in read]

flags = file.createVariable("flags", "i1", ("n",))
flags.flag_values = numpy.array([0, 1, 5], "i1")
flags.flag_meanings = "good doubtful missing"
flags[:] = [random.choice([0, 1, 5]) for _ in range(COUNT)]
expected["file/flags"] = [{0: "good", 1: "doubtful", 5: "missing"}[int(one)] for one in flags[:]]

# Dates of every calendar.
calendars = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
epochs = ["1970-01-01", "1900-01-01 12:00:00", "2000-02-28T06:30:00+05:30", "1500-02-28", "1582-10-04", "0001-01-01"]
spans = {"days": 1, "hours": 24, "minutes": 1440, "seconds": 86400, "milliseconds": 86400000, "microseconds": 86400000000}
for calendar in calendars:
    for nth, epoch in enumerate(epochs):
        for unit, per_day in spans.items():
            if (calendar, epoch) == ("360_day", "1582-10-04"):
                continue
            for dtype in ["i8", "f8"]:
                name = f"{calendar}_{unit}_{nth}_{dtype}"
                days = [random.randrange(0, 200_000) for _ in range(COUNT)]
                # Fractions of two digits are exact in both types.
                numbers = [day * per_day + random.randrange(per_day) for day in days]
                raw = numpy.array(numbers, dtype) / (4.0 if dtype == "f8" and per_day < 10**6 else 1)
                raw = raw.astype(dtype)
                variable = file.createVariable(name, dtype, ("n",))
                variable.setncatts({"units": f"{unit} since {epoch}", "calendar": calendar})
                variable[:] = raw
                dates = cftime.num2date(raw, f"{unit} since {epoch}", calendar, only_use_cftime_datetimes=True)
                texts = [moment(date.isoformat()) for date in dates]
                if unit == "days" and dtype == "i8" and len(epoch) == 10:
                    texts = [text.removesuffix("T00:00:00") for text in texts]
                expected[f"file/{name}"] = texts

# Years before 1, of which calendars with Julian years have no year 0, and words in capitals.
for calendar in calendars:
    for nth, epoch in enumerate(["-4713-01-01 12:00:00", "0000-01-01", "-0001-03-01", "0001-01-01"]):
        if epoch == "0000-01-01" and calendar in ("standard", "julian"):
            continue
        name = f"early_{calendar}_{nth}"
        raw = numpy.array([random.randrange(-(10**6), 10**6) for _ in range(COUNT)])
        variable = file.createVariable(name, "i8", ("n",))
        variable.setncatts({"units": f"Hours Since {epoch}", "calendar": calendar.upper()})
        variable[:] = raw
        dates = cftime.num2date(raw, f"hours since {epoch}", calendar, only_use_cftime_datetimes=True)
        expected[f"file/{name}"] = [moment(date.isoformat()) for date in dates]

# Longer units, in calendars where they have a length.
for calendar, unit in [("360_day", "months"), ("360_day", "month"), ("noleap", "common_years")]:
    for nth, epoch in enumerate(epochs[:4]):
        for dtype in ["i8", "f8"]:
            name = f"long_{unit}_{nth}_{dtype}"
            raw = numpy.array([random.randrange(0, 7000) for _ in range(COUNT)], dtype)
            raw = raw / 4 if dtype == "f8" else raw
            variable = file.createVariable(name, dtype, ("n",))
            variable.setncatts({"units": f"{unit} since {epoch}", "calendar": calendar})
            variable[:] = raw
            dates = cftime.num2date(raw, f"{unit} since {epoch}", calendar, only_use_cftime_datetimes=True)
            texts = [moment(date.isoformat()) for date in dates]
            if dtype == "i8" and len(epoch) == 10:
                texts = [text.removesuffix("T00:00:00") for text in texts]
            expected[f"file/{name}"] = texts
file.close()

with open(f"{directory}/../expected.json", "w") as out:
    json.dump({"values": expected, "statistics": statistics}, out)
