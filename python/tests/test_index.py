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


@pytest.mark.parametrize("key", [True, [0, 1], "a", 1.0, np.array([0, 1]), np.bool_(True), (0, [1])], ids=repr)
def test_other_indices_are_refused_with_an_alternative(arrays, key):
    for array, _ in arrays:
        with pytest.raises(IndexError, match=r"read\(\)"):
            array[key]


def test_a_step_of_zero_is_refused(arrays):
    with pytest.raises(ValueError, match="zero"):
        arrays[0][0][::0]
