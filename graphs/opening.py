"""The opening of a run: its panel, its name in the ledger, and what is refused at once.

Knows: judges that are given as objects, in the place of those that the settings name; what a run was begun with.
Does not know: how a response is checked, or when anybody is asked.
"""

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.language_models import BaseChatModel

from longproof.agent.models.answers import Chat
from longproof.agent.models.model import Model
from longproof.agent.models.recording import RecordedChat, Recorder, Replay
from longproof.agent.offline import OfflineJudge
from longproof.agent.specs import ALONE, Panel, Spec, as_spec, connect, panel_from
from longproof.agent.types import Arbiter, Decomposer, Judge
from longproof.graphs.settings import INCOMPARABLE, LONGPROOF, PERSON, Need, Protocol, Settings, unmet
from longproof.graphs.state import VerifyInput
from longproof.retrieval.types import BadInput


class Given(NamedTuple):
    """Judges, arbiter and decomposer given as objects, in the place of those that the settings name."""

    judges: Sequence[Judge | BaseChatModel] = ()
    arbiter: Arbiter | BaseChatModel | None = None
    decomposer: Decomposer | BaseChatModel | None = None
    make: Callable[[Chat], Model] | None = None
    """Who asks the models, in the place of a `Model` over the run's own ledger and limits."""
    by_owner: bool = True
    """Whoever makes the settings owns the keys, too. A server's clients don't."""
    recording: Recorder | Replay | None = None
    """Keeps what models answer, or answers in their place."""


def panel_of(settings: Settings, given: Given, make: Callable[[Chat], Model]) -> Panel:
    """The panel that the settings name, with those who were given as objects in their places."""
    models = [judge for judge in given.judges if isinstance(judge, BaseChatModel)]
    objects = [judge for judge in given.judges if not isinstance(judge, BaseChatModel)]
    named = [] if given.judges else [as_spec(judge) for judge in settings.judges]

    def open_client(chosen: Spec | BaseChatModel) -> Chat:
        if isinstance(given.recording, Replay) and isinstance(chosen, Spec):
            return RecordedChat(given.recording, chosen.model, chosen.endpoint)
        needs_key = settings.max_calls != 0
        return connect(chosen, stream=settings.stream, by_owner=given.by_owner, needs_key=needs_key)

    panel = panel_from(
        [*models, *named],
        given.make or make,
        open_client,
        arbiter=_choose(given.arbiter, settings.arbiter),
        decomposer=_choose(given.decomposer, settings.decomposer),
        searcher=_choose(None, settings.searcher),
    )
    return panel._replace(
        judges=[*objects, *panel.judges],
        arbiter=given.arbiter if isinstance(given.arbiter, Arbiter) else panel.arbiter,
        decomposer=given.decomposer if isinstance(given.decomposer, Decomposer) else panel.decomposer,
        confirmer=panel.confirmer or (objects[-1] if objects else None),
    )


def _choose(given: Any, named: str | Spec | None) -> Spec | BaseChatModel | None:
    if isinstance(given, BaseChatModel):
        return given
    return as_spec(named) if named and named != PERSON else None


def begun_with(settings: Settings, case: VerifyInput | None = None) -> str:
    """Hash what a run is begun with: the settings that shape its reports, and its case if it has but one.

    What is left unset or off doesn't count: a run goes on though settings were added to the program since.
    """
    shaping = settings.model_dump(mode="json", exclude=INCOMPARABLE)
    named = {name: value for name, value in shaping.items() if value}
    texts = case and {**case.model_dump(mode="json"), "sources": [ref.id for ref in case.sources]}
    what = [{**named, "protocol": settings.protocol or LONGPROOF.name}, texts]
    return sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


def refuse_what_is_missing(settings: Settings, protocol: Protocol, given: Given, panel: Panel) -> None:
    """Raises BadInput where the protocol or a setting needs models or pages that aren't there."""
    if settings.pages and not Path(settings.pages).is_dir():
        raise BadInput(f"there is no folder {settings.pages}: --pages names a folder of saved web pages")
    offline = any(isinstance(judge, OfflineJudge) for judge in panel.judges)
    if offline and len(panel.judges) > 1:
        raise BadInput(ALONE)
    if offline and protocol != LONGPROOF:
        raise BadInput(f"the protocol {protocol.name} needs judges that read: give --judge openai:MODEL")
    has: list[Need] = ["pages"] if settings.pages else []
    # Judges that are given as objects may well be models.
    if given.judges or all(as_spec(judge).is_model for judge in settings.judges):
        has.append("models")
    if why := unmet(protocol.name, protocol.needs, has, among=("models", "pages")):
        raise BadInput(why)
    if settings.confirm == "all" and (panel.confirmer is None or protocol != LONGPROOF):
        raise BadInput("--confirm all needs a language model, and the protocol longproof")
    if protocol != LONGPROOF and (settings.arbiter == PERSON or settings.cascade):
        raise BadInput(
            f"the protocol {protocol.name} asks a whole panel and no person: leave out --arbiter person and --cascade"
        )


def refuse_what_is_not_recorded(settings: Settings) -> None:
    """Raises BadInput for what a recording doesn't hold: a replay loads no model and sends no text."""
    roles = [*settings.judges, settings.arbiter, settings.decomposer, settings.searcher]
    named = [as_spec(one) for one in roles if one and one != PERSON]
    if settings.embedder != "lexical" or any(one.kind == "nli" for one in named):
        raise BadInput("recordings hold the answers of language models: leave out nli judges and embedders")
