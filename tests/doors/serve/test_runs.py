"""A run through the local server: price, start, watch, stop, go on, decide, mark, take the results."""

import asyncio
import json
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from disputing import disputing
from fakes import ChatServer

from longproof.cli import main
from longproof.retrieval.types import BadInput
from longproof.review import resume_run, waiting_run

GRAY, TOKEN = Path(__file__).parents[2] / "gray", "t0ken"
pytestmark = pytest.mark.heavy


def heard(client: Any, run: str) -> list[dict[str, Any]]:
    """Watch a run as its page does until it ends; all that is told."""
    told: list[dict[str, Any]] = []
    seen, state = -1, "running"
    while state == "running":
        told.append(client.get(f"runs/{run}/now?seen={seen}").json())
        seen = told[-1].get("seen", seen)
        state = told[-1]["run"]["state"] if "run" in told[-1] else "gone" if "error" in told[-1] else state
        time.sleep(0.05)
    return told


def corrected(claim: dict[str, Any]) -> bool:
    return any(error["correction"] for error in claim.get("errors", ()))


def test_the_price_asks_nobody_and_claims_arrive_until_the_report(serving, chat):
    client = serving(prices={name: {"input": 2.0, "output": 8.0} for name in "abc"})
    cost = client.post("price", client.choice()).json()
    assert not chat.asked
    assert int(cost["calls"]) == 2
    assert cost["least_money"]
    assert "swapped" not in cost
    long = client.text("long.txt", b"Ada lit the lamp at nine. " * 900)
    assert client.post("price", client.choice(response=long)).json()["swapped"]
    run = client.begin()
    told = [one for one in heard(client, run) if "run" in one]
    assert told[0]["run"]["state"] == "running"
    assert {label for *_, label in told[0]["report"]["sentences"]} == {"open"}
    assert told[-1]["run"]["state"] == "done"
    last, report = told[-1]["report"], client.report(run)
    assert [label for *_, label in last["sentences"]] == [one["label"] for one in report["sentences"]]
    assert [claim["id"] for claim in last["claims"]] == [claim["id"] for claim in report["claims"]]
    assert client.rows()[0]["verdict"] == report["verdict"]


def test_calls_and_tokens_are_told_as_answers_come(serving):
    with ChatServer(disputing, delay_s=0.6) as slow:
        client = serving(slow, concurrency=1, reach="place")
        told = heard(client, client.begin())
    asked = [one.get("asked") or one["run"]["told"] for one in told[:-1]]
    calls = [one["calls"] for one in asked if "calls" in one]
    assert calls == sorted(calls)
    assert {1, 2, 3} <= {*calls}
    assert any(one["waiting"] for one in asked)
    assert asked[-1]["tokens"] > asked[0].get("tokens", 0)


def test_a_stopped_run_outlives_its_server_and_pays_nothing_twice(serving, chat):
    client = serving(concurrency=1)
    run = client.begin()
    while len(chat.asked) < 3:
        client.told(run)
    client.post(f"runs/{run}/stop")
    assert client.until(run, "stopped")["report"]["verdict"] == "stopped"
    client = serving()
    assert client.told(run)["run"]["state"] == "stopped"
    row, sums = client.rows()[0], client.data("")["sums"]
    assert (sums["all"], sums["calls"]) == (0, str(row["calls"]))
    assert row["calls"] > 0
    assert client.post(f"runs/{run}/go").json()["state"] == "running"
    client.until(run, "done")
    sent = [(asked.body["model"], asked.user) for asked in chat.asked]
    assert len(sent) == len({*sent})
    assert client.post(f"runs/{run}/go").json()["state"] == "done"


def test_marks_for_a_run_that_is_not_there_are_refused_and_may_be_sent_again(serving):
    for run in ("20200101-000000-abcd0123", "..", "x" * 200):
        answer = serving().post(f"runs/{run}/marks", {"s1": {"mark": "right"}})
        assert answer.status_code in (400, 404)
        assert answer.status_code == 404 or answer.json()["again"]


@pytest.mark.parametrize("number", [-1, 1000, 10**30, "x"])
def test_the_number_of_an_accepted_correction_is_bounded(serving, home, number):
    client = serving()
    run, told = client.done()
    marks = {told["report"]["claims"][0]["id"]: {"accepted": {str(number): True}}}
    assert client.post(f"runs/{run}/marks", marks).status_code == 400
    assert not (home / "serve" / run / "marks.json").exists()


def test_what_cannot_be_kept_is_not_refused(serving, home):
    client = serving()
    run, told = client.done()
    claim = told["report"]["claims"][0]["id"]
    path = home / "serve" / run / "marks.json"
    path.write_text("{")
    assert client.post(f"runs/{run}/marks", {claim: {"mark": "right"}}).status_code == 507
    assert path.read_text() == "{"
    path.unlink()
    path.mkdir()
    assert client.post(f"runs/{run}/marks", {claim: {"mark": "right"}}).status_code == 507


def test_disputes_are_decided_on_the_page_whoever_else_was_named(serving, chat):
    name = ("Ines Okafor " * 7)[:80]
    client = serving(arbiter=f"openai:c@{chat.address}")
    run = client.begin(person=True)
    told = client.until(run, "waiting")
    waiting = [claim["id"] for claim in told["report"]["claims"] if claim["label"] == "waiting"]
    assert set(told["run"]["disputes"]) == set(waiting) > set()

    def decide(client: Any, state: str, **said: Any) -> dict[str, Any]:
        client.post(f"runs/{run}/marks", {waiting[0]: said})
        client.post(f"runs/{run}/go", {"name": name})
        return client.until(run, state)["run"]

    assert [client.post(f"runs/{run}/go", {"name": n}).status_code for n in (" ", f"{name}.")] == [400, 400]
    client = serving()
    first = {"label": "fabricated", "wrong": "nobody wrote"}
    assert "doesn't stand in the passage" in decide(client, "waiting", note="hm", decision=first)["why"]
    told = decide(client, "waiting", decision={"wrong": "", "correction": "somebody"})
    assert "give the wrong words, too" in told["why"]
    assert told["marks"][waiting[0]]["decision"]["correction"] == "somebody"
    mended = {"label": "ambiguous", "reason": "I read it.", "correction": ""}
    kept = decide(client, "done", decision=mended)["marks"][waiting[0]]
    assert (kept["note"], kept["decision"]["label"]) == ("hm", ""), "what is handed in is so once"
    report = client.report(run)
    decided = {claim["id"]: claim["label"] for claim in report["claims"] if claim["decided_by"] == "person"}
    assert decided == {waiting[0]: "ambiguous"}
    assert report["stamp"]["reviews"][0]["name"] == name


def test_what_was_decided_in_the_terminal_is_taken_up(serving):
    client = serving()
    run = client.begin(person=True)
    client.until(run, "waiting")
    asyncio.run(resume_run(run, {"name": "Ines Okafor"}))
    client.post(f"runs/{run}/go")
    assert client.until(run, "done")["report"]["verdict"] != "waiting"


def test_only_accepted_corrections_are_made(serving):
    client = serving()
    choice = client.choice()
    run, told = client.done(response={**choice["response"], "title": "红楼梦 第一回"})
    answer = told["report"]["case"]["response"]
    assert client.get(f"runs/{run}/corrected.txt").text == answer
    claim = next(one for one in told["report"]["claims"] if corrected(one))
    client.post(f"runs/{run}/marks", {claim["id"]: {"accepted": {"0": True}}})
    span, new = claim["errors"][0]["span"], claim["errors"][0]["correction"]
    wanted = answer[: span["start"]] + new + answer[span["end"] :]
    made = client.get(f"runs/{run}/corrected.txt")
    assert made.text == wanted
    assert made.headers["content-disposition"].endswith(f"UTF-8''{quote('红楼梦_第一回')}.corrected.txt")


def test_the_owners_reach_is_the_farthest(serving):
    client = serving(reach="search", max_tokens=1000)
    assert client.post("price", client.choice(reach="scan")).status_code == 400
    assert client.post("price", client.choice(reach="place")).status_code == 200
    run, _ = client.done(max_tokens=10**6)
    settings = client.report(run)["stamp"]["settings"]
    assert (settings["reach"], settings["max_tokens"]) == ("search", 1000)
    assert client.data("")["offer"]["reach"] == ["place", "search"]


def test_what_one_tab_marks_another_hears_and_neither_overwrites_the_other(serving):
    client = serving()
    run, told = client.done()
    claim = told["report"]["claims"][0]["id"]
    here, there = client.post, serving().post
    here(f"runs/{run}/marks", {claim: {"accepted": {"0": True}, "mark": "wrong"}})
    there(f"runs/{run}/marks", {claim: {"accepted": {"1": True}}})
    here(f"runs/{run}/marks", {claim: {"note": "hm"}})
    now = there(f"runs/{run}/marks", {claim: {"accepted": {"2": True, "1": False}}}).json()
    assert now["marks"][claim]["accepted"] == {"0": True, "1": False, "2": True}
    assert (now["marks"][claim]["mark"], now["marks"][claim]["note"]) == ("wrong", "hm")
    assert serving().get(f"runs/{run}/now").json() == now


def test_a_correction_that_another_rules_out_does_not_count_as_made(serving, home):
    client = serving()
    run, _ = client.done()
    path = home / "serve" / run / "report.json"
    report = json.loads(path.read_text("utf-8"))
    claim = next(one for one in report["claims"] if corrected(one))
    claim["errors"].append({**claim["errors"][0], "correction": "other"})
    path.write_text(json.dumps(report), "utf-8")
    taken = {claim["id"]: {"accepted": {"0": True, f"{len(claim['errors']) - 1}": True, "77": True}}}
    assert client.post(f"runs/{run}/marks", taken).json()["corrections"] == {"made": 1, "ruled_out": 1}


def test_an_edited_text_asks_only_for_the_groups_that_changed(serving, chat):
    client = serving(concurrency=16, reach="place")
    quiet = "The river at bend {0} was quiet, and nobody spoke of the flood of year 17{0}. " * 12
    told = [f"On day {n} the ferryman Abel{n} carried {n + 4} barrels of salt." for n in range(1, 61)]
    story = "\n".join(f"{one} {quiet.format(n)}" for n, one in enumerate(told))
    texts = [client.text(name, text.encode()) for name, text in (("a.txt", story), ("b.txt", " ".join(told)))]
    run = client.begin(sources=texts[:1], response=texts[1])
    first, asked = client.until(run, "done"), [one.user for one in chat.asked]
    groups = {user for user in asked if told[0] in user or told[-1] in user or told[30] in user}
    assert len(groups) > 2, "the text is long enough for several groups"
    told[-1] = "On day 60 the ferryman Abel60 stayed at home."
    again = client.again(run, " ".join(told).encode()).json()["run"]
    second, news = client.until(again, "done"), [one.user for one in chat.asked][len(asked) :]
    assert 0 < len(news) < len(asked) / 2
    assert not any(sentence in user for sentence in told[:20] for user in news)
    assert first["report"]["sentences"][:20] == second["report"]["sentences"][:20]
    assert len({json.dumps(client.report(one)["stamp"]["settings"]) for one in (run, again)}) == 1


def test_a_run_is_renamed_and_deleted_with_all_that_is_its_own(serving, home):
    client = serving()
    (run, _), other = client.done(), client.begin(person=True)
    client.until(other, "waiting")
    client.post(f"runs/{run}/rename", {"name": " My <b>check</b> "})
    rows = {row["id"]: row for row in client.rows()}
    assert (rows[run]["case"], rows[run]["sources"]) == ("My <b>check</b>", ["article"])
    for act in ("rename", "delete", "again"):
        assert client.post(f"runs/{run}/{act}", {}, origin="https://evil.example").status_code == 403
        assert client.get(f"runs/{run}/{act}").status_code == 400
    for one in (run, other):
        assert client.post(f"runs/{one}/delete").status_code == 200
        assert client.get(f"runs/{one}").status_code == 400
    assert client.rows() == []
    assert not list((home / "serve").iterdir())
    with pytest.raises(BadInput):
        asyncio.run(waiting_run(other))


@pytest.mark.parametrize("by_hand", [True, False])
def test_a_run_that_is_deleted_while_it_goes_on_stops_and_does_not_come_back(serving, home, by_hand):
    with ChatServer(disputing, delay_s=0.6) as slow:
        client = serving(slow, concurrency=1)
        run = client.begin()
        while not slow.asked:
            client.told(run)
        if by_hand:
            shutil.rmtree(home / "serve" / run)
        else:
            assert client.post(f"runs/{run}/delete").status_code == 200
        assert heard(client, run) == [{"error": f"there is no run {run!r}"}]
        assert client.rows() == []
        assert len(slow.asked) <= 2
    assert not (home / "serve" / run).exists()


def test_checks_of_the_command_line_are_listed_once_and_go_on_in_the_browser(serving, chat):
    client = serving()
    verify = ["verify", "--source", str(GRAY / "article.txt"), "--response", str(GRAY / "summary.txt")]
    models = [part for name in "abc" for part in ("--judge", f"openai:{name}@{chat.address}")]
    for command in (verify, verify, [*verify, *models, "--arbiter", "person", "--run-id", "mine"]):
        with pytest.raises(SystemExit):
            main(command)
    rows = {row["verdict"]: row for row in client.rows()}
    assert len(rows) == len(client.rows()) == 2
    waiting = rows["waiting"]
    assert (waiting["case"], waiting["sources"]) == ("summary", ["article"])
    assert client.told(waiting["id"])["run"]["disputes"]
    client.post(f"runs/{waiting['id']}/go", {"name": "Ines Okafor"})
    client.until(waiting["id"], "done")


def test_a_check_again_keeps_to_what_is_offered_now(serving, chat, home):
    roles = ("arbiter", "decomposer", "searcher")
    offered = dict.fromkeys(roles, f"openai:c@{chat.address}")
    run, _ = serving(**offered, reach="search", max_tokens=10**6).done()
    asked, path = len(chat.asked), home / "serve" / run / "run.json"
    kept = json.loads(path.read_text("utf-8"))
    offers = [({**offered, "judges": [f"openai:a@{chat.address}"]}, {})]
    offers += [({**offered, role: None}, {}) for role in roles]
    offers += [(offered, {"embedder": "openai:big"}), (offered, {"pages": "elsewhere"})]
    for offer, settings in offers:
        path.write_text(json.dumps({**kept, "settings": {**kept["settings"], **settings}}), "utf-8")
        refused = serving(**offer).again(run, b"Nobody came.")
        assert (refused.status_code, "doesn't offer" in refused.json()["error"]) == (400, True)
    assert len(chat.asked) == asked
    path.write_text(json.dumps(kept), "utf-8")
    client = serving(**offered, reach="place", max_tokens=2 * 10**6, max_calls=3)
    again = client.again(run, b"Nobody came.").json()["run"]
    client.until(again, "done")
    settings = client.report(again)["stamp"]["settings"]
    assert [settings[name] for name in ("reach", "max_tokens", "max_calls")] == ["place", 10**6, 3]


def test_a_run_of_an_earlier_edition_is_not_listed(serving, home):
    client = serving()
    run, _ = client.done()
    path = home / "serve" / run / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), "gone": 3}), "utf-8")
    assert client.rows() == []
    assert "earlier edition" in client.get(f"runs/{run}").json()["error"]


def test_a_name_stays_where_the_command_is_repeated_and_holds_no_half_characters(serving):
    client = serving()
    run = client.post("example", {"language": "en"}).json()["run"]
    title = client.rows()[0]["case"]
    client.raw.post(f"/{TOKEN}/runs/{run}/rename", content=b'{"name": "a\\ud800b"}')
    assert client.post("example", {"language": "en"}).json()["run"] == run
    assert client.rows()[0]["case"] == "a\ufffdb"
    for name, status in (("x" * 201, 400), (["x"], 400), (None, 200)):
        assert client.post(f"runs/{run}/rename", {"name": name}).status_code == status
    assert client.rows()[0]["case"] == title
