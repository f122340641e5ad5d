"""The needs of protocols, beside a response, and how each is asked for.

Does not know: which protocols there are.
"""

from collections.abc import Collection
from typing import Literal, get_args

Need = Literal["models", "pages", "labels", "reference", "record"]
NEEDS: dict[Need, str] = {
    "models": "judges that are language models: give --judge openai:MODEL",
    "pages": "saved web pages: give --pages DIR",
    "labels": "a label for each sentence of the response: give a case file with `labels`",
    "reference": "the right text beside the response: give a case file with `reference`",
    "record": "a JSON record as its source",
}


def unmet(
    name: str, needs: Collection[Need], has: Collection[Need], among: Collection[Need] = get_args(Need)
) -> str | None:
    """The reason why a protocol can't be run with what is there; None: it can. Looks only `among` these needs."""
    lacking = [NEEDS[need] for need in needs if need in among and need not in has]
    return f"the protocol {name} needs {' and '.join(lacking)}" if lacking else None
