"""Work counted in calls of functions: how it grows is the same on an idle machine and on a busy one."""

import sys
from collections import Counter
from collections.abc import Callable


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Fail where work of twice the size calls far more than twice as many functions, Python's and C's together."""

    def calls(many: int) -> int:
        events, before = Counter[str](), sys.getprofile()
        sys.setprofile(lambda frame, event, argument: events.update((event,)))
        try:
            work(many)
        finally:
            sys.setprofile(before)
        return events["call"] + events["c_call"]

    once, twice = calls(size), calls(2 * size)
    assert twice < 2.5 * once, f"{once} calls for {size}, {twice} for {2 * size}"
