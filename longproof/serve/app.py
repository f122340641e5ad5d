"""The routes of the local server, and its pages: the start page over all runs, and the page of each.

Knows: what each address answers, and that a refusal is one line; what the scripts of this folder are given; that what
isn't checked yet is called `open`, not undecided. Does not know: who may ask (`guard`), how a run goes on (`runs`),
how a page is drawn.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from longproof.agent.report import WRONG
from longproof.graphs.cases import file_name
from longproof.graphs.reporting import SoFar
from longproof.indexes.documents import DocumentRef, DocumentStore
from longproof.report.corrected import FORMS, changes, corrected_text, known_changes
from longproof.report.html import INDEX, PAGE, assemble, index_sums, page_data
from longproof.report.markdown import to_markdown
from longproof.report.words import SIGNS, Language, language, words
from longproof.retrieval.contents import CHARACTERS
from longproof.retrieval.files import private_folder
from longproof.retrieval.loaders import FILE_BYTES, read_source
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.types import BadInput
from longproof.review import saved_run
from longproof.serve.guard import guard_app
from longproof.serve.kept import LONGEST, Begun, NoMark, accepted_keys, add_marks, read_marks
from longproof.serve.offer import Offer, price, read_choice
from longproof.serve.runs import LONGEST_NAME, Runs

NO_LINE = {"wrong": 0, "sentences": 0, "kinds": [], "coverage": 0, "calls": 0, "tokens": 0, "triage": False}
"""In the list, of a run that has no report; one that has ended says what was asked."""
CORRECTED = tuple(f"corrected{suffix}" for suffix in FORMS)


def application(offer: Offer, token: str) -> ASGIApp:
    """The server, which answers under `/TOKEN/` alone. Raises BadInput where its runs can't be kept."""

    runs = Runs()
    private_folder(runs.folder)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.runs = runs
        app.state.offer = offer
        yield
        await asyncio.gather(*runs.stop(*runs.watched), return_exceptions=True)

    routes = [
        Route("/", start),
        Route("/texts", take_text, methods=["POST"]),
        Route("/price", tell_price, methods=["POST"]),
        Route("/runs", begin, methods=["POST"]),
        Route("/example", show_example, methods=["POST"]),
        Route("/runs/{run}", show),
        Route("/runs/{run}/now", now),
        Route("/runs/{run}/marks", take_marks, methods=["POST"]),
        Route("/runs/{run}/again", check_again, methods=["POST"]),
        Route("/runs/{run}/{act:str}", act, methods=["POST"]),
        Route("/runs/{run}/{name:str}", download),
    ]
    handlers = {BadInput: refuse, ClientDisconnect: refuse}
    return guard_app(Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers), token)


async def refuse(_: Request, error: Exception) -> Response:
    """Say in one line what can't be used. Nobody hears it who went away while sending."""
    return JSONResponse({"error": str(error)}, 400)


async def start(request: Request) -> Response:
    runs, spoken = _runs(request).all(), _spoken(request.headers.get("accept-language"))
    rows = []
    for run in runs:
        about = {"id": run.id, "title": run.title, "verdict": run.state}
        own = {"href": f"runs/{run.id}", "case": run.name or run.title, "created": run.created}
        rows.append({**NO_LINE, **about, **run.line, **own, "sources": [ref.title for ref in run.sources]})
    data = {
        "rows": rows,
        "sums": {**index_sums(rows), "all": sum(run.state == "done" for run in runs)},
        "offer": request.app.state.offer.as_data(),
        "bytes": FILE_BYTES,
        "characters": CHARACTERS,
    }
    scripts = (*INDEX, "ask", "start")
    return HTMLResponse(assemble("index.html", scripts, data, spoken, "longproof", "longproof", local=True))


async def take_text(request: Request) -> Response:
    """Store the text in a file's bytes; nothing else of the file is kept."""
    name = without_surrogates(Path(request.query_params.get("name", "").replace("\\", "/")).name)
    data = await request.body()
    ref = await asyncio.to_thread(_store_text, _runs(request).store, name, data)
    return JSONResponse(ref.model_dump())


def _store_text(store: DocumentStore, name: str, data: bytes) -> DocumentRef:
    stem, suffix = Path(name).stem[:LONGEST_NAME], Path(name).suffix[:20]
    read = read_source(Path(stem + suffix), data=data)
    read.refuse_wordless()
    return store.put(read.model_copy(update={"uri": ""}))


async def tell_price(request: Request) -> Response:
    choice, store = read_choice(await _json(request)), _runs(request).store
    sources = [store.open(ref) for ref in choice.sources]
    settings = request.app.state.offer.settings_for(choice)
    return JSONResponse(await price(settings, sources, store.open(choice.response)))


async def begin(request: Request) -> Response:
    choice = read_choice(await _json(request))
    settings = request.app.state.offer.settings_for(choice)
    return JSONResponse({"run": _runs(request).begin(choice, settings)})


async def show_example(request: Request) -> Response:
    """Check the bundled example with its recorded answers: nobody is asked, nothing is paid."""
    spoken = _spoken((await _json(request)).get("language"))
    return JSONResponse({"run": await _runs(request).keep_example(spoken)})


async def show(request: Request) -> Response:
    runs, begun = _run(request)
    known, run = await _stand_of(runs, begun)
    texts = runs.texts(begun, known.report)
    return HTMLResponse(await asyncio.to_thread(_run_page, known, texts, run))


async def now(request: Request) -> Response:
    """Tell how a run stands, and what a person said of it.

    A page that watches names what it has `seen`, and hears all that can have changed since; else only what was asked.
    """
    runs, begun = _run(request)
    watched, seen = runs.watched.get(begun.id), request.query_params.get("seen")
    if watched and seen == str(watched.news):
        return JSONResponse({"asked": watched.counts()})
    news = watched.news if watched else -1
    known, run = await _stand_of(runs, begun)
    if seen is None:
        return JSONResponse(run)
    data = await asyncio.to_thread(_page_data, known, runs.texts(begun, known.report), run)
    for document in data["report"]["documents"]:
        document.pop("text", None)
    return JSONResponse({"seen": news, **data})


async def take_marks(request: Request) -> Response:
    """Keep marks. What is no mark is refused (400).

    Marks that can't be kept now (507), and marks for a run that isn't there (400; its folder may come back), may be
    sent again.
    """
    given = await _json(request)
    try:
        runs, begun = _run(request)
    except BadInput as error:
        return JSONResponse({"error": str(error), "again": True}, 400)
    try:
        report = (await runs.latest_report(begun)).report
        add_marks(runs.file(begun.id, "marks.json"), given, [one.id for one in report.claims])
        return await now(request)
    except NoMark:
        raise
    except BadInput as error:
        return JSONResponse({"error": str(error)}, 507)


async def check_again(request: Request) -> Response:
    """Check the body, an edited text, as this run's was checked, within what is offered now."""
    runs, begun = _run(request)
    name = begun.response.title + (".md" if begun.response.kind == "markdown" else ".txt")
    ref = await asyncio.to_thread(_store_text, runs.store, name, await request.body())
    return JSONResponse({"run": runs.check_again(begun.id, ref, request.app.state.offer)})


async def act(request: Request) -> Response:
    """Stop, go on (with what was decided), rename, delete."""
    runs, id_ = _runs(request), request.path_params["run"]
    match request.path_params["act"]:
        case "stop":
            runs.stop(id_)
        case "go":
            await runs.go_on(id_, await _name(request))
        case "rename":
            runs.rename(id_, await _name(request))
            return JSONResponse({})
        case "delete":
            await runs.delete(id_)
            return JSONResponse({})
        case other:
            raise BadInput(f"nothing is called {other[:40]!r}")
    return await now(request)


async def download(request: Request) -> Response:
    """Send the report, or the corrected text."""
    runs, begun = _run(request)
    name, report = request.path_params["name"], runs.report(begun.id)
    if name == "report.json":
        data = (report.model_dump_json(indent=2) + "\n").encode()
    elif name in CORRECTED:
        data = await asyncio.to_thread(
            corrected_text, report, name, accepted_keys(read_marks(runs.file(begun.id, "marks.json")))
        )
    else:
        raise BadInput(f"nothing is called {name[:40]!r}")
    title = f"{file_name(begun.title)}.{name}"
    plain = title.encode("ascii", "replace").decode().replace("?", "_")
    headers = {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(title)}"}
    return Response(data, media_type="application/octet-stream", headers=headers)


async def _stand_of(runs: Runs, begun: Begun) -> tuple[SoFar, dict[str, Any]]:
    """The report of a run, as far as it is known, and the run as the scripts are told of it."""
    known, watched = await runs.latest_report(begun), runs.watched.get(begun.id)
    report, marks = known.report, read_marks(runs.file(begun.id, "marks.json"))
    progress: dict[str, Any] = {**watched.at, **watched.counts()} if watched else {}
    if begun.state != "done":
        progress |= {"claims": len(report.claims), "checked": len(report.claims) - len(known.open_claims)}
    # Of accepted corrections that change the same words one is made.
    accepted = accepted_keys(marks)
    made = len(changes(report, accepted))
    disputes = (await saved_run(begun.settings))[1] if begun.state == "waiting" else []
    return known, {
        "id": begun.id,
        "editable": not begun.recorded,
        "state": begun.state,
        "why": begun.why,
        "told": progress,
        "marks": {id_: one.model_dump(mode="json") for id_, one in marks.items()},
        "corrections": {"made": made, "ruled_out": len(known_changes(report, accepted)) - made},
        "disputes": {one["claim_id"]: one["shown"] for one in disputes},
    }


def _runs(request: Request) -> Runs:
    runs: Runs = request.app.state.runs
    return runs


def _run(request: Request) -> tuple[Runs, Begun]:
    """The run that the address names. Raises BadInput where there is none."""
    runs = _runs(request)
    return runs, runs.get(request.path_params["run"])


async def _name(request: Request) -> str:
    """The name that a request gives; empty without one. Raises BadInput where it is no text."""
    name = (await _json(request)).get("name") or ""
    if not isinstance(name, str):
        raise BadInput("give a name as text")
    return without_surrogates(name)


async def _json(request: Request) -> Any:
    """The JSON object of a request. Raises BadInput where it is none, or too long."""
    data = await request.body()
    try:
        given = json.loads(data) if len(data) <= 1_000_000 else None
    except (ValueError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise BadInput("give a JSON object of at most a million bytes")
    return given


def _spoken(tag: object) -> Language:
    return "zh" if str(tag).startswith("zh") else "en"


def _run_page(known: SoFar, texts: Mapping[str, str], run: Mapping[str, Any]) -> str:
    """The page of a run, of which this is known. `run` is what the scripts are told of it."""
    report = known.report
    title = (f"{SIGNS[report.verdict]} " if run["state"] == "done" else "") + f"{report.case.id} · longproof"
    spoken, plain = language(report.case.response), to_markdown(report, texts)
    data, scripts = _page_data(known, texts, run), (*PAGE, "ask", "marks", "live")
    return assemble("page.html", scripts, data, spoken, title, plain, local=True)


def _page_data(known: SoFar, texts: Mapping[str, str], run: Mapping[str, Any]) -> dict[str, Any]:
    """The data that a run's page is drawn from: the report's, with the claims' ids, and what is open called so."""
    report = known.report
    say = words(language(report.case.response), "serve")
    data = {**page_data(report, texts, say), "run": run, "longest": LONGEST}
    for short, claim in zip(data["report"]["claims"], report.claims, strict=True):
        short["id"] = claim.id
    if run["state"] != "done":
        _leave_open(data, known, str(run["state"]))
        wrong = sum(label in WRONG for _, _, label in data["report"]["sentences"])
        told = say["sentences_wrong"].format(n=wrong, all=len(report.sentences))
        data |= {"summed": told if wrong else "", "triage": "", "unread": False}
    return data


def _leave_open(data: dict[str, Any], known: SoFar, state: str) -> None:
    """Give what isn't settled yet no label that a reader could take for one: it is open, or waits for a person."""
    data["report"]["verdict"] = state
    unsettled = "waiting" if state == "waiting" else "open"
    touched = set()
    for short in data["report"]["claims"]:
        if short["id"] in known.open_claims:
            touched.add(short["sentence"])
            short["label"] = unsettled
            short.pop("failure", None)
    for index, sentence in enumerate(data["report"]["sentences"]):
        if (index in touched and sentence[2] not in WRONG) or not known.decomposed:
            sentence[2] = unsettled
