"""The choice in the browser (judges that the owner named, how far to look, a budget), and what a check costs.

Knows: the settings that the command line and `longproof.toml` come to. A browser names no address, no key and no
folder: it picks judges by number, and at most a model at OpenAI by its name. Does not know: HTTP.
"""

import os
import re
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationError

from longproof.agent.models.limits import reading_cost
from longproof.agent.specs import Spec, as_spec
from longproof.graphs.reporting import estimate
from longproof.graphs.settings import PERSON, Reach, Settings, settings_of
from longproof.graphs.verifier import Verifier
from longproof.indexes.documents import DocumentRef
from longproof.inputs import case_of, seem_swapped
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput, Document, Frozen, first_fault

MODEL = re.compile(r"[A-Za-z0-9][\w.:-]{0,99}")
Text = Annotated[
    DocumentRef,
    AfterValidator(lambda ref: ref.model_copy(update={"uri": "", "title": without_surrogates(ref.title)})),
]
"""A text as a browser may name it: no address of its choosing, which the report would link to."""


class Chosen(Frozen):
    """A browser's choice: texts that it gave before, and its choice of what is offered."""

    sources: tuple[Text, ...] = Field(max_length=100)
    response: Text
    judges: tuple[int, ...] = Field(default=(), max_length=100)
    model: str = ""
    person: bool = False
    reach: Reach | None = None
    max_tokens: int | None = Field(default=None, ge=0, le=10**12)


def read_choice(given: Any) -> Chosen:
    """The choice. Raises BadInput where this is none."""
    try:
        return Chosen.model_validate(given)
    except ValidationError as error:
        raise BadInput(": ".join(first_fault(error))) from error


class Offer:
    """The settings of `longproof serve`, as the owner gave them."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.judges = [one for one in map(as_spec, settings.get("judges", ())) if one.kind != "offline"]
        """The models that the owner named."""
        every: list[Reach] = ["place", "search", "scan"]
        farthest = settings.get("reach") or every[-1]
        self.reaches = every[: every.index(farthest) + 1]
        """The looks that may be chosen: as far as the owner said, and less."""

    @property
    def openai(self) -> bool:
        """True if a model at OpenAI may be named: its key is there, and nobody pointed its address elsewhere."""
        return bool(os.environ.get("OPENAI_API_KEY")) and not os.environ.get("OPENAI_BASE_URL")

    def as_data(self) -> dict[str, Any]:
        """The offer as the browser is told of it."""
        return {
            "judges": [one.text for one in self.judges],
            "openai": self.openai,
            "person": self.settings.get("arbiter") == PERSON,
            "reach": self.reaches,
            "max_tokens": self.settings.get("max_tokens"),
        }

    def settings_for(self, choice: Chosen) -> Settings:
        """The settings of this choice. Raises BadInput for what isn't offered."""
        if any(not 0 <= n < len(self.judges) for n in choice.judges):
            raise BadInput("this judge is not offered")
        if choice.reach and choice.reach not in self.reaches:
            raise BadInput(f"longproof serve was told to look no farther than {self.reaches[-1]}")
        named = [self.judges[n] for n in dict.fromkeys(choice.judges)]
        if choice.model:
            if not self.openai or not MODEL.fullmatch(choice.model):
                raise BadInput("this model is not offered: give the plain name of one at OpenAI")
            named.append(Spec(kind="openai", model=choice.model))
        chosen: dict[str, Any] = {**self.settings, "judges": named or ["offline"], "run_id": None}
        chosen["reach"] = choice.reach or self.settings.get("reach")
        chosen["max_tokens"] = _narrower(choice.max_tokens, self.settings.get("max_tokens"))
        if not named:
            # Only models make use of these.
            unused = dict.fromkeys(("arbiter", "decomposer", "searcher"))
            chosen |= {"confirm": "contradictions", "cascade": False, **unused}
        elif choice.person or chosen.get("arbiter") == PERSON:
            chosen["arbiter"] = PERSON if choice.person else None
        return settings_of(chosen)

    def limit(self, settings: Settings) -> Settings:
        """The settings of an earlier check, within the limits of the offer.

        Raises BadInput for a model, an embedder or a folder of pages that isn't offered.
        """
        mine = settings_of({**self.settings, "judges": self.judges or ["offline"], "run_id": None})
        named = list[tuple[str, str | Spec | None, bool]]()
        for judge in map(as_spec, settings.judges):
            offered = judge.kind == "offline" or judge in self.judges
            if self.openai and MODEL.fullmatch(judge.model):
                offered |= judge == Spec(kind="openai", model=judge.model)
            named.append(("judge", judge, offered))
        for role in ("arbiter", "decomposer", "searcher", "embedder", "pages"):
            one, free = getattr(settings, role), (Settings.model_fields[role].default, PERSON, "offline")
            named.append((role, one, one in free or _text(one) == _text(getattr(mine, role))))
        for role, one, offered in named:
            if not offered:
                raise BadInput(
                    f"the check had the {role} {_text(one)}, which longproof serve doesn't offer: "
                    f"start it with --{role} {_text(one)}, or begin a new check"
                )
        limits: dict[str, Any] = {"reach": settings.reach if settings.reach in self.reaches else mine.reach}
        for name in ("max_calls", "max_tokens", "concurrency"):
            limits[name] = _narrower(getattr(settings, name), getattr(mine, name))
        return settings.model_copy(update=limits)


def _narrower(*limits: int | None) -> int | None:
    return min((n for n in limits if n is not None), default=None)


def _text(named: str | Spec | None) -> str | None:
    return named.text if isinstance(named, Spec) else named


async def price(settings: Settings, sources: Sequence[Document], response: Document) -> dict[str, str]:
    """The cost of a check with these settings, in figures; no calls where nothing is paid. Asks nobody.

    `swapped` is there where the response and the sources seem to be swapped.
    """
    told = {"swapped": "yes"} if seem_swapped(sources, response.text) else {}
    verifier = Verifier(**{**dict(settings), "max_calls": 0, "run_id": None})
    try:
        report = await verifier.check(sources, case_of(response))
    finally:
        await verifier.close()
    estimated = estimate([report])
    if not estimated.calls:
        return told
    told |= {"calls": f"{sum(estimated.calls.values()):,}", "tokens": f"{estimated.tokens:,}"}
    if estimated.most is not None:
        told["most"] = f"{estimated.most:,}"
    models = [as_spec(judge).model for judge in settings.judges]
    if money := reading_cost(models, estimated.tokens, settings.prices):
        told["least_money"], told["most_money"] = money
    return told
