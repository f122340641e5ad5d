"""What a model is told: one Markdown file an utterance and language.

Knows: how a template is filled, strictly and once, and how foreign text is fenced so that it can't pass for ours.
A file has a `# User` part and may have a `# System` part; placeholders are `$name` (`string.Template`).
Does not know: who sends it, or what the answer is used for.
"""

import re
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from string import Template
from typing import Literal, NamedTuple

Language = Literal["en", "zh"]
NOTHING = "—"
"""What stands where a value is empty."""
_PARTS = re.compile(r"\A(?:# System\n(?P<system>.*?))?^# User\n(?P<user>.*)\Z", re.DOTALL | re.MULTILINE)


class Prompt(NamedTuple):
    """The text that is sent; `hash` names the wording (the templates' bytes), not the values that fill it."""

    system: str
    user: str
    hash: str
    language: Language
    foreign: str
    """The texts that stand in fences: all that is not ours."""

    def then(self, after: "Prompt") -> "Prompt":
        """This prompt with the other's user part after its own."""
        both = sha256((self.hash + after.hash).encode()).hexdigest()[:16]
        foreign = "\n".join(filter(None, (self.foreign, after.foreign)))
        return Prompt(self.system, f"{self.user}\n\n{after.user}", both, self.language, foreign)


def render(name: str, language: Language, **values: str | Sequence[str]) -> Prompt:
    """The prompt of this name, every value fenced as foreign text; a sequence gives one fence an item.

    A value is inserted once and never expanded again. Raises ValueError where a value is missing or extra,
    or the template is malformed; FileNotFoundError where there is no such prompt.
    """
    text = template(name, language)
    parts = _PARTS.match(text)
    if parts is None:
        raise ValueError(
            f"prompt {name}.{language} needs a `# User` part, after a `# System` part if it has one"
        )
    wanted = placeholders(name, language)
    if set(wanted) != set(values):
        missing, extra = sorted(set(wanted) - set(values)), sorted(set(values) - set(wanted))
        raise ValueError(f"prompt {name}.{language}: missing {missing}, extra {extra}")
    fenced: dict[str, str] = {}
    foreign: list[str] = []
    for key in wanted:
        value = values[key]
        pieces = [piece for piece in ([value] if isinstance(value, str) else value) if piece.strip()]
        fenced[key] = "\n".join(fence(key, piece) for piece in pieces) or NOTHING
        foreign += pieces
    system, user = (Template(part or "").substitute(fenced).strip() for part in parts.group("system", "user"))
    return Prompt(system, user, sha256(text.encode()).hexdigest()[:16], language, "\n".join(foreign))


@cache
def placeholders(name: str, language: Language) -> tuple[str, ...]:
    """The names of the values that a prompt takes, in the order in which they stand there."""
    return tuple(Template(template(name, language)).get_identifiers())


@cache
def template(name: str, language: Language) -> str:
    """The text of one prompt file."""
    return (files(__name__) / f"{name}.{language}.md").read_text(encoding="utf-8")


def fence(name: str, text: str, digits: int = 8) -> str:
    """The text between two lines that carry a mark which the text does not contain, in capitals neither.

    The mark follows from the text alone, so the same text gives the same prompt; where a text was made to
    contain its own mark, the next one is taken.
    """
    digest = sha256(text.encode("utf-8", "backslashreplace")).hexdigest()
    marks = (sha256(f"{digest}{n}".encode()).hexdigest()[:digits] for n in count())
    lowered = text.lower()
    mark = next(mark for mark in marks if mark not in lowered)
    return f"<<<{mark} {name}\n{text}\n{mark}>>>"
