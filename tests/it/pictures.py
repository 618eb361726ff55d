"""Compares every number and label of pictures and pages with NumPy and cftime, on generated arrays.

usage: pictures.py RA_PACK DIRECTORY
"""

import base64
import collections
import concurrent.futures
import datetime
import html
import json
import math
import pathlib
import re
import struct
import subprocess
import sys

import cftime
import numpy as np

CODES = {"i": 1, "u": 2, "f": 3, "c": 4}
WORDS = {"f8": "float64", "f4": "float32", "f2": "float16", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64",
         "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "c8": "complex64", "c16": "complex128"}
# Number of types of real numbers.
REAL = 11
CALENDARS = ["standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap", "366_day",
             "360_day", None]
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
# Numbers of comparisons by kind.
COUNTS = collections.Counter()
WRONG = []


def expect(name, what, is_right, said=""):
    COUNTS[what] += 1
    if not is_right:
        WRONG.append(f"{name}: {what}: {said}")


class Array:
    """Stored elements, and the values that they mean."""

    def __init__(self, stored, **attributes):
        self.stored = np.asarray(stored)
        self.attributes = {name: value for name, value in attributes.items() if value is not None}

    @property
    def scaling(self):
        has = {"scale_factor", "add_offset"} & self.attributes.keys()
        return (self.attributes.get("scale_factor", 1.0), self.attributes.get("add_offset", 0.0)) if has else None

    @property
    def missing(self):
        missing = np.zeros(self.stored.shape, bool)
        if "_FillValue" in self.attributes:
            missing |= self.stored == self.stored.dtype.type(self.attributes["_FillValue"])
        if "valid_range" in self.attributes:
            low, high = self.attributes["valid_range"]
            missing |= np.isfinite(self.stored) & ((self.stored < low) | (self.stored > high))
        return missing

    @property
    def values(self):
        """Floats after scaling, with NaN for missing elements."""
        factor, offset = self.scaling or (1.0, 0.0)
        values = np.where(self.missing, np.nan, self.stored.astype("f8"))
        return values * factor + offset if self.scaling else values

    def write(self, path, shape):
        code = self.stored.dtype.str[1:]
        header = struct.pack("<8sQQQQQ", b"rawarray", 0, CODES[code[0]], int(code[1:]), self.stored.nbytes,
                             self.stored.ndim)
        header += struct.pack(f"<{self.stored.ndim}Q", *self.stored.shape)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(header + self.stored.tobytes(order="F"))
        word = WORDS[code]
        texts = {name: json.dumps(value) for name, value in self.attributes.items()}
        if "valid_range" in texts:
            texts["valid_range"] = f"{{shape: [2], type: {word}, value: {texts['valid_range']}}}"
        attributes = "".join(f"      {name}: {text}\n" for name, text in texts.items())
        attributes = f"    attributes:\n{attributes}" if attributes else ""
        stem = path.stem
        if stem in shape and self.stored.ndim == 1:
            text = f"dimcoords:\n  {stem}:\n    type: {WORDS[code]}\n    size: {self.stored.size}\n{attributes}"
        else:
            text = f"ndarrays:\n  {stem}:\n    shape: [{', '.join(map(str, shape))}]\n    type: {WORDS[code]}\n{attributes}"
        path.with_suffix(".yaml").write_text(text)


class Case:
    """An array with its coordinates, and the options of its picture."""

    def __init__(self, name, value, axes, options=()):
        self.name, self.value, self.axes, self.options = name, value, axes, list(options)
        self.is_log = "--log" in self.options

    def write(self, root):
        names = ["y", "x"][-self.value.stored.ndim:]
        for name, axis in zip(names, self.axes):
            if axis is not None:
                axis.write(root / self.name / f"{name}.ra", [name])
        shape = [name if axis is not None else extent
                 for name, axis, extent in zip(names, self.axes, self.value.stored.shape)]
        self.value.write(root / self.name / "v.ra", shape)


def values_of(random, kind, count):
    noise = random.normal(size=count).cumsum()
    match kind:
        case "plain":
            return noise * 10.0 ** random.integers(-5, 6)
        case "positive":
            return np.abs(noise) + 0.5
        case "offset":
            return 1e9 + noise / 10
        case "log":
            return 10.0 ** random.uniform(-9, 9, count)
        case "tiny":
            return noise * 1e-300
        case "subnormal":
            return random.integers(0, 50, count) * 5e-324
        case "least":
            return random.integers(0, 2, count) * 5e-324
        case "huge":
            return random.uniform(-1, 1, count) * 1.7e308
        case "constant":
            return np.full(count, random.choice([0.0, 7.0, -1e300, 5e-324, 1e-9]))
    raise ValueError(kind)


KINDS = ["plain", "positive", "offset", "log", "tiny", "subnormal", "least", "huge", "constant"]


def value_of(random, nth, count):
    """Returns elements of a type and a range, with missing ones."""
    code = list(WORDS)[nth % REAL] if nth % 3 == 0 else "f8"
    if code[0] in "iu":
        info = np.iinfo(code)
        wide = random.random() < 0.3
        low, high = (info.min, info.max) if wide else (max(info.min, -100), 100)
        stored = random.integers(low, high, count, dtype=code, endpoint=True)
        attributes = {}
        if random.random() < 0.5:
            attributes |= {"scale_factor": float(random.choice([0.01, 2.0, -0.5, 1e-6])), "units": "degree_Celsius",
                           "add_offset": float(random.choice([0.0, 10.0, -273.15]))}
        if random.random() < 0.5 and count > 3:
            attributes["_FillValue"] = int(stored[count // 3])
        elif random.random() < 0.3:
            attributes["valid_range"] = [0, 90]
        return Array(stored, **attributes)
    with np.errstate(over="ignore"):
        stored = values_of(random, KINDS[nth % len(KINDS)], count).astype(code)
    attributes = {"units": "m s-1"} if random.random() < 0.5 else {}
    if random.random() < 0.5 and count > 5:
        stored[random.integers(0, count, count // 8)] = np.nan
    if random.random() < 0.3 and count > 5:
        stored[random.integers(0, count, 2)] = random.choice([np.inf, -np.inf])
    if random.random() < 0.2 and np.isfinite(stored[0]):
        attributes["_FillValue"] = float(stored[0])
    return Array(stored, **attributes)


def time_of(random, count, nth):
    """Returns times since a date in one of the calendars."""
    calendar = CALENDARS[nth % len(CALENDARS)]
    year, month, day = random.integers(1, 2400), random.integers(1, 13), random.integers(1, 29)
    unit, seconds = [("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1)][random.integers(0, 4)]
    zone = random.choice(["", " 00:00:00", " 12:30:00", " 06:00 +02:00", "T00:00:00Z", " 03:04:05.5", " 00:00:00 -06:00"])
    step = float(random.choice([1, 7, 60, 900, 3600, 86400, 7 * 86400, 30 * 86400, 366 * 86400, 3650 * 86400]))
    # Until the years of five digits, and near the change of the standard calendar.
    ahead = random.choice([0, 0, 1582 - year, -200]) * 365.0 * 86400
    if year * 365 * 86400 + ahead < 400 * 86400 or count * step > 6e10:
        ahead, step = 0.0, 3600.0
    times = (ahead + np.arange(count) * step * random.choice([1, 1.5])) / seconds
    if random.random() < 0.3:
        times = np.sort(times[0] + random.uniform(0, np.ptp(times) + 1, count))
    units = f"{unit} since {year:04}-{month:02}-{day:02}{zone}"
    return Array(np.round(times * seconds) / seconds, units=units, calendar=calendar)


def axis_of(random, nth, count):
    regular = np.arange(count) * 0.5 + 3
    match nth % 12:
        case 0:
            return None
        case 1:
            return Array(regular, units="m")
        case 2:
            return Array(np.sort(10.0 ** random.uniform(0, 2, count)), units="m")
        case 3:
            return Array(np.sort(random.uniform(-90, 90, count))[::-1].copy(), units="degrees_north")
        case 4:
            return Array(random.permutation(np.linspace(-5.0, 5.0, count)))
        case 5:
            return Array(np.repeat(regular, 2)[:count])
        case 6:
            places = regular.copy()
            places[count // 2] = np.nan
            return Array(places)
        case 7:
            return Array((np.arange(count) ** 2).astype("i4"), scale_factor=0.25, add_offset=-3.0, units="m")
        case 8:
            return Array(1e9 + np.arange(count).astype("f4").astype("f8") ** 1.5)
        case 9:
            return Array(np.concatenate([np.arange(count - count // 2), 100.0 + np.arange(count // 2)]), positive="down")
        case _:
            return time_of(random, count, nth + int(random.integers(0, 100)))


def cases():
    random = np.random.default_rng(20240603)
    for nth in range(330):
        count = [40, 7, 2, 100, 3, 1, 500][nth % 7]
        value = value_of(random, nth, count)
        options = ["--log"] if nth % 5 == 0 else []
        yield Case(f"l{nth:03}", value, [axis_of(random, nth // 2, count)], options)
    for nth in range(8):
        count = 5000
        yield Case(f"m{nth:03}", Array(values_of(random, "plain", count)), [axis_of(random, nth + 1, count)])
    for nth in range(100):
        shape = [(6, 9), (1, 5), (4, 1), (12, 20)][nth % 4]
        value = value_of(random, nth, shape[0] * shape[1])
        value.stored = value.stored.reshape(shape)
        axes = [axis_of(random, [0, 1, 2, 3, 7, 9][nth % 6], shape[0]), axis_of(random, nth // 3, shape[1])]
        yield Case(f"g{nth:03}", value, axes, ["--log"] if nth % 7 == 0 else [])


def complex_cases():
    random = np.random.default_rng(7)
    shapes = [(40,), (300,), (6, 9), (12, 20), (1, 5)]
    for nth in range(40):
        shape = shapes[nth % len(shapes)]
        stored = random.normal(size=shape) + 1j * random.normal(size=shape)
        stored = (stored * 10.0 ** random.integers(-3, 4)).astype(["c8", "c16"][nth % 2])
        flat = stored.ravel()
        if nth % 3 == 0:
            flat[::4] = [0, -1, 1j, -1j, complex(-1, -0.0), complex(np.nan, 1), complex(np.inf, 1)][nth // 3 % 7]
        axes = [axis_of(random, [0, 1, 3][nth % 3], length) for length in shape]
        yield Case(f"c{nth:03}", Array(stored, units="T"), axes, ["--log"] if nth % 7 == 0 else [])


class Said(str):
    """Text of a tick on an axis whose label names a power of ten and a number that all ticks omit."""

    factor, offset = 1.0, 0.0

    def __new__(cls, text, label):
        said = super().__new__(cls, text)
        omitted = re.search(r"\[(?:10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+))?\b.*?(?:from ([^\]]*))?\]", label)
        if omitted and omitted[1]:
            said.factor = float(f"1e{omitted[1].translate(SUPERSCRIPTS)}")
        if omitted and omitted[2]:
            said.offset = number(omitted[2].replace(",", ""))
        return said


def number(text):
    """Returns the number that a label shows; `None` for other texts."""
    shown = number_alone(text)
    return shown * text.factor + text.offset if isinstance(text, Said) and shown is not None else shown


def number_alone(text):
    text = html.unescape(text)
    if "π" in text:
        return math.pi * {"-π": -1, "-π/2": -0.5, "π/2": 0.5, "π": 1}[text]
    power = re.fullmatch(r"(?:(-?[\d.]+)×)?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", text)
    if power:
        text = f"{power[1] or 1}e{power[2].translate(SUPERSCRIPTS)}"
    try:
        return float(text)
    except ValueError:
        return None


def precision(text):
    """Returns half a unit of the last digit that a label shows."""
    text = html.unescape(text)
    if number_alone(text) == 0 or "π" in text:
        return 0.0
    digits, _, power = text.partition("×10")
    decimals = len(digits.partition(".")[2])
    exponent = int(power.translate(SUPERSCRIPTS)) if power else 0
    factor, offset = (text.factor, text.offset) if isinstance(text, Said) else (1.0, 0.0)
    return 0.5 * 10.0 ** max(exponent - decimals, -330) * factor + abs(offset) * 1e-15


class Svg:
    """The elements of a drawing."""

    def __init__(self, text):
        self.text = text
        self.lines = [[tuple(map(float, point.split(","))) for point in points.split()]
                      for points in re.findall(r'<polyline points="([^"]*)"', text)]
        self.texts = [(float(x), float(y), int(size), anchor, html.unescape(said)) for x, y, size, anchor, said in
                      re.findall(r'<text x="([^"]*)" y="([^"]*)" font-size="(\d+)"[^>]*? text-anchor="(\w+)"[^>]*>([^<]*)<', text)]
        frame = re.findall(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)" fill="#222222"/>', text)
        left, top, width, _ = map(float, frame[0])
        self.left, self.right = left + 1, left + width - 1
        self.top, self.bottom = top + 1, float(frame[1][1])
        self.across = [(x, said) for x, y, size, anchor, said in self.texts
                       if size == 12 and anchor == "middle" and abs(y - self.bottom - 18) < 1]
        self.upwards = [(y - 4, said) for x, y, size, anchor, said in self.texts if size == 12 and anchor == "end"
                        and x < self.left]
        self.bar = [(y - 4, said) for x, y, size, anchor, said in self.texts if size == 12 and anchor == "start"
                    and abs(x - self.right - 43) < 1.5 and number(said) is not None]
        self.across = [(place, Said(said, self.label(False))) for place, said in self.across]
        self.upwards = [(place, Said(said, self.label(True))) for place, said in self.upwards]
        beside = " ".join(said for x, _, size, _, said in self.texts if size == 13 and x > self.right + 30)
        self.bar_label = beside
        self.bar = [(place, Said(said, beside)) for place, said in self.bar]

    def label(self, upwards):
        at = [said for x, y, size, anchor, said in self.texts if size == 13
              and (x < self.left - 10 if upwards else y > self.bottom + 25)]
        return " ".join(at)


def fit(numbers, places):
    """Returns the function from numbers to places on a straight line, through the outermost."""
    numbers, places = np.asarray(numbers, "f8"), np.asarray(places, "f8")
    first, last = numbers.argmin(), numbers.argmax()
    # A part, because the difference of two floats may be infinite; the whole where a part of it would be 0.
    half = 0.25 if np.abs(numbers).max() > 1e300 else 1.0
    whole = numbers[last] * half - numbers[first] * half
    if not whole > 0:
        return None
    span = places[last] - places[first]

    def to_place(them):
        return places[first] + (np.asarray(them, "f8") * half - numbers[first] * half) / whole * span

    to_place.number = lambda place: numbers[first] + (place - places[first]) / span * whole / half
    return to_place


def check_ticks(name, what, ticks, label, to_place, axis, is_log=False):
    """Compares the labels at ticks with the numbers at their places."""
    change = np.log10 if is_log else np.asarray
    dates = dates_of(axis)
    check_notation(name, ticks, dates, is_log)
    for place, said in ticks:
        shown = number(said)
        if shown is None or dates and re.fullmatch(r"\d{2,4}|.*[:A-Z].*", said):
            continue
        with np.errstate(all="ignore"):
            off = abs(to_place(change(shown)) - place)
            slack = abs(to_place(change(shown + precision(said))) - to_place(change(shown)))
        expect(name, f"{what} ticks", off <= 0.2 + slack, f"{said!r} is {off} units away")
    if not dates:
        return
    check_dates(name, what, ticks, label, to_place, dates)


def check_notation(name, ticks, dates, is_log):
    """Compares the notations of all ticks of an axis, which have few digits."""
    said = [text for _, text in ticks if not dates or number(text) is not None]
    # Of subnormal numbers, only the ends have texts.
    if len(said) == 2 and "×" in "".join(said):
        return
    if is_log and any(re.search("[⁰¹²³⁴⁵⁶⁷⁸⁹]", text) for text in said):
        return expect(name, "powers of ten", all(re.fullmatch("10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", text) for text in said), said)
    if is_log:
        return
    expect(name, "notations", "×" not in "".join(said) and (dates or len({len(text.partition(".")[2]) for text in said}) < 2), said)
    expect(name, "digits of ticks", all(len(text.strip("-")) <= 7 for text in said), said)


def flaw_of(places):
    """Returns the words for unusual coordinates."""
    if not np.isfinite(places).all():
        return "the coordinate is not finite everywhere"
    if np.unique(places).size < places.size:
        return "the coordinate has equal values"
    steps = np.diff(places)
    return "" if (steps > 0).all() or (steps < 0).all() else "the coordinate is not monotonic"


def dates_of(axis):
    units = (axis.attributes if axis is not None else {}).get("units", "")
    return (units, axis.attributes.get("calendar", "standard")) if " since " in units else None


def check_dates(name, what, ticks, label, to_place, dates):
    """Compares dates at ticks, and the part of the date in the label, with cftime."""
    if ticks and all(number(said) is not None and not re.fullmatch(r"\d{2}|\d{4}", said) for _, said in ticks):
        ends = [cftime.num2date(to_place.number(place), *dates) for place in (ticks[0][0], ticks[-1][0])]
        seconds = abs((ends[1] - ends[0]).total_seconds())
        return expect(name, "times as numbers", seconds < 10, f"{ends} {dates}")
    zone = {"365_day": "noleap", "366_day": "all_leap"}.get(dates[1], dates[1])
    zone = "UTC" if zone in ("standard", "gregorian", "proleptic_gregorian") else zone
    context = re.search(rf"\[(?:([^\],]*), )?{zone}(?:: [^\]]*)?\]", label)
    expect(name, "labels of time", context, label)
    context = (context[1] or "") if context else ""
    has_year = False
    for place, said in ticks:
        value = to_place.number(place)
        # The place is rounded to a hundredth of a unit.
        slack = abs(to_place.number(place + 0.03) - value)
        near = [cftime.num2date(value + shift, dates[0], dates[1]) for shift in (-slack, 0, slack)]
        found = None
        for date in candidates(said, context, near):
            number_of = cftime.date2num(date, dates[0], dates[1])
            if abs(number_of - value) <= slack + abs(value) * 1e-12:
                found = date
        has_year |= bool(re.match(r"\d{4}", said))
        expect(name, f"{what} dates", found is not None, f"{said!r} [{context}] is at {near[1]} ({dates})")
    expect(name, "years of dates", has_year or context[:4].isdigit() or not ticks, f"{ticks} [{context}]")


def candidates(said, context, near):
    """Returns the dates that a label can mean, near some dates."""
    for date in near:
        year, month, day, clock = date.year, date.month, date.day, (0, 0, 0)
        parts = said.split("-")
        if ":" in said:
            clock = tuple(map(int, (said + ":00").split(":")[:3]))
        elif re.fullmatch(r"\d{4}", said):
            year, month, day = int(said), 1, 1
        elif re.fullmatch(r"\d{2}", said):
            day = int(said)
        elif said in MONTHS:
            month, day = MONTHS.index(said) + 1, 1
        elif len(parts) < 2 or parts[-2] not in MONTHS:
            return
        else:
            year = int(parts[0]) if len(parts) == 3 else year
            month, day = MONTHS.index(parts[-2]) + 1, int(parts[-1])
        known = context.split("-")
        if context and int(known[0]) != year or len(known) > 1 and MONTHS.index(known[1]) + 1 != month \
                or len(known) > 2 and int(known[2]) != day:
            continue
        try:
            yield cftime.datetime(year, month, day, *clock, calendar=date.calendar)
        except ValueError:
            continue


def check_line(case, svg, most):
    """Compares the points of a line with the data."""
    name, values = case.name, case.value.values.ravel()
    axis = case.axes[0]
    places = axis.values if axis is not None else np.arange(values.size, dtype="f8")
    is_placed = np.isfinite(values) & (values > 0 if case.is_log else True)
    change = np.log10 if case.is_log else np.asarray
    points = [point for line in svg.lines for point in line]
    if values.size > most:
        return check_long_line(case, svg, places, np.where(is_placed, values, np.nan))
    pieces = [[]]
    for place, value, is_here in zip(places, values, is_placed & np.isfinite(places)):
        if is_here:
            pieces[-1].append((place, float(change(value))))
        else:
            pieces.append([])
    pieces = [piece if len(piece) > 1 else piece * 2 for piece in pieces if piece]
    expect(name, "pieces", [len(piece) for piece in pieces] == [len(line) for line in svg.lines],
           f"{[len(line) for line in svg.lines]}, expected {[len(piece) for piece in pieces]}")
    label = svg.label(False)
    expect(name, "words for unusual coordinates", flaw_of(places) in label and (flaw_of(places) or "coordinate" not in label), label)
    if not pieces:
        said = ">no coordinate is finite<" if is_placed.any() else ">all values are "
        return expect(name, "words for no values", said in svg.text)
    data = [point for piece in pieces for point in piece]
    if len(points) == len(data):
        check_axes(case, svg, np.array(data), np.array(points))


def check_long_line(case, svg, places, values):
    """Checks that each point is an element, in order, and that the extremes are among them."""
    points = np.array([point for line in svg.lines for point in line])
    xs, ys = points.T
    with np.errstate(all="ignore"):
        change = np.log10 if case.is_log else np.asarray
        values = change(values)
    here = np.isfinite(places) & np.isfinite(values)
    to_x = fit([places[here].min(), places[here].max()], [xs.min(), xs.max()])
    to_y = fit([values[here].min(), values[here].max()], [ys.max(), ys.min()])
    if to_x is None or to_y is None:
        return
    elements, at = np.column_stack([to_x(places), to_y(values)]), 0
    for point in points:
        off = np.abs(elements[at:] - point).max(axis=1)
        found = np.flatnonzero(off < 0.15)
        expect(case.name, "elements of long lines", found.size, f"{point}")
        at += int(found[0]) if found.size else 0
    data = [(places[here].min(), values[here].min()), (places[here].max(), values[here].max())]
    check_axes(case, svg, np.array(data), np.array([(xs.min(), ys.max()), (xs.max(), ys.min())]))


def check_axes(case, svg, data, points):
    axis = case.axes[0]
    for what, ticks, label, of, nth, is_log in [
        ("x", svg.across, svg.label(False), axis, 0, False),
        ("y", svg.upwards, svg.label(True), case.value, 1, case.is_log),
    ]:
        to_place = fit(data[:, nth], points[:, nth])
        if to_place is None:
            # All are the same: the ticks show where it is.
            numbers = [(number(said), place) for place, said in ticks if number(said) is not None]
            if len(numbers) < 2 or dates_of(of):
                continue
            change = np.log10 if is_log else np.asarray
            to_place = fit([change(one) for one, _ in numbers], [place for _, place in numbers])
            if to_place is None:
                continue
        off = np.abs(to_place(data[:, nth]) - points[:, nth]).max()
        expect(case.name, f"{what} of points", off < 0.2, f"{off} units away")
        sign = to_place(data[:, nth].max()) - to_place(data[:, nth].min())
        is_right = sign >= 0 if nth == 0 else sign <= 0
        expect(case.name, f"direction of {what}", is_right)
        if len(ticks) > 0:
            check_ticks(case.name, what, ticks, label, to_place, of, is_log)


def edges_of(places):
    between = (places[1:] + places[:-1]) / 2
    if not between.size:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    return np.concatenate([[places[0] - (between[0] - places[0])], between, [places[-1] + (places[-1] - between[-1])]])


def check_grid(case, svg):
    """Compares places and colours of cells with the coordinates and the values that ticks and colour bar show."""
    name, values = case.name, case.value.values
    is_placed = np.isfinite(values) & (values > 0 if case.is_log else True)
    if not is_placed.any():
        return expect(name, "words for no values", ">all values are " in svg.text)
    cells = {}
    for shape, fill in re.findall(r'<path d="([^"]*)" fill="#(\w{6})" shape-rendering', svg.text):
        for left, top, right, bottom in re.findall(r"M([\d.-]+) ([\d.-]+)H([\d.-]+)V([\d.-]+)H[\d.-]+z", shape):
            x, y = sorted([float(left), float(right)]), sorted([float(top), float(bottom)])
            cells[x[0], y[0], x[1], y[1]] = np.array([int(fill[at:at + 2], 16) for at in (0, 2, 4)])
    expect(name, "number of cells", len(cells) == values.size, f"{len(cells)} of {values.size}")
    pixels = []
    for nth, (axis, ticks, first, last) in enumerate([(case.axes[0], svg.upwards, 1, 3), (case.axes[1], svg.across, 0, 2)]):
        places = axis.values if axis is not None else np.arange(values.shape[nth], dtype="f8")
        is_ordered = np.isfinite(places).all() and (np.all(np.diff(places) > 0) or np.all(np.diff(places) < 0))
        label = svg.label(nth == 0)
        if not is_ordered:
            expect(name, "words for unusual coordinates", f"index: {flaw_of(places)}" in label, label)
            places, axis = np.arange(values.shape[nth], dtype="f8"), None
        edges = edges_of(places)
        found = sorted({rect[first] for rect in cells} | {rect[last] for rect in cells})
        is_down = axis is None or axis.attributes.get("positive") == "down"
        ends = found[::-1] if nth == 0 and not is_down else found
        to_place = fit([edges.min(), edges.max()], [ends[0], ends[-1]])
        off = np.abs(np.sort(to_place(edges)) - found).max() if len(found) == edges.size else np.inf
        expect(name, "edges of cells", off < 0.2, f"{off}")
        check_ticks(name, "xy"[1 - nth], ticks, label, to_place, axis)
        pixels.append(to_place(edges))
    bar = [(number(said), place) for place, said in svg.bar]
    change = np.log10 if case.is_log else np.asarray
    expect(name, "titles", not svg.bar_label.startswith("v") or not re.search('font-weight="bold"[^>]*>v<', svg.text), svg.bar_label)
    check_notation(name, svg.bar, None, case.is_log)
    stops = re.findall(r'<stop offset="([\d.]+)" stop-color="#(\w{6})"', svg.text)
    gradient = re.search(r'<rect x="[\d.]+" y="([\d.]+)" width="16" height="([\d.]+)" fill="url', svg.text)
    top, height = map(float, gradient.groups())
    to_place = fit([change(one) for one, _ in bar], [place for _, place in bar]) if len(bar) > 1 else None
    if to_place is None:
        COUNTS["colour bars without two numbers"] += 1
        return
    slack = max(abs(to_place(change(one + precision(said))) - to_place(change(one))) if not case.is_log else 0.1
                for (one, _), (_, said) in zip(bar, svg.bar)) / height
    offsets = [float(offset) for offset, _ in stops]
    colours = np.array([[int(colour[at:at + 2], 16) for at in (0, 2, 4)] for _, colour in stops])
    gaps = set()
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            x, y = sorted(pixels[1][column:column + 2]), sorted(pixels[0][row:row + 2])
            want = np.array([x[0], y[0], x[1], y[1]])
            rect = min(cells, key=lambda rect: np.abs(np.array(rect) - want).max())
            if not is_placed[row, column]:
                gaps.add(tuple(cells[rect]))
                continue
            part = 1 - (to_place(change(values[row, column])) - top) / height
            span = [np.clip(part + shift, 0, 1) for shift in np.linspace(-0.01 - slack, 0.01 + slack, 9)]
            shades = np.array([[np.interp(at, offsets, colours[:, nth]) for nth in range(3)] for at in span])
            off = (np.maximum(shades.min(axis=0) - cells[rect], cells[rect] - shades.max(axis=0))).max()
            expect(name, "colours of cells", off <= 3, f"{values[row, column]} at {row}, {column}: {off}")
    expect(name, "colours of gaps", len(gaps) <= 1, gaps)
    with np.errstate(invalid="ignore"):
        rest = case.value.values[~is_placed]
        words = ["missing"] * bool(rest.size) + ["infinite"] * bool(np.isinf(rest).any())
        words += ["not above 0"] * bool(case.is_log and (rest <= 0).any() and rest.size)
    for word in words:
        expect(name, "legends", any(word in said for *_, said in svg.texts), f"no {word!r}")
    expect(name, "legends", rest.size or not any(said.startswith("missing") for *_, said in svg.texts), "no gap")


def parts_of(case):
    """Returns the magnitudes and the phases of an array as arrays of their own."""
    whole = case.value.stored.astype("c16")
    return [Case(case.name, Array(np.abs(whole)), case.axes, case.options), Case(case.name, Array(np.angle(whole)), case.axes)]


def check_part(part, svg, most):
    """Compares a panel with one part of an array."""
    if part.value.stored.ndim == 1:
        check_line(part, svg, most)
    else:
        check_grid(part, svg)


def check_complex(case, text, run, root):
    """Compares both panels of a drawing with the magnitudes and the phases."""
    panels = re.findall(r'<g transform="translate[^>]*>(.*?)</g>', text, re.S)
    expect(case.name, "panels", len(panels) == 2, len(panels))
    for part, word, label, panel in zip(parts_of(case), ["magnitude", "phase"], ["magnitude of v [T]", "phase of v [rad]"], panels):
        check_part(part, Svg(panel), 250)
        expect(case.name, "names of panels", label in re.sub("<[^>]*>", " ", panel).replace("  ", " "), label)
        one = root / f"{case.name}-{word}.svg"
        run("plot", root / "complex", f"{case.name}/v.ra", "-o", one, "-q", "--part", word, *part.options)
        check_part(part, Svg(one.read_text()), 650)
        if word == "phase":
            ticks = [said for _, said in (Svg(panel).bar or Svg(panel).upwards)]
            expect(case.name, "ticks of phases", set(ticks) == {"-π", "-π/2", "0", "π/2", "π"}, ticks)


def check_large_phases(root, run):
    """A large image shows the phase of one element in each cell."""
    random = np.random.default_rng(8)
    stored = (random.normal(size=(700, 30)) + 1j * random.normal(size=(700, 30))).astype("c8")
    Array(stored).write(root / "large.ra", [700, 30])
    run("plot", root / "large.ra", "--part", "phase", "-o", root / "large.svg", "-q")
    text = (root / "large.svg").read_text()
    expect("large", "notes about large images", "one of several elements" in text)
    (root / "large.png").write_bytes(base64.b64decode(re.search(r'href="data:image/png;base64,([^"]*)"', text)[1]))
    run("convert", root / "large.png", root / "pixels.ra", "-q")
    file = (root / "pixels.ra").read_bytes()
    shape, rows = struct.unpack("<3Q", file[48:72]), stored.shape[0]
    pixels = np.frombuffer(file[72:], "u1").reshape(shape, order="F").astype("f8")
    step = next(step for step in range(1, rows) if -(-rows // step) == len(pixels))
    first = min((step - 1) // 2, (rows - 1) % step)
    part = (np.angle(stored[first::step]) + math.pi) / (2 * math.pi)
    stops = re.findall(r'<stop offset="([\d.]+)" stop-color="#(\w{6})"', text)
    offsets = [float(offset) for offset, _ in stops]
    colours = [np.interp(part, offsets, [int(colour[at:at + 2], 16) for _, colour in stops]) for at in (0, 2, 4)]
    off = np.abs(np.stack(colours, -1) - pixels).max()
    expect("large", "colours of large images", step > 1 and off <= 1, f"{off}, step {step}")
    expect("large", "ends of the colours of phases", stops[0][1] == stops[-1][1], stops)


def check_several_lines(root, run):
    """Compares the lines of `--line` with the rows or columns of arrays."""
    random = np.random.default_rng(9)
    for nth, (shape, part) in enumerate([((60, 5), "..."), ((4, 80), ":,::2"), ((7, 7), "..."), ((3, 50, 6), "1,10:40,::-1"),
                                         ((3000, 2), "..."), ((1, 40), "..."), ((2, 9, 30), ":,4")]):
        name, stored = f"s{nth}", random.normal(size=shape).cumsum(axis=0)
        coordinate = Array(np.arange(shape[-1]) * 0.5 + 1, units="m")
        folder = root / "lines" / name
        coordinate.write(folder / "x.ra", ["x"])
        Array(stored, units="V").write(folder / "v.ra", [*shape[:-1], "x"])
        run("plot", root / "lines", f"{name}/v.ra", "-o", folder / "v.svg", "-q", "--line", "--slice", part)
        svg = Svg((folder / "v.svg").read_text())
        dimensions = tuple(slice(*[int(end) if end else None for end in one.split(":")]) if ":" in one else int(one)
                           for one in part.split(",")) if part != "..." else ...
        values, at = stored[dimensions], np.broadcast_to(coordinate.values, shape)[dimensions]
        columns = values.T if values.shape[0] >= values.shape[1] else values
        along = np.arange(columns.shape[1], dtype="f8") if columns is not values else at[0]
        expect(name, "number of lines", len(svg.lines) == len(columns), f"{len(svg.lines)} of {len(columns)}")
        # Labels and ticks of the values show where they are.
        to_y = fit([number(said) for _, said in svg.upwards], [place for place, _ in svg.upwards])
        for line, want in zip(svg.lines, columns):
            points, ys = np.array(line), to_y(want)
            if len(line) == len(want):
                expect(name, "values of several lines", np.abs(points[:, 1] - ys).max() < 1.6, points)
                steps = np.diff(points[:, 0])
                expect(name, "places of several lines", np.ptp(steps) < 0.05 and steps[0] * (along[1] - along[0]) > 0, steps)
            else:
                ends = np.abs([points[:, 1].min() - ys.min(), points[:, 1].max() - ys.max()])
                expect(name, "extremes of several lines", ends.max() < 1.6, ends)
        names = [said for _, _, size, anchor, said in svg.texts if size == 12 and anchor == "start"]
        if columns is not values:
            wanted = [f"x = {one:g} m" for one in at[0]]
            expect(name, "names of lines", names == wanted, f"{names}, expected {wanted}")
        expect(name, "colours of lines", len(set(re.findall(r'stroke="(#\w+)"', svg.text))) == len(columns), svg.text)


def check_photo(root, run):
    """Compares the colours of photos in a report with the channels on a white ground."""
    random = np.random.default_rng(10)
    for channels in (3, 4):
        stored = random.integers(0, 255, (20, 30, channels), dtype="u1", endpoint=True)
        Array(stored).write(root / f"photo{channels}" / "v.ra", list(stored.shape))
        page = root / f"photo{channels}.html"
        run("report", root / f"photo{channels}", "-o", page, "-q", "--no-verify")
        link = re.search(r'alt="Colour image[^>]*src="data:image/png;base64,([^"]*)"', page.read_text())
        (root / "photo.png").write_bytes(base64.b64decode(link[1]))
        run("convert", root / "photo.png", root / "photo.ra", "-q", "--force")
        file = (root / "photo.ra").read_bytes()
        pixels = np.frombuffer(file[72:], "u1").reshape(struct.unpack("<3Q", file[48:72]), order="F")
        opacity = stored[..., 3:] / 255 if channels == 4 else 1.0
        want = np.floor(stored[..., :3] * opacity + 255 * (1 - opacity) + 0.5)
        Array(np.arange(20.0), units="m").write(root / f"photo{channels}" / "y.ra", ["y"])
        Array(stored).write(root / f"photo{channels}" / "v.ra", ["y", *stored.shape[1:]])
        run("report", root / f"photo{channels}", "-o", page, "-q", "--no-verify", "--force")
        expect("photo", "arrays that are not photos", "Colour image" not in page.read_text())
        expect("photo", "colours of photos", pixels.shape == want.shape and np.abs(want - pixels).max() <= 1, pixels.shape)


def check_statistics(case, shown):
    """Compares the statistics of `show` with NumPy."""
    name, array = case.name, case.value
    stored = (array.values if array.scaling else array.stored).ravel()[~array.missing.ravel()]
    finite = stored[np.isfinite(stored)]
    expect(name, "counts", shown["count"] == array.stored.size and shown["finite"] == finite.size
           and shown["missing"] == int(array.missing.sum()) and shown["nan"] == int(np.isnan(stored).sum())
           and shown["positive_infinite"] == int((stored == np.inf).sum())
           and shown["negative_infinite"] == int((stored == -np.inf).sum()), shown)
    if not finite.size:
        return
    for word, value in [("min", finite.min()), ("max", finite.max())]:
        expect(name, "extremes", stored.dtype.type(shown[word]) == value, f"{word} {shown[word]}, expected {value}")
    with np.errstate(all="ignore"):
        wide = finite.astype("f8")
        scale = np.abs(wide).max() or 1.0
        mean, std = wide.mean(), wide.std()
        exact = [(wide.astype("longdouble") / scale).mean() * scale, (wide.astype("longdouble") / scale).std() * scale]
    for word, value, other in [("mean", mean, exact[0]), ("std", std, exact[1])]:
        # Squares of such numbers leave the range of a float, and NumPy has no better result.
        if word == "std" and shown[word] is None and scale > 1e150:
            continue
        said = shown[word] if shown[word] is not None else np.inf
        is_near = not np.isfinite(value) or any(one == said or abs(said - one) <= 1e-9 * max(abs(one), scale) for one in (value, float(other)))
        expect(name, "moments", is_near, f"{word} {said}, expected {value}")
    bins = shown.get("histogram")
    edges = np.array(bins["edges"])
    upper = np.concatenate([[-np.inf], edges[1:-1], [np.inf]])
    counts = [int(((wide >= low) & (wide < high)).sum()) for low, high in zip(upper, upper[1:])]
    expect(name, "histograms", bins["counts"] == counts, f"{bins['counts']}, expected {counts}")
    if len(edges) == 13 and finite.dtype.kind == "f" and scale > 1e-300:
        half = np.linspace(wide.min() / 2, wide.max() / 2, 13)
        expect(name, "edges of histograms", np.allclose(edges / 2, half, rtol=1e-9, atol=1e-9 * np.abs(half).max()), edges)


def check_card(case, card):
    """Compares the numbers of a card of the report with NumPy."""
    name, values = case.name, case.value.values.ravel()
    finite = values[np.isfinite(values)]
    facts = dict(re.findall(r"<dt>(\w+)</dt><dd(?: title=\"[^\"]*\")?>([^<]*)</dd>", card.split("<details")[0]))
    count = re.search(r'<p class="n">([\d,]+) elements?', card)
    expect(name, "elements of cards", count and int(count[1].replace(",", "")) == values.size, count)
    expect(name, "words of cards for no values", ("all values are " in card) == (not finite.size))
    if values.size > 1 and finite.size and "from" not in facts:
        with np.errstate(all="ignore"):
            moments = {"min": finite.min(), "max": finite.max(), "mean": finite.mean(), "std": finite.std()}
        for word, value in moments.items():
            if word in facts and np.isfinite(value) and abs(value) > 1e-290:
                # A float16 has the digits that distinguish it from others.
                digits = 5e-4 if case.value.stored.dtype == "f2" else 2e-5
                near = abs(float(facts[word]) - value) <= digits * max(abs(value), np.abs(finite).max() * 1e-4) + (digits > 1e-4) * 3e-8
                expect(name, "facts of cards", near, f"{word} {facts[word]}, expected {value}")
    path = re.search(r'<svg class="h".*?<path d="M0 32([^"]*)V32z"', card)
    if path:
        tops, at = [], 32
        for step in re.findall(r"(?:V(\d+))?h1", path[1]):
            at = int(step) if step else at
            tops.append(32 - at)
        with np.errstate(all="ignore"):
            counts = None
            if case.value.stored.dtype.kind == "f" and len(tops) > 1 and np.ptp(finite / 2) > 1e-290:
                half = finite / 2
                edges = np.linspace(half.min(), half.max(), len(tops) + 1)[1:-1]
                # Elements on an edge may be rounded to either side.
                is_sure = np.abs(half[:, None] - edges).min(axis=1) > 1e-12 * np.abs(half).max()
                if is_sure.all():
                    counts = np.bincount(np.searchsorted(edges, half, side="right"), minlength=len(tops))
        if counts is not None:
            heights = [max(32 * int(one) // int(counts.max()), int(one > 0)) for one in counts]
            expect(name, "bars of cards", heights == tops, f"{tops}, expected {heights}")


def check_sparkline(case, card):
    """Compares the small line of a card with the data."""
    name, values = case.name, case.value.values.ravel()
    axis = case.axes[0]
    places = axis.values if axis is not None else np.arange(values.size, dtype="f8")
    drawn = re.search(r'<svg class="g"[^>]*><path d="([^"]*)"/>', card)
    is_here = np.isfinite(values) & np.isfinite(places)
    if not drawn or not is_here.any() or values.size > 48 or np.ptp(places[is_here]) == 0:
        return
    xs = [float(x) for piece in drawn[1].split("M")[1:] for x in piece.removesuffix("h0").split()[::2]]
    to_x = fit(places[is_here], np.where(places[is_here] == places[is_here].max(), max(xs), min(xs)))
    expected = {round(float(x)) for x in to_x(places[is_here])}
    off = max(min(abs(x - one) for one in expected) for x in xs)
    off = max(off, max(min(abs(x - one) for x in xs) for one in expected))
    expect(name, "points of small lines", off <= 1.01, f"{off}: {sorted(set(xs))}, expected {sorted(expected)}")


def cards_of(page):
    return {html.unescape(name): card for name, card in re.findall(r'<article class="c" id="([^"]*)"(.*?)</article>', page, re.S)}


def main(program, directory):
    root = pathlib.Path(directory)
    everything = list(cases())
    for case in everything:
        case.write(root / "all")
        # A page with few arrays has larger pictures.
        if case.name[1:].endswith(("2", "7")) and case.name < "l150":
            case.write(root / "few")

    def run(*words, code=0):
        ran = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
        assert ran.returncode == code, f"{words}: {ran.returncode} {ran.stderr}"
        return ran.stdout

    def check(case):
        member = f"{case.name}/v.ra"
        drawn = root / f"{case.name}.svg"
        run("plot", root / "all", member, "-o", drawn, "-q", *case.options)
        text = drawn.read_text()
        expect(case.name, "numbers in the drawing", not re.search(r'="[^"]*(NaN|inf)', text))
        svg = Svg(text)
        label = svg.bar and svg.label(False) or svg.label(True)
        if case.value.stored.ndim == 1:
            check_line(case, svg, 650)
            units = {"degree_Celsius": "°C", "m s-1": "m s⁻¹"}.get(case.value.attributes.get("units"))
            units = units and rf"\[(10\S+ )?{units}( from [^\]]+)?\]"
            expect(case.name, "units of plots", units is None or re.search(units, label), label)
        else:
            check_grid(case, svg)
        shown = json.loads(run("show", root / "all", member, "--stats", "--json"))
        check_statistics(case, shown["statistics"])
        said = run("show", root / "all", member, "--stats")
        numbers = said.partition("Statistics")[2]
        units = case.value.attributes.get("units")
        if units and "min" in numbers:
            expect(case.name, "units of statistics", units in numbers, said)
        for axis, dimension in zip(case.axes, shown["dimensions"]):
            dates = dates_of(axis)
            if dates and dimension.get("dates"):
                for value, date in zip((axis.stored[0], axis.stored[-1]), dimension["dates"]):
                    want = cftime.num2date(value, *dates)
                    if want.microsecond:
                        want = want + datetime.timedelta(microseconds=500_000)
                    want = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z".format(*want.timetuple()[:6])
                    expect(case.name, "dates of show", date == want, f"{date}, expected {want} ({value} {dates})")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(check, everything))
    both = list(complex_cases())
    for case in both:
        case.write(root / "complex")
    for case in both:
        drawn = root / f"{case.name}.svg"
        run("plot", root / "complex", f"{case.name}/v.ra", "-o", drawn, "-q", *case.options)
        check_complex(case, drawn.read_text(), run, root)
    check_large_phases(root, run)
    check_several_lines(root, run)
    check_photo(root, run)
    page = root / "complex.html"
    run("report", root / "complex", "-o", page, "-q", "--no-verify")
    cards = cards_of(page.read_text())
    for case in both:
        panels = cards[f"{case.name}/v"].split('<label class="z"')[1:]
        expect(case.name, "panels of cards", len(panels) == 2, len(panels))
        for part, name, panel in zip(parts_of(case), ['<p class="n">magnitude</p>', '<p class="n">phase [rad]</p>'], panels):
            expect(case.name, "names of panels of cards", name in panel, panel)
            if part.value.stored.ndim == 1:
                check_line(Case(part.name, part.value, part.axes), Svg(panel.split("</svg>")[0]), 240)
            elif "phase" in name:
                expect(case.name, "ends of phases in cards", '<p class="tw">-3.14<i></i>3.14</p>' in panel, panel)
    by_name = {case.name: case for case in everything}
    for part in ("few", "all"):
        page = root / f"{part}.html"
        run("report", root / part, "-o", page, "-q", "--no-verify")
        for name, card in cards_of(page.read_text()).items():
            name, _, last = name.rpartition("/")
            if last != "v":
                continue
            case = by_name[name]
            check_card(case, card)
            if case.value.stored.ndim == 1 and "<polyline" in card:
                check_line(Case(case.name, case.value, case.axes), Svg(card.split('class="h"')[0]), 240)
            elif case.value.stored.ndim == 1:
                check_sparkline(case, card)
    for what, count in sorted(COUNTS.items()):
        print(f"{count:7} {what}")
    print("\n".join(WRONG[:60]))
    kinds = collections.Counter(one.split(": ")[1] for one in WRONG)
    if WRONG:
        sys.exit(f"{len(WRONG)} wrong: {dict(kinds)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
