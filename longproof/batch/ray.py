"""The second engine of a batch: Ray Data with a pool of actors, on one machine or many.

Knows: workers, each with its own verifier and indexes; and one model proxy, the only actor that asks models: one
ledger, one budget and one limit an endpoint, whatever the number of workers. Keys are read where the proxy runs.
Does not know: how a case is checked, or where reports go: the caller writes them as they come.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from longproof.agent.models.clients import Chat, OpenAIChat
from longproof.agent.models.ledger import Ledger, LedgerFailed, RunState
from longproof.agent.models.limits import Budget, Limits
from longproof.agent.models.model import Answer, Model, Refused
from longproof.agent.report import judges_failures, unanswered
from longproof.agent.types import Report
from longproof.batch.run import FileCases
from longproof.graphs.opening import rates, start_run
from longproof.graphs.run import SAMPLES_APART
from longproof.graphs.runner import Engine, Finish, GroupChecker, Planned
from longproof.graphs.settings import settings_of
from longproof.graphs.verifier import Verifier
from longproof.retrieval.files import home
from longproof.retrieval.types import BadInput

if TYPE_CHECKING:
    from longproof.batch.folder import EngineOptions

CPUS = 0.25
"""The share of a CPU that a worker claims: with a whole one each, none is left for reading, and all wait."""
RESTARTS = 3
"""How often a model proxy that died is started again. Its answers are on disk; calls under way are asked anew."""
GOODBYE_S = 60.0
"""How long the model proxy may take to end a run."""
BLOCKS = 1000
"""How many parts the cases are handed out in at most; a part's reports come when its last case is done."""
HERE: dict[str, Any] = {
    "include_dashboard": False,
    "log_to_driver": False,
    "_node_ip_address": "127.0.0.1",
    "object_store_memory": 300_000_000,
}
"""How Ray is started on this machine."""


def ray_engine(settings: dict[str, Any], cases: Path, options: "EngineOptions") -> Engine:
    """The engine on Ray: so many workers with so many groups of cases at once each; a group goes whole to one.

    The case file and the sources that it names must have the same paths on every machine. Raises BadInput where
    Ray isn't installed.
    """
    try:
        import ray
    except ImportError as error:
        raise BadInput("--engine ray needs Ray: pip install 'longproof[ray]'") from error

    def engine(groups: Sequence[Sequence[Planned]], finish: Finish) -> None:
        ray.init(address=options.ray_address, **({} if options.ray_address else HERE))
        try:
            with _running_proxy(ray, settings) as (proxy, said):
                for row in _checked_rows(ray, (proxy, settings, str(cases.resolve())), options, groups):
                    if row["stopped"]:
                        raise BadInput(row["stopped"])
                    report = Report.model_validate_json(row["report"]) if row["report"] else None
                    said.update(judges_failures(report) if report else ())
                    finish(_planned(json.loads(row["case"])), report or row["failure"])
        finally:
            ray.shutdown()

    return engine


@contextmanager
def _running_proxy(ray: Any, settings: dict[str, Any]) -> Iterator[tuple[Any, Counter[str | None]]]:
    """The model proxy, on this machine, whose ledger it is, and a counter for what judges failed with.

    One with a budget is not started again: what it had spent would be forgotten. At the end the ledger is told how
    the run ended.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    full = settings_of(settings)
    lasting = full.max_calls is None and full.max_tokens is None
    again = {"max_restarts": RESTARTS, "max_task_retries": -1} if lasting else {}
    actor = ray.remote(ModelProxy).options(
        num_cpus=0, max_concurrency=10_000, scheduling_strategy=here, **again
    )
    proxy, said = actor.remote(settings), Counter[str | None]()
    state: RunState = "interrupted"
    try:
        yield proxy, said
        state = "failed" if unanswered(said) else "done"
    except BadInput:
        state = "failed"
        raise
    finally:
        # A proxy that died for good has nothing open, and its cases are among the failures.
        with suppress(ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
            ray.get(proxy.close.remote(state), timeout=GOODBYE_S)


def _checked_rows(
    ray: Any, arguments: tuple[Any, ...], options: "EngineOptions", groups: Sequence[Sequence[Planned]]
) -> Iterator[dict[str, Any]]:
    """A row a case, as the workers give them back. Only places in the case file travel to them."""
    items = [{"group": json.dumps(group)} for group in groups]
    ray.data.DataContext.get_current().enable_progress_bars = False
    given = ray.data.from_items(items, override_num_blocks=min(BLOCKS, -(-len(items) // options.parallel)))
    checked = given.map_batches(
        Worker,
        fn_constructor_args=(*arguments, options.encoding),
        batch_size=options.parallel,
        batch_format="numpy",
        num_cpus=CPUS,
        compute=ray.data.ActorPoolStrategy(size=options.workers),
    )
    yield from checked.iter_rows()


def _planned(given: list[Any]) -> Planned:
    name, key, sources, joined, pair, place, left = given
    return Planned(name, key, sources, joined, pair, tuple(place), left)


class Worker:
    """One actor of the pool: a verifier that asks its models through the model proxy."""

    def __init__(self, proxy: Any, settings: dict[str, Any], cases: str, encoding: str | None) -> None:
        self._loop = asyncio.new_event_loop()
        verifier = Verifier(
            **{**settings, "run_id": None}, make=lambda chat: cast("Model", ProxiedModel(proxy, chat))
        )
        self._checker = GroupChecker(verifier, FileCases(Path(cases), encoding))

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """The cases of these groups, each with its report (JSON), its failure, or why the batch has to stop."""
        groups = [[_planned(case) for case in json.loads(group)] for group in batch["group"].tolist()]
        checked = self._loop.run_until_complete(self._check(groups))
        results = [result for group in checked for result in group]
        return {
            "case": [json.dumps(case) for group in groups for case in group],
            "report": [r.model_dump_json() if isinstance(r, Report) else "" for r in results],
            "failure": [r if isinstance(r, str) else "" for r in results],
            "stopped": [str(r) if isinstance(r, BadInput) else "" for r in results],
        }

    async def _check(self, groups: list[list[Planned]]) -> list[Sequence[Report | str | BadInput]]:
        async def check(group: list[Planned]) -> Sequence[Report | str | BadInput]:
            try:
                return await self._checker.check(group)
            except (LedgerFailed, Refused) as error:
                return [error] * len(group)

        return await asyncio.gather(*map(check, groups))


class ProxiedModel:
    """A model as a worker sees it: every question goes to the model proxy."""

    def __init__(self, proxy: Any, chat: Chat) -> None:
        by_owner = isinstance(chat, OpenAIChat) and chat.by_owner
        self._proxy, self._key = proxy, (chat.model, chat.endpoint, by_owner)
        self.name, self.endpoint = chat.model, chat.endpoint
        self._refused: Refused | None = None

    async def ask(self, *question: Any, **options: Any) -> Answer[Any]:
        """See `Model.ask`."""
        try:
            return cast("Answer[Any]", await self._call("ask", *question, **options))
        except Refused as error:
            self._refused = error
            return Answer(None, "unavailable", str(error), ())

    async def mark(self, *failed: Any) -> None:
        """See `Model.mark`."""
        await self._call("mark", *failed)

    def refuse(self) -> None:
        """See `Model.refuse`."""
        if self._refused:
            said, self._refused = self._refused, None
            raise said

    async def close(self) -> None:
        """Nothing is open here."""

    async def _call(self, name: str, *given: Any, **options: Any) -> Any:
        try:
            return await self._proxy.call.remote(self._key, name, given, options)
        except BadInput as error:
            raise error.args[0] from None  # Ray wraps it in a traceback of many lines


class ModelProxy:
    """The one actor that asks models, over the one ledger and within the one set of limits."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = full = settings_of(settings)
        self._limits = Limits(rates(full), Budget(max_calls=full.max_calls, max_tokens=full.max_tokens))
        self._models: dict[tuple[str, str, bool], Model] = {}
        self._opening: asyncio.Task[Ledger] | None = None
        self._failed: LedgerFailed | Refused | None = None

    async def call(self, key: tuple[str, str, bool], name: str, given: Any, options: Any) -> Any:
        """Call a method of a model. Raises LedgerFailed and Refused, and from then on at once: no worker pays on."""
        if self._failed:
            raise self._failed
        try:
            model = await self._model(key)
            answer = await getattr(model, name)(*given, **options)
            model.refuse()
        except (LedgerFailed, Refused) as error:
            self._failed = error
            raise
        return answer

    async def close(self, state: RunState) -> None:
        """End the run in the ledger so, and let go of connections."""
        if self._opening is None and not self._settings.run_id:
            return
        ledger = await self._ledger()
        if self._settings.run_id:
            await ledger.end_run(state)
        await ledger.close()
        for model in self._models.values():
            await model.close()

    async def _model(self, key: tuple[str, str, bool]) -> Model:
        ledger, full = await self._ledger(), self._settings
        if key not in self._models:
            chat = OpenAIChat(key[0], key[1], stream=full.stream, by_owner=key[2])
            first = full.sample * SAMPLES_APART
            self._models[key] = Model(
                chat, ledger, self._limits, timeout_s=full.timeout_s, first_sample=first
            )
        return self._models[key]

    async def _ledger(self) -> Ledger:
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        return await self._opening

    async def _open(self) -> Ledger:
        path = home(self._settings.home) / "ledger.sqlite" if self._settings.cache else None
        ledger = await Ledger.open(path, retry_failed=self._settings.retry_failed)
        await start_run(ledger, self._settings)
        return ledger
