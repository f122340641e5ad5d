"""Numbers beside their commands: runs those of `expected.yaml` and says OK, or how far off each is.

    python -m longproof.evaluation.expected [--ci] [FILE]

Only `longproof evaluate` commands are run, without a shell, each once however many scores it has. With
`--ci` only the small offline ones. Exit code 1 where a score is off or missing, 2 where the file is no use.
Does not know: how a score is computed.
"""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pydantic import Field, ValidationError

from longproof.evaluation.folder import SCORES
from longproof.retrieval.types import BadInput, Frozen

OURS = ["longproof", "evaluate"]


class Expectation(Frozen):
    """One score of a command (as in its table's section): what it was, and how far off is still the same.

    `ci`: small, offline and with data of this repository, so that it runs with the tests.
    """

    command: str
    section: str
    score: str
    expected: float
    tolerance: float = Field(ge=0)
    ci: bool = False


class CheckedScore(NamedTuple):
    """What a command gave. `value` is None where it gave no such score, or failed."""

    expectation: Expectation
    value: float | None
    failure: str = ""

    @property
    def ok(self) -> bool:
        """Whether the score is there and within its tolerance."""
        wanted = self.expectation
        return self.value is not None and abs(self.value - wanted.expected) <= wanted.tolerance + 1e-9

    def line(self) -> str:
        """One line for people."""
        wanted = self.expectation
        name = f"{wanted.command} → {wanted.section} / {wanted.score}"
        if self.value is None:
            return f"MISSING    {name}: {self.failure or 'the run has no such score'}"
        off = self.value - wanted.expected
        word = "OK        " if self.ok else f"OFF {off:+.3f}"
        return f"{word} {name}: {self.value:.3f}, expected {wanted.expected:.3f} ± {wanted.tolerance:.3f}"


def expectations(path: Path) -> list[Expectation]:
    """What the file expects. Raises BadInput where it is not a list of expectations."""
    import yaml

    try:
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))
        return [Expectation.model_validate(one) for one in listed]
    except (OSError, yaml.YAMLError, ValidationError, TypeError) as error:
        raise BadInput(f"{path.name} is not a list of expectations: {str(error).splitlines()[0]}") from error


def check_expectations(expected: Sequence[Expectation]) -> Iterator[CheckedScore]:
    """Run each command once, and compare all its scores."""
    for command in dict.fromkeys(wanted.command for wanted in expected):
        scores = _run(command)
        for wanted in expected:
            if wanted.command != command:
                continue
            if isinstance(scores, str):
                yield CheckedScore(wanted, None, scores)
            else:
                yield CheckedScore(wanted, scores.get((wanted.section, wanted.score)))


def _run(command: str) -> dict[tuple[str, str], float | None] | str:
    """The scores of a command by section and name, or the last line of its complaint."""
    words = shlex.split(command)
    if words[:2] != OURS:
        raise BadInput(f"{command!r} is no `{' '.join(OURS)}` command")
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", *words, "--out", folder], capture_output=True, text=True, check=False
        )
        if done.returncode:
            return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        sections = json.loads((Path(folder) / SCORES).read_text(encoding="utf-8"))
    return {(s["title"], score["name"]): score["value"] for s in sections for score in s["scores"]}


def print_expectations(arguments: Sequence[str]) -> int:
    """Print a line a score. Returns the exit code."""
    given = [word for word in arguments if word != "--ci"]
    with as_file(files("longproof.evaluation") / "expected.yaml") as bundled:
        wanted = expectations(Path(given[0]) if given else bundled)
    off = 0
    for score in check_expectations([one for one in wanted if one.ci or "--ci" not in arguments]):
        print(score.line(), flush=True)
        off += not score.ok
    return 1 if off else 0


if __name__ == "__main__":
    try:
        sys.exit(print_expectations(sys.argv[1:]))
    except BadInput as problem:
        sys.stderr.write(f"longproof: {problem}\n")
        sys.exit(2)
