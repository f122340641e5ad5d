"""The second engine of a batch: a pool of Ray actors, on one machine or many.

Knows: workers, each with its own verifier and indexes; and one model proxy, the only actor that asks models: one
ledger, one budget and one limit an endpoint, whatever the number of workers. Keys are read where the proxy runs.
Does not know: how a case is checked, or where reports go: the caller writes them as they come.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from longproof.agent.models.answers import Chat
from longproof.agent.models.ledger import LedgerFailed
from longproof.agent.models.model import Answer, Model, Refused
from longproof.agent.types import Report
from longproof.batch.run import FileCases
from longproof.graphs.run import Pool
from longproof.graphs.runner import Engine, Finish, Planned, check_planned
from longproof.graphs.settings import begun_with, settings_of
from longproof.graphs.verifier import Verifier
from longproof.retrieval.types import BadInput

HERE = {"include_dashboard": False, "log_to_driver": False, "_node_ip_address": "127.0.0.1"}


def ray_engine(
    settings: dict[str, Any],
    cases: Path,
    *,
    workers: int = 2,
    parallel: int = 4,
    address: str | None = None,
    encoding: str | None = None,
) -> Engine:
    """The engine on Ray: a group goes whole to one of the workers, each of which checks so many in parallel.

    The case file and its sources have the same paths on every machine. Without an address of a cluster Ray is started
    here. Raises BadInput where Ray isn't installed.
    """
    try:
        import ray
        from ray.util import ActorPool
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
    except ImportError as error:
        raise BadInput("--engine ray needs Ray: pip install 'longproof[ray]'") from error

    def engine(groups: Sequence[Sequence[Planned]], finish: Finish) -> None:
        ray.init(address=address, **({} if address else HERE))
        try:
            check_on_ray(groups, finish)
        finally:
            ray.shutdown()

    def check_on_ray(groups: Sequence[Sequence[Planned]], finish: Finish) -> None:
        # The proxy works on this machine, whose ledger it is. One that dies is not started again.
        here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
        asker = ray.remote(ModelProxy).options(num_cpus=0, max_concurrency=10_000, scheduling_strategy=here)
        proxy = asker.remote(settings)
        # With a whole CPU each, no more workers than CPUs would start.
        lasting = {"max_restarts": -1, "max_task_retries": -1}
        worker = ray.remote(Worker).options(num_cpus=0.25, max_concurrency=parallel, **lasting)
        given = (proxy, settings, str(cases.resolve()), encoding)
        try:
            pool = ActorPool([worker.remote(*given) for _ in range(workers)] * parallel)
            for group, results in pool.map_unordered(lambda one, group: one.check.remote(group), groups):
                if isinstance(results, BadInput):
                    raise BadInput(str(results))
                for one, result in zip(group, results, strict=True):
                    finish(one, result)
        finally:
            # A proxy that died for good has nothing open, and its cases are among the failures.
            with suppress(ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError):
                ray.get(proxy.close.remote(), timeout=60.0)

    return engine


class Worker:
    """One actor of the pool: a verifier that asks its models through the model proxy."""

    def __init__(self, proxy: Any, settings: dict[str, Any], cases: str, encoding: str | None) -> None:
        own = {**settings, "run_id": None}
        self._checker = Verifier(**own, make=lambda chat: cast("Model", ProxiedModel(proxy, chat)))
        self._cases = FileCases(Path(cases), encoding)

    async def check(
        self, group: Sequence[Planned]
    ) -> tuple[Sequence[Planned], list[Report | str] | BadInput]:
        """The group with a report or a reason for each of its cases, or with why the batch has to stop."""
        try:
            return group, await check_planned(self._checker, self._cases, group)
        except (LedgerFailed, Refused) as error:
            return group, error


class ProxiedModel:
    """A model as a worker sees it: every question goes to the model proxy."""

    def __init__(self, proxy: Any, chat: Chat) -> None:
        self._proxy, self.name, self.endpoint = proxy, chat.model, chat.endpoint

    async def ask(self, *question: Any, **options: Any) -> Answer[Any]:
        """See `Model.ask`. Raises Refused, too."""
        return cast("Answer[Any]", await self._call("ask", question, options))

    async def mark(self, *failed: Any) -> None:
        """See `Model.mark`."""
        await self._call("mark", failed, {})

    def refuse(self) -> None:
        """Nothing was refused that `ask` did not raise."""

    async def close(self) -> None:
        """Nothing is open here."""

    async def _call(self, name: str, given: tuple[Any, ...], options: dict[str, Any]) -> Any:
        try:
            return await self._proxy.call.remote((self.name, self.endpoint), name, given, options)
        except BadInput as error:
            raise error.args[0] from None  # Ray wraps it in a traceback of many lines


class ModelProxy:
    """The one actor that asks models, over the one ledger and within the one set of limits."""

    def __init__(self, settings: dict[str, Any]) -> None:
        full = settings_of(settings)
        self._begun, self._settings = begun_with(full), full.model_copy(update={"protocol": None})
        self._pool = Pool()
        self._failed: LedgerFailed | Refused | None = None

    async def call(self, key: tuple[str, str], name: str, given: Any, options: Any) -> Any:
        """Call a method of a model. Raises LedgerFailed and Refused, and from then on at once: no worker pays on."""
        if self._failed:
            raise self._failed
        try:
            panel = (await self._pool.session(self._settings, self._begun)).panel
            model = next(one for one in panel.models if (one.name, one.endpoint) == key)
            answer = await getattr(model, name)(*given, **options)
            model.refuse()
        except (LedgerFailed, Refused) as error:
            self._failed = error
            raise
        return answer

    async def close(self) -> None:
        """Let go of the ledger and of connections."""
        await self._pool.close()
