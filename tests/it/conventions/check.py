"""Writes NetCDF files with attributes that keep and break rules of conventions, and prints what compliance-checker finds.

    check.py checker DIRECTORY COUNT    files with random changes of attributes, by compliance-checker
    check.py units DIRECTORY            one file with many units of standard names, by UDUNITS

Prints a JSON object: for each file the pairs of a broken rule and the variable that breaks it, or the attribute of ACDD.
"""

import functools
import gzip
import json
import pathlib
import random
import re
import sys
import warnings

import netCDF4
import numpy

warnings.simplefilter("ignore")

# The text of a message, and the rule that it is about.
RULES = [
    (r"standard_name \S+ is not defined in Standard Name Table", "name"),
    (r'Standard name modifier ".*" for variable (\w+) is not a valid modifier', "modifier"),
    (r"Attribute long_name or/and standard_name is highly recommended for variable (\w+)", "no-name"),
    (r"units attribute is required for (\w+) when", "no-units"),
    (r'units for (\w+), ".*" are not recognized by UDUNITS', "unknown-units"),
    (r'Units ".*" for variable (\w+) must be convertible', "units"),
    (r"units attribute for variable (\w+) must be unset when status_flag", "units"),
    (r"When variable (\w+) has a standard name modifier of number_of_observations", "units"),
    (r"latitude variable '(\w+)' should define valid units", "units"),
    (r"longitude variable '(\w+)' should define valid units", "units"),
    (r"(\w+) does not have correct time units", "units"),
    (r"(\w+)'s axis attribute must be T, X, Y, or Z", "axis"),
    (r"'(\w+)' has duplicate axis", "same-axis"),
    (r"For nonstandard calendar on variable (\w+), attribute month_lengths", "calendar"),
    (r"(\w+)'s flag_meanings and flag_values should have the same number", "flags"),
    (r"(\w+) flag_meanings and flag_masks should have the same number", "flags"),
    (r"(\w+) does not define either flag_masks or flag_values", "flags"),
    (r"Variable (\w+) must have attribute flag_meanings defined when", "flags"),
    (r"§2.6.1 (Conventions) (?:global attribute does not contain|field is not present)", "cf"),
    (r"(Conventions) does not contain 'ACDD", "acdd"),
    (r"No (Conventions) attribute present; must contain ACDD", "acdd"),
    (r"^(?:Attr )?(\w+) (?:is )?(?:not present|empty or|present, but not in expected)", "acdd"),
    (r"acknowledgment/(acknowledgement) not present", "acdd"),
    (r"(time_coverage) attributes are not formatted properly", "coverage"),
    (r"Could not convert one of (geospatial_l\w\w)_min", "coverage"),
    (r"Datetime provided is not in a valid (ISO) 8601 format", "date"),
]

GLOBALS = {
    "Conventions": "CF-1.11, ACDD-1.3",
    "title": "Air",
    "summary": "Air at two metres",
    "keywords": "air",
    "license": "CC-BY-4.0",
    "creator_name": "A. Author",
    "creator_email": "a@example.org",
    "creator_type": "person",
    "date_created": "2024-06-03",
    "geospatial_lat_min": 0.0,
    "geospatial_lat_max": 3.0,
    "geospatial_lon_min": 0.0,
    "geospatial_lon_max": 4.0,
    "time_coverage_start": "2000-01-01T00:00:00Z",
    "time_coverage_end": "2000-01-03T00:00:00Z",
}
ARRAYS = {
    "time": (("time",), "f8", {"standard_name": "time", "units": "days since 2000-01-01", "calendar": "standard", "axis": "T"}),
    "lat": (("lat",), "f8", {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"}),
    "lon": (("lon",), "f8", {"standard_name": "longitude", "units": "degrees_east", "axis": "X"}),
    "height": ((), "f8", {"standard_name": "height", "units": "m", "axis": "Z", "positive": "up"}),
    "tas": (("time", "lat", "lon"), "f4", {"standard_name": "air_temperature", "units": "K", "coordinates": "height"}),
    "pr": (("time", "lat", "lon"), "f4", {"standard_name": "precipitation_flux", "units": "kg m-2 s-1"}),
    "quality": (
        ("time", "lat", "lon"),
        "i1",
        {
            "standard_name": "quality_flag",
            "flag_values": numpy.array([0, 1, 2], "i1"),
            "flag_meanings": "good doubtful bad",
        },
    ),
}
# An array, an attribute, and values for it, right and wrong; None removes the attribute.
CHANGES = [
    ("time", "units", ["days", "hours since 1900-01-01 00:00:00", "seconds since 1970-01-01T00:00:00Z", "minutes"]),
    ("time", "calendar", ["noleap", "360_day", "lunar", "proleptic_gregorian", "STANDARD", "none", "365day", None]),
    ("time", "axis", ["t", "X", None]),
    ("lat", "units", ["degree_N", "degrees", "degreesN", "degrees_east", "radian", "m"]),
    ("lon", "units", ["degree_east", "degreeE", "degrees_W", "degrees", "DEGREES_EAST"]),
    ("lon", "axis", ["W", "Y", "x", None]),
    ("height", "axis", ["Y", "T", "up", None]),
    ("height", "units", ["km", "hPa", "feet", "m-1", "1", "kg", "metres", None]),
    ("height", "standard_name", ["depth", "hieght", "altitude", "height standard_error"]),
    ("tas", "units", ["degC", "celsius", "K m", "mK", "degree_F", "W", "kelvins", "Kelvins per metre", "gizmo", None]),
    ("tas", "standard_name", ["air_temprature", "Air_Temperature", "sea_surface_temperature", "surface_temperature", "tas"]),
    ("tas", "standard_name", ["air_temperature standard_error", "air_temperature number_of_observations", "air_temperature mean"]),
    ("tas", "standard_name", [None]),
    ("pr", "units", ["mm s-1", "kg/m2/s", "kg m^-2 s^-1", "mm/day", "g cm-2 day-1", "kg/(m2 s)", "mg m-2 s-1 K", "%"]),
    ("pr", "standard_name", ["convective_precipitation_flux", "lwe_precipitation_rate", "rain", "eastward_wind"]),
    ("quality", "flag_meanings", ["good bad", "good doubtful bad worse", "good fair bad", None]),
    ("quality", "flag_values", [numpy.array([0, 1], "i1"), None]),
    ("quality", "standard_name", ["air_temperature status_flag", "quality", "air_temperature flag"]),
    ("", "Conventions", ["CF-1.11", "ACDD-1.3", "COARDS", "CF-1.11 ACDD-1.3", None]),
    ("", "license", ["", None]),
    ("", "summary", [" ", None]),
    ("", "keywords", [None]),
    ("", "creator_name", [None]),
    ("", "creator_email", [None]),
    ("", "creator_type", ["robot", "group"]),
    ("", "date_created", ["last week", "2024-06", "2024-06-03T12:00:00+02:00", "20240603T120000Z", "03.06.2024"]),
    ("", "time_coverage_start", ["2000-01-01", "yesterday", "2000-01", None]),
    ("", "time_coverage_end", ["2000-01-03T00:00:00.000Z", "2000-13-01", None]),
    ("", "geospatial_lat_min", ["0.0", "south", None]),
    ("", "geospatial_lon_max", ["4", "4 E", None]),
]


def write(path, attributes, arrays):
    with netCDF4.Dataset(path, "w") as file:
        file.setncatts(attributes)
        for name, length in (("time", 3), ("lat", 4), ("lon", 5)):
            file.createDimension(name, length)
        for name, (shape, dtype, of_array) in arrays.items():
            array = file.createVariable(name, dtype, shape)
            array.setncatts(of_array)
            array[...] = numpy.arange(array.size).reshape(array.shape) % 100


def change(chance):
    """Returns attributes with a few changes."""
    attributes = dict(GLOBALS)
    arrays = {name: (shape, dtype, dict(own)) for name, (shape, dtype, own) in ARRAYS.items()}
    for array, name, values in chance.sample(CHANGES, chance.randint(1, 4)):
        own, value = arrays[array][2] if array else attributes, chance.choice(values)
        if value is None:
            own.pop(name, None)
        else:
            own[name] = value
    return attributes, arrays


def of_message(message, path):
    for pattern, rule in RULES:
        if found := re.search(pattern, message):
            if rule == "name":
                with netCDF4.Dataset(path) as file:
                    name = message.split()[1]
                    full = [it for it in file.variables.values() if getattr(it, "standard_name", "").split()[:1] == [name]]
                    return [[rule, it.name] for it in full]
            return [[rule, found[1]]]
    return []


def checker(directory, count):
    from compliance_checker.cf import util
    from compliance_checker.runner import CheckSuite

    # The table of names is read once instead of for each file, which takes most of the time.
    util.StandardNameTable.__getitem__ = functools.cache(util.StandardNameTable.__getitem__)
    util.StandardNameTable = functools.cache(util.StandardNameTable)
    CheckSuite.load_all_available_checkers()
    suite, chance, verdicts = CheckSuite(), random.Random(1), {}
    for number in range(int(count)):
        path = directory / f"{number:03}.nc"
        attributes, arrays = change(chance)
        if number == 0:
            del arrays["height"][2]["units"]
        write(path, attributes, arrays)
        found = []
        groups = suite.run_all(suite.load_dataset(str(path)), ["cf:1.11", "acdd:1.3"], skip_checks=[])
        for result in (result for results, _ in groups.values() for result in results):
            # ra-pack does not require what ACDD only suggests.
            texts = (text for text in messages(result) if result.weight > 1 or "not present" not in text)
            found += [pair for text in texts for pair in of_message(text, path)]
        verdicts[path.stem] = found
    return verdicts


def messages(result):
    yield from result.msgs or []
    for child in result.children or []:
        yield from messages(child)


def units(directory):
    from cf_units import Unit

    table = gzip.open(pathlib.Path(__file__).parents[3] / "src/pack/standard_names.txt.gz", "rt")
    entries = dict(line.rstrip("\n").split(" ", 1) for line in table if not line.startswith("#"))
    # A name for each of the canonical units, without names that have rules of their own. UDUNITS does not know `dB`, and
    # does not divide `dBZ`.
    special = ("time", "forecast_reference_time", "latitude", "longitude")
    named = {of_name: name for name, of_name in entries.items() if name not in special}
    for without_quotient in ("", "dB", "dBZ"):
        del named[without_quotient]
    chance, arrays, found = random.Random(2), {}, []
    notations = [str, lambda it: it.replace(" ", "."), lambda it: re.sub(r"(?<=[A-Za-z])(-?\d+)", r"^\1", it)]
    more = ["km/h", "hPa", "g/(m2 s)", "mm day-1", "degC", "umol kg-1", "percent", "ppm", "knots", "kW h", "mbar", "feet"]
    for canonical, name in sorted(named.items()):
        for other in [canonical] + chance.sample(sorted(named) + more, 6):
            other = chance.choice(notations)(other)
            array = f"a{len(arrays)}"
            arrays[array] = ((), "f8", {"standard_name": name, "units": other})
            # UDUNITS also converts to the inverse, such as m to m-1, which is another quantity.
            product = Unit(re.sub("degC|degree_C", "K", other)) / Unit(canonical.replace("degree_C", "K"))
            if not product.is_dimensionless():
                found.append(["units", array])
    write(directory / "units.nc", {"Conventions": "CF-1.11"}, arrays)
    return {"units": found}


directory = pathlib.Path(sys.argv[2])
made = {"checker": checker, "units": units}[sys.argv[1]](directory, *sys.argv[3:])
print(json.dumps(made))
