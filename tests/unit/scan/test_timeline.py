from kvfence.findings.exposure import Hour
from kvfence.scan.timeline import HOUR_MS, HOURS_MAX, Timeline


def test_hours_are_added_up_and_come_in_order():
    """What has no time is in none."""
    line = Timeline()
    for hour, exposed in ((5, 1), (3, 0), (None, 1), (5, 0)):
        line.add(hour, requests=2, exposed=exposed)
    assert line.hours() == (
        Hour(from_ms=3 * HOUR_MS, requests=2, exposed=0),
        Hour(from_ms=5 * HOUR_MS, requests=4, exposed=1),
    )


def test_scattered_times_make_no_picture_and_take_no_memory():
    """A log whose times are noise has as many hours as lines."""
    line = Timeline()
    for hour in range(HOURS_MAX + 50):
        line.add(hour, requests=1, exposed=0)
    assert line.hours() == ()
    assert line._counts == {}
