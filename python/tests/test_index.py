"""Indices: the same results and errors as in NumPy."""

import numpy as np
import pytest

import ra_pack

SHAPE = (4, 1, 5, 3)


@pytest.fixture(scope="module")
def arrays(tmp_path_factory):
    path = tmp_path_factory.mktemp("index") / "pack.zip"
    expected = np.arange(np.prod(SHAPE), dtype="<i4").reshape(SHAPE)
    with ra_pack.PackWriter(path) as writer:
        for order in "CF":
            writer.add(order, expected, order=order)
    return [(array, expected) for array in ra_pack.open(path).values()]


def random_part(random, length):
    """Return an index of a dimension. Some are out of range."""
    bound = lambda: None if random.random() < 0.3 else int(random.integers(-2 * length - 1, 2 * length + 2))
    match random.integers(0, 10):
        case 0 | 1 | 2:
            return int(random.integers(-length, length))
        case 3:
            return np.int16(random.integers(-length - 1, length + 1))
        case _:
            step = int(random.choice([-3, -2, -1, 1, 2, 3]))
            return slice(bound(), bound(), None if step == 1 else step)


def random_key(random):
    count = int(random.integers(0, len(SHAPE) + 1))
    parts = [random_part(random, length) for length in SHAPE[:count]]
    if random.random() < 0.4:
        parts.insert(int(random.integers(0, len(parts) + 1)), Ellipsis)
    while random.random() < 0.2:
        parts.insert(int(random.integers(0, len(parts) + 1)), None)
    return parts[0] if len(parts) == 1 and random.random() < 0.5 else tuple(parts)


def outcome(array, key):
    try:
        return array[key]
    except IndexError as error:
        return str(error)


def test_random_indices_give_what_numpy_gives(arrays):
    random = np.random.default_rng(3)
    refused = 0
    for _ in range(3000):
        key = random_key(random)
        for array, expected in arrays:
            wanted, found = outcome(expected, key), outcome(array, key)
            if isinstance(wanted, str):
                refused += 1
                assert found == wanted, key
            else:
                assert type(found) is type(wanted), key
                np.testing.assert_array_equal(found, wanted, str(key), strict=True)
    assert refused > 20


@pytest.mark.parametrize("key", [(0,) * 5, (..., ...), 4, -5, (0, 1), 2**70, -(2**70)], ids=str)
def test_invalid_indices_have_the_errors_of_numpy(arrays, key):
    for array, expected in arrays:
        with pytest.raises(IndexError):
            expected[key]
        with pytest.raises(IndexError):
            array[key]


@pytest.mark.parametrize("key", ["a", 1.0, np.float64(1), [0.5], (0, "a"), ["a"]], ids=repr)
def test_other_indices_are_refused_as_by_numpy(arrays, key):
    for array, expected in arrays:
        with pytest.raises(IndexError):
            expected[key]
        with pytest.raises(IndexError, match="integer"):
            array[key]


def random_array_part(random, length):
    """Return an index of a dimension, often an array."""
    shape = tuple(random.integers(1, 3, size=random.integers(0, 3)))
    match random.integers(0, 8):
        case 0 | 1:
            return random_part(random, length)
        case 2 | 3:
            return random.random(length) < 0.5
        case 4:
            return random.integers(-length, length, size=int(random.integers(0, 4)))
        case 5:
            return random.integers(-length, length + int(random.random() < 0.05), size=shape)
        case 6:
            return random.integers(-length, length, size=2).tolist()
        case _:
            return np.int16(random.integers(-length, length))


def random_array_key(random):
    count = int(random.integers(0, len(SHAPE) + 1))
    parts = [random_array_part(random, length) for length in SHAPE[:count]]
    if count > 1 and random.random() < 0.2:
        parts[:2] = [random.random(SHAPE[:2]) < 0.5]
    if random.random() < 0.4:
        parts.insert(int(random.integers(0, len(parts) + 1)), Ellipsis)
    while random.random() < 0.15:
        parts.insert(int(random.integers(0, len(parts) + 1)), None)
    while random.random() < 0.05:
        parts.insert(int(random.integers(0, len(parts) + 1)), bool(random.integers(0, 2)))
    return parts[0] if len(parts) == 1 and random.random() < 0.5 else tuple(parts)


# NumPy before 2.3 warns of a number out of range if nothing is selected.
@pytest.mark.filterwarnings("ignore:Out of bound index:DeprecationWarning")
def test_ten_thousand_random_indices_with_arrays_give_what_numpy_gives(arrays):
    random = np.random.default_rng(5)
    refused = 0
    for number in range(10_000):
        key = random_array_key(random)
        array, expected = arrays[number % 2]
        wanted, found = outcome(expected, key), outcome(array, key)
        if isinstance(wanted, str):
            refused += 1
            assert isinstance(found, str), key
        elif isinstance(found, str):
            # NumPy does not look at numbers out of range if nothing is selected.
            assert np.size(wanted) == 0 and "out of bounds" in found, key
        else:
            assert type(found) is type(wanted), key
            np.testing.assert_array_equal(found, wanted, str(key), strict=True)
    assert refused > 100


def test_each_axis_and_points_are_selected_as_by_numpy(arrays):
    random = np.random.default_rng(7)
    for number in range(1000):
        array, expected = arrays[number % 2]
        outer = [random_part(random, length) if random.random() < 0.3 else random.random(length) < 0.5 for length in SHAPE]
        outer = [part % length if isinstance(part, (int, np.integer)) else part for part, length in zip(outer, SHAPE)]
        wanted, axis = expected, 0
        for part in outer:
            rows = part.nonzero()[0] if isinstance(part, np.ndarray) else part
            wanted = wanted[(slice(None),) * axis + (rows,)]
            axis += not isinstance(part, (int, np.integer))
        np.testing.assert_array_equal(array.oindex[tuple(outer)], wanted, str(outer))
        points = [
            random.integers(-length, length, size=(2, 3)) if random.random() < 0.6 else slice(None, None, -1)
            for length in SHAPE
        ]
        axes = [axis for axis, part in enumerate(points) if isinstance(part, np.ndarray)]
        wanted = expected[tuple(slice(None) if axis in axes else part for axis, part in enumerate(points))]
        wanted = np.moveaxis(wanted, axes, range(len(axes)))[tuple(points[axis] for axis in axes)]
        np.testing.assert_array_equal(array.vindex[tuple(points)], wanted, str(points))
    with pytest.raises(IndexError, match="vindex"):
        arrays[0][0].oindex[[[0]]]


def test_few_rows_are_read_as_runs(tmp_path):
    path = tmp_path / "pack.zip"
    with ra_pack.PackWriter(path) as writer:
        writer.add("a", np.arange(40_000).reshape(2000, 20))
    array = ra_pack.open(path)["a"]
    from ra_pack import _index

    read = []
    found = _index.select(array, ([0, 1, -1, 0],), lambda key: read.append(key) or array[key])
    np.testing.assert_array_equal(found, array.read()[[0, 1, -1, 0]])
    assert [key[0] for key in read] == [slice(0, 2), slice(1999, 2000)]


def test_a_step_of_zero_is_refused(arrays):
    with pytest.raises(ValueError, match="zero"):
        arrays[0][0][::0]
