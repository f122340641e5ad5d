"""The second engine of a batch: Ray Data with a pool of actors, on one machine or many.

Knows: workers, each with its own verifier, indexes and offline judges; and one model proxy, the only actor that asks
models: one ledger, one budget and one limit an endpoint, whatever the number of workers. Keys are read where the
proxy runs. Does not know: how a case is checked, or where reports go: the caller writes them as they come.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from longproof.agent.models.clients import Chat, OpenAIChat
from longproof.agent.models.ledger import Ledger, LedgerFailed, RunState
from longproof.agent.models.limits import Budget, Limits
from longproof.agent.models.model import Answer, Model, Refused
from longproof.agent.report import judges_failures, unanswered
from longproof.agent.types import Failure, Report
from longproof.batch.cases import CaseLine, case_line
from longproof.batch.resume_list import Todo
from longproof.batch.run import CaseChecker, Engine, EngineOptions, Finish
from longproof.graphs.resources import SAMPLES_APART, rates, start_run
from longproof.graphs.settings import Settings, settings_of
from longproof.graphs.verifier import Verifier
from longproof.prompts import Prompt
from longproof.retrieval.files import home
from longproof.retrieval.types import BadInput

T = TypeVar("T")
ModelKey = tuple[str, str, bool]
"""A model's name, its endpoint, and whether the owner of the keys named that."""
CPUS = 0.25
"""What a worker claims: with a whole CPU each, workers on a small machine leave none for reading, and all wait."""
RESTARTS = 3
"""How often a model proxy that died is started again. Its answers are on disk; calls under way are asked anew."""
GOODBYE_S = 60.0
"""How long the model proxy may take to end a run."""
BLOCKS = 1000
"""How many parts the cases are handed out in at most; a part's reports come when its last case is done."""


def ray_engine(settings: dict[str, Any], cases: Path, options: EngineOptions) -> Engine:
    """The engine on Ray: so many workers with so many groups of cases at once each; a group goes whole to one.

    The case file and the sources that it names must have the same paths on every machine. Raises BadInput where
    Ray isn't installed.
    """
    try:
        import ray
    except ImportError as error:
        raise BadInput("--engine ray needs Ray: pip install 'longproof[ray]'") from error

    def engine(todo: Iterable[Sequence[Todo]], finish: Finish) -> None:
        ray.init(address=options.ray_address, **({} if options.ray_address else _HERE))
        try:
            said: Counter[str | None] = Counter()
            with _running_proxy(ray, settings, said) as proxy:
                arguments = (proxy, settings, str(cases.resolve()), options.encoding)
                for ended in _checked(ray, arguments, options, list(todo)):
                    if ended["stopped"]:
                        raise BadInput(ended["stopped"])
                    report = Report.model_validate_json(ended["report"]) if ended["report"] else None
                    said.update(judges_failures(report) if report else ())
                    finish(_case(json.loads(ended["case"])), report or ended["failure"])
        finally:
            ray.shutdown()

    return engine


_HERE: dict[str, Any] = {
    "include_dashboard": False,
    "log_to_driver": False,
    "_node_ip_address": "127.0.0.1",
    "object_store_memory": 300_000_000,
}


@contextmanager
def _running_proxy(ray: Any, settings: dict[str, Any], said: Counter[str | None]) -> Iterator[Any]:
    """The model proxy; says in the ledger how the run ended: `said` counts judgements by their failures."""
    proxy = _model_proxy(ray, settings)
    state: RunState = "interrupted"
    try:
        yield proxy
        state = "failed" if unanswered(said) else "done"
    except BadInput:
        state = "failed"
        raise
    finally:
        # A proxy that died for good has nothing open, and its cases are among the failures.
        with suppress(ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
            ray.get(proxy.close.remote(state), timeout=GOODBYE_S)


def _model_proxy(ray: Any, settings: dict[str, Any]) -> Any:
    """The model proxy, on this machine, whose ledger it is.

    One with a budget is not started again: what it had spent would be forgotten.
    """
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    asked = settings_of(settings)
    lasting = asked.max_calls is None and asked.max_tokens is None
    again = {"max_restarts": RESTARTS, "max_task_retries": -1} if lasting else {}
    actor = ray.remote(ModelProxy).options(
        num_cpus=0, max_concurrency=10_000, scheduling_strategy=here, **again
    )
    return actor.remote(settings)


def _checked(
    ray: Any, arguments: tuple[Any, ...], options: EngineOptions, todo: list[Sequence[Todo]]
) -> Iterator[dict[str, Any]]:
    """What the workers, made with these arguments, give back, a row a case, as it comes.

    Only places in the case file travel to them, a row a group.
    """
    items = [{"group": json.dumps(group)} for group in todo]
    ray.data.DataContext.get_current().enable_progress_bars = False
    given = ray.data.from_items(items, override_num_blocks=min(BLOCKS, -(-len(items) // options.parallel)))
    checked = given.map_batches(
        Worker,
        fn_constructor_args=arguments,
        batch_size=options.parallel,
        batch_format="numpy",
        num_cpus=CPUS,
        compute=ray.data.ActorPoolStrategy(size=options.workers),
    )
    yield from checked.iter_rows()


class Worker:
    """One actor of the pool: a verifier that asks its models through the model proxy."""

    def __init__(self, proxy: Any, settings: dict[str, Any], cases: str, encoding: str | None) -> None:
        self._cases = Path(cases)
        self._loop = asyncio.new_event_loop()
        own = {**settings, "run_id": None}
        verifier = Verifier(**own, make=lambda chat: cast("Model", ProxiedModel(proxy, chat)))
        self._checker = CaseChecker(verifier, self._cases.parent, encoding)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """The cases of these groups, each with its report (JSON), its failure, or why the batch has to stop."""
        groups = [[_case(given) for given in json.loads(group)] for group in batch["group"].tolist()]
        results = [result for checked in self._run(self._checked(groups)) for result in checked]
        return {
            "case": [json.dumps(case) for group in groups for case in group],
            "report": [r.model_dump_json() if isinstance(r, Report) else "" for r in results],
            "failure": [r if isinstance(r, str) else "" for r in results],
            "stopped": [str(r) if isinstance(r, BadInput) else "" for r in results],
        }

    async def _checked(self, groups: list[list[Todo]]) -> list[Sequence[Report | str | BadInput]]:
        return await asyncio.gather(*map(self._group, groups))

    async def _group(self, group: list[Todo]) -> Sequence[Report | str | BadInput]:
        try:
            return await self._checker.checked([case_line(self._cases, case.line) for case in group])
        except (LedgerFailed, Refused) as error:
            return [error] * len(group)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)


def _case(given: list[Any]) -> Todo:
    """A case as JSON gives it back."""
    name, id_, line, left = given
    return Todo(name, id_, CaseLine(*line), left)


class ProxiedModel:
    """A model as a worker sees it: every question goes to the model proxy."""

    def __init__(self, proxy: Any, chat: Chat) -> None:
        by_owner = isinstance(chat, OpenAIChat) and chat.by_owner
        self._proxy, self._key = proxy, (chat.model, chat.endpoint, by_owner)
        self.name, self.endpoint = chat.model, chat.endpoint
        self._refused: Refused | None = None

    async def ask(self, prompt: Prompt, form: type[Any], **options: Any) -> Answer[Any]:
        """See `Model.ask`."""
        asked = self._proxy.ask.remote(self._key, prompt, form, options)
        try:
            return cast("Answer[Any]", await _from_proxy(asked))
        except Refused as error:
            self._refused = error
            return Answer(None, "unavailable", str(error), ())

    async def mark(self, call_id: str | None, failure: Failure) -> None:
        """See `Model.mark`."""
        await _from_proxy(self._proxy.mark.remote(self._key, call_id, failure))

    def refuse(self) -> None:
        """See `Model.refuse`."""
        if self._refused:
            said, self._refused = self._refused, None
            raise said

    async def close(self) -> None:
        """Nothing is open here."""


async def _from_proxy(answer: Awaitable[Any]) -> Any:
    """What the proxy gives. Raises what it raised: Ray wraps that in a traceback of many lines."""
    try:
        return await answer
    except BadInput as error:
        raise error.args[0] from None


class ModelProxy:
    """The one actor that asks models, over the one ledger and within the one set of limits."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings: Settings = settings_of(settings)
        self._limits = Limits(
            rates(self._settings),
            Budget(max_calls=self._settings.max_calls, max_tokens=self._settings.max_tokens),
        )
        self._models: dict[ModelKey, Model] = {}
        self._opening: asyncio.Task[Ledger] | None = None
        self._failed: LedgerFailed | Refused | None = None

    async def ask(self, key: ModelKey, prompt: Prompt, form: type[Any], options: Any) -> Answer[Any]:
        """What this model answers. Raises LedgerFailed and Refused, and from then on at once: no worker pays on."""
        if self._failed:
            raise self._failed
        try:
            model = await self._model(key)
            answer = await model.ask(prompt, form, **options)
            model.refuse()
        except (LedgerFailed, Refused) as error:
            self._failed = error
            raise
        return answer

    async def mark(self, key: ModelKey, call_id: str | None, failure: Failure) -> None:
        """Note that an answer came to nothing."""
        await (await self._model(key)).mark(call_id, failure)

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

    async def _model(self, key: ModelKey) -> Model:
        ledger = await self._ledger()
        if key not in self._models:
            self._models[key] = Model(
                OpenAIChat(key[0], key[1], stream=self._settings.stream, by_owner=key[2]),
                ledger,
                self._limits,
                timeout_s=self._settings.timeout_s,
                first_sample=self._settings.sample * SAMPLES_APART,
            )
        return self._models[key]

    async def _ledger(self) -> Ledger:
        if self._opening is None:
            self._opening = asyncio.create_task(self._opened())
        return await self._opening

    async def _opened(self) -> Ledger:
        path = home(self._settings.home) / "ledger.sqlite" if self._settings.cache else None
        ledger = await Ledger.open(path, retry_failed=self._settings.retry_failed)
        await start_run(ledger, self._settings)
        return ledger
