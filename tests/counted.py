"""Work counted in calls of functions: how it grows is the same on an idle machine and on a busy one."""

import sys
from collections import Counter
from collections.abc import Callable


def calls(work: Callable[[], object]) -> int:
    """How many functions, of Python's and of C's, are called while this work is done."""
    events = Counter[str]()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, argument: events.update((event,)))
    try:
        work()
    finally:
        sys.setprofile(before)
    return events["call"] + events["c_call"]


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Fail where work of twice the size takes far more than twice the calls."""
    once, twice = calls(lambda: work(size)), calls(lambda: work(2 * size))
    assert twice < 2.5 * once, f"{once} calls for {size}, {twice} for {2 * size}"
