import statistics

from support.source_tree import modules

LINES_MAX = 400
LINES_MEDIAN_MAX = 150
FUNCTION_MAX = 70
FUNCTION_MEDIAN_MAX = 8
FUNCTION_P90_MAX = 30


def test_no_file_is_over_its_limit_and_the_median_is_small():
    """A file has one subject: 400 lines at most, 150 at the median."""
    lines = {module.name: module.text.count("\n") for module in modules()}
    assert {name: count for name, count in lines.items() if count > LINES_MAX} == {}
    assert statistics.median(lines.values()) <= LINES_MEDIAN_MAX


def test_functions_are_short():
    """70 lines at most, 8 at the median, 30 at the ninth decile, docstrings aside."""
    found = [
        (length, f"{module.file}:{line} {name}") for module in modules() for name, line, length in module.functions()
    ]
    lengths = sorted(length for length, _ in found)
    assert [where for length, where in found if length > FUNCTION_MAX] == []
    assert statistics.median(lengths) <= FUNCTION_MEDIAN_MAX
    assert lengths[len(lengths) * 9 // 10] <= FUNCTION_P90_MAX
