"""The routes of the local server.

Knows: what each address answers, and that a refusal is one line. Does not know: who may ask (`guard`), how a run goes
on (`runs`), what a page shows (`pages`).
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from longproof.agent.types import Report
from longproof.graphs.cases import file_name
from longproof.graphs.so_far import SoFar, report_of
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.report.corrected import FORMS, changes, corrected, known_changes
from longproof.report.words import Language
from longproof.retrieval.files import private_folder
from longproof.retrieval.loaders import read_source
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput
from longproof.serve.guard import guarded
from longproof.serve.marks import NoMark, accepted, add_marks, case_file, read_marks
from longproof.serve.offer import Offer, chosen, price
from longproof.serve.pages import run_page, shown, start_page
from longproof.serve.runs import Begun, Runs

LOOK_S, BEAT_S = 0.5, 15.0
"""How often a page that watches is told what is new; how long it hears nothing at most."""
LONGEST_JSON = 1_000_000
LONGEST_TITLE = 200
CORRECTED = tuple(f"corrected{suffix}" for suffix in FORMS)


def application(offer: Offer, token: str, ending: Callable[[], bool] = lambda: False) -> ASGIApp:
    """The server, which answers under `/TOKEN/` alone. Once it is `ending`, no stream holds it up."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.runs, app.state.offer, app.state.ending = Runs(), offer, ending
        private_folder(app.state.runs.folder)
        yield
        await app.state.runs.stop_all()

    routes = [
        Route("/", start),
        Route("/texts", take_text, methods=["POST"]),
        Route("/price", tell_price, methods=["POST"]),
        Route("/runs", begin, methods=["POST"]),
        Route("/runs/{run}", show),
        Route("/runs/{run}/events", events),
        Route("/runs/{run}/now", now),
        Route("/runs/{run}/marks", take_marks, methods=["POST"]),
        Route("/runs/{run}/{act:str}", act, methods=["POST"]),
        Route("/runs/{run}/{name:str}", download),
    ]
    handlers = {BadInput: refused, ClientDisconnect: refused}
    return guarded(Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers), token)


async def refused(_: Request, error: Exception) -> Response:
    """What can't be used is said in one line. To who went away while sending it, nobody listens."""
    return JSONResponse({"error": str(error)}, 400)


async def start(request: Request) -> Response:
    spoken: Language = "zh" if request.headers.get("accept-language", "").startswith("zh") else "en"
    return HTMLResponse(start_page(_runs(request).all(), request.app.state.offer, spoken))


async def take_text(request: Request) -> Response:
    """A file's bytes become a stored text; nothing else of the file is kept."""
    name = without_surrogates(Path(request.query_params.get("name", "").replace("\\", "/")).name)
    data = await request.body()
    return JSONResponse((await asyncio.to_thread(_stored, _runs(request).store, name, data)).model_dump())


def _stored(store: DocumentStore, name: str, data: bytes) -> DocumentRef:
    stem, suffix = Path(name).stem[:LONGEST_TITLE], Path(name).suffix[:20]
    read = read_source(Path(stem + suffix), data=data)
    read.refuse_wordless()
    return store.put(read.model_copy(update={"uri": ""}))


async def tell_price(request: Request) -> Response:
    choice, store = chosen(await _json(request)), _runs(request).store
    sources = [store.open(ref) for ref in choice.sources]
    settings = request.app.state.offer.taken(choice)
    return JSONResponse(await price(settings, sources, store.open(choice.response), choice.task))


async def begin(request: Request) -> Response:
    choice = chosen(await _json(request))
    settings = request.app.state.offer.taken(choice)
    title = choice.response.title[:LONGEST_TITLE] or "case"
    return JSONResponse(
        {"run": _runs(request).begin(title, settings, list(choice.sources), choice.response, choice.task)}
    )


async def show(request: Request) -> Response:
    runs = _runs(request)
    begun = runs.get(request.path_params["run"])
    known = await _known(runs, begun)
    texts = runs.texts(begun, report_of(known))
    told = await _told(runs, begun, known)
    return HTMLResponse(await asyncio.to_thread(run_page, known, texts, told))


async def events(request: Request) -> Response:
    """What is new of a run, as server-sent events, until it ends: first all claims, then those that changed."""
    runs = _runs(request)
    begun = runs.get(request.path_params["run"])
    told = _events(runs, begun.id, request.app.state.ending)
    return StreamingResponse(told, media_type="text/event-stream")


async def _events(runs: Runs, id_: str, ending: Callable[[], bool]) -> AsyncIterator[str]:
    sent: dict[str, str] = {}
    asked: dict[str, int] = {}
    seen, quiet = -1, 0.0
    with contextlib.suppress(BadInput):
        while begun := runs.found(id_):
            watched = runs.watched(id_)
            news = ""
            if watched is None or watched.news != seen:
                seen, news = watched.news if watched else seen, await _news(runs, begun, sent)
            elif (now := watched.asked()) != asked:
                asked, news = now, json.dumps({"asked": now})
            if news or quiet >= BEAT_S:
                quiet = 0.0
                yield f"data: {news}\n\n" if news else ": nothing new\n\n"
            if begun.state != "running" or ending():
                return
            await asyncio.sleep(LOOK_S)
            quiet += LOOK_S


async def _news(runs: Runs, begun: Begun, sent: dict[str, str]) -> str:
    """What a page hears: the run, the lines of its head, and the claims that aren't as they were sent."""
    known = await _known(runs, begun)
    told = await _told(runs, begun, known)
    report = report_of(known)
    data = await asyncio.to_thread(shown, known, runs.texts(begun, report), told)
    page = data.pop("report")
    claims = {str(n): json.dumps(claim, ensure_ascii=False) for n, claim in enumerate(page["claims"])}
    changed = {n: json.loads(text) for n, text in claims.items() if sent.get(n) != text}
    sent.update(claims)
    head = {"verdict": page["verdict"], "stamp": page["stamp"]}
    news = {"run": told, "page": data, "head": head, "claims": changed, "documents": len(page["documents"])}
    return json.dumps({**news, "sentences": [label for _, _, label in page["sentences"]]}, ensure_ascii=False)


async def take_marks(request: Request) -> Response:
    """Marks. Only what is no mark is refused; what can't be kept now (507) may be sent again."""
    runs, id_, given = _runs(request), request.path_params["run"], await _json(request)
    try:
        report = report_of(await _known(runs, runs.get(id_)))
        add_marks(runs.marks(id_), given, [one.id for one in report.claims])
        return await now(request)
    except NoMark:
        raise
    except BadInput as error:
        return JSONResponse({"error": str(error)}, 507)


async def act(request: Request) -> Response:
    """Stop, go on, decide."""
    runs, id_ = _runs(request), request.path_params["run"]
    match request.path_params["act"]:
        case "stop":
            runs.stop(id_)
        case "go":
            await runs.go_on(id_)
        case "decide":
            await runs.decide(id_, str((await _json(request)).get("name", "")))
        case other:
            raise BadInput(f"nothing is called {other[:40]!r}")
    return await now(request)


async def now(request: Request) -> Response:
    """How a run stands, and what a person said of it."""
    runs = _runs(request)
    begun = runs.get(request.path_params["run"])
    return JSONResponse(await _told(runs, begun, await _known(runs, begun)))


async def download(request: Request) -> Response:
    """The report, the marks as a case file, the corrected text."""
    runs, name = _runs(request), request.path_params["name"]
    begun = runs.get(request.path_params["run"])
    report = runs.report(begun.id)
    marks = read_marks(runs.marks(begun.id))
    if name == "report.json":
        data = (report.model_dump_json(indent=2) + "\n").encode()
    elif name == "cases.jsonl":
        data = case_file(report, runs.texts(begun, report), marks).encode()
    elif name in CORRECTED:
        data = await asyncio.to_thread(corrected, report, name, accepted(marks))
    else:
        raise BadInput(f"nothing is called {name[:40]!r}")
    title = f"{file_name(begun.title)}.{name}"
    plain = title.encode("ascii", "replace").decode().replace("?", "_")
    headers = {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(title)}"}
    return Response(data, media_type="application/octet-stream", headers=headers)


async def _known(runs: Runs, begun: Begun) -> Report | SoFar:
    return runs.report(begun.id) if begun.state == "done" else await runs.so_far(begun)


async def _told(runs: Runs, begun: Begun, known: Report | SoFar) -> dict[str, Any]:
    """What the scripts are told of a run."""
    disputes = {one["claim_id"]: one["shown"] for one in await runs.disputes(begun)}
    said = read_marks(runs.marks(begun.id))
    watched = runs.watched(begun.id)
    at: dict[str, Any] = {**watched.told, **watched.asked()} if watched else {}
    if isinstance(known, SoFar):
        claims = len(known.report.claims)
        at |= {"claims": claims, "checked": claims - len(known.open_claims)}
    return {
        "id": begun.id,
        "state": begun.state,
        "why": begun.why,
        "told": at,
        "marks": {id_: one.model_dump(mode="json") for id_, one in said.items()},
        "corrections": _corrections(report_of(known), accepted(said)),
        "disputes": disputes,
    }


def _corrections(report: Report, keys: set[str]) -> dict[str, int]:
    """How many of the accepted corrections are made, and how many not, since another changes the same words."""
    made = len(changes(report, keys))
    return {"made": made, "ruled_out": len(known_changes(report, keys)) - made}


def _runs(request: Request) -> Runs:
    runs: Runs = request.app.state.runs
    return runs


async def _json(request: Request) -> Any:
    """The JSON object of a request. Raises BadInput where it is none, or too long."""
    data = await request.body()
    try:
        given = json.loads(data) if len(data) <= LONGEST_JSON else None
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BadInput("give a JSON object of at most a million bytes")
    return given
