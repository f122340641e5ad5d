"""What judges are called where there is little room, and what each of them is.

Knows: how names are made of SPECs. Does not know: where a name is shown; every way of showing escapes it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

_MODEL = re.compile(r"(?:arbiter:)?openai:(?P<model>[^@]+)(?:@(?P<address>.+))?")


def judge_names(names: Iterable[str]) -> dict[str, str]:
    """The model's own name, without who publishes or serves it; all of it where two would be called the same."""
    given = {name: _short(name) for name in dict.fromkeys(names)}
    often = Counter({name.removeprefix("arbiter:"): short for name, short in given.items()}.values())
    return {name: short if often[short] == 1 else name for name, short in given.items()}


def _short(name: str) -> str:
    found = _MODEL.fullmatch(name)
    return found["model"].rstrip("/").rpartition("/")[2] if found else name


def judge_told(name: str, say: Mapping[str, str]) -> str:
    """What this judge is, and all of its name."""
    kind = name.removeprefix("arbiter:").partition(":")[0]
    told = say.get(f"judge_{kind}_is", say["judge_other_is"])
    return f"{told}{say['colon']}{name}"
