"""`longproof batch`, `evaluate` and `construct`: what they leave in their folders, exit codes, payments."""

import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest
from batches import SOURCE, case, write
from fakes import ChatServer
from reader import denying, well
from scripted_writer import novel, writer
from terminal import BATCH, EVALUATE, run


@pytest.fixture
def two(files: Path) -> list[dict[str, object]]:
    """Two cases, one of them wrong, in the folder's case file."""
    rows = [case("<b>right"), case("wrong", response="Tom sold the boat to Ada for ninety pounds.")]
    write(files, rows)
    return rows


def test_it_leaves_reports_pages_and_an_index(files, two, capsys):
    with ChatServer(denying("ninety")) as server:
        judge = ("--judge", f"openai:m@{server.address}")
        assert run(*BATCH, *judge) == 0
        assert not Path("out/pages").exists()
        assert run(*BATCH, *judge, "--html") == 0
    assert capsys.readouterr().out.startswith("2 cases: 1 faithful, 1 hallucinated\n")
    assert {page.name for page in Path("out/pages").iterdir()} == {"_b_right.html", "wrong.html"}
    index = Path("out/index.html").read_text("utf-8")
    assert ("./pages/wrong.html" in index, "<b>right" in index) == (True, False)
    assert run(*BATCH, *judge, "--check") == 1


def test_junit_has_a_test_for_every_case_and_says_why_it_fails(files, two):
    rows = [
        case("open\x1b", response="Ada was lonely & <i>cold</i>.\ufffe"),
        {"id": "no\u2028ne", "source": "none.txt", "response": "Ada left."},
        case("said", response=SOURCE),
    ]
    write(files, [*two, *rows])
    with ChatServer(denying("ninety", "twenty")) as server:
        assert run(*BATCH, "--judge", f"openai:m@{server.address}", "--junit", "tests.xml") == 2
    suite = ElementTree.parse("tests.xml").getroot()
    assert suite.attrib == {"name": "longproof", "tests": "5", "failures": "2", "errors": "1"}
    tests = {test.get("name"): (one.tag, one.get("type"), str(one.text)) for test in suite for one in test}
    assert {test.get("name") for test in suite} - tests.keys() == {"<b>right", "said"}
    for name, kind, says in (
        ("wrong", ("failure", "hallucinated"), "'ninety' should be 'twenty'"),
        ("open␛", ("failure", "hallucinated"), "lonely & <i>cold</i>"),
        ("no⟦LS⟧ne", ("error", "not checked"), "none.txt"),
    ):
        assert (tests[name][:2], says in tests[name][2]) == (kind, True), name
    assert run("batch", "cases.jsonl", "--out", "offline", "--junit", "tests.xml") == 2
    failures = ElementTree.parse("tests.xml").getroot().findall("./testcase/failure")
    assert {failure.get("type") for failure in failures} == {"undecided"}


def test_the_documented_step_is_a_command_that_runs(files, two):
    documented = (Path(__file__).parents[3] / "docs" / "embedding.md").read_text("utf-8")
    (line,) = re.findall(r"(?m)^ *(longproof batch.*)", documented)
    assert run(*shlex.split(line.replace("openai:gpt-4.1", "offline"))[1:]) == 3
    assert Path("checked.xml").is_file()
    assert "undecided (no model)" in Path("checked/index.html").read_text("utf-8")


BAD = {
    '{"id": "x", ': "not JSON",
    "[1, 2]": "not a JSON object",
    "{}": "id: Field required",
    json.dumps({"id": "x", "source_text": "y"}): "response",
    json.dumps(case("x", contxt="y")): "contxt",
    json.dumps(case("x", task="poem")): "task",
    json.dumps(case("x", source_text="")): "no source",
    json.dumps(case("x", source="story.txt")): "one of source",
    json.dumps(case("x1", source_text=[], source="gone.txt")): "gone.txt",
    json.dumps(case("x2", source_text=[], source="a\0b")): "file's name",
    json.dumps(case("x3", response=" ")): "no text",
    json.dumps(case("x4", source_text="a\0b")): "NUL",
    '{"id": "x", "label": ' + "[" * 100_000 + "]" * 100_000 + "}": "not",
}


def test_cases_that_cannot_be_checked_are_named_after_the_others_are_done(files, capsys):
    bad = [line.replace('"id": "x', f'"id": "x{number}.') for number, line in enumerate(BAD)]
    record = {"id": "record", "source": {"lamp": {"lit": "nine"}}, "response": "The lamp was lit at nine."}
    write(files, [case("a"), *bad, record])
    assert run(*BATCH) == 2
    told, index = capsys.readouterr().err, Path("out/index.html").read_text("utf-8")
    assert {path.name for path in Path("out/reports").iterdir()} == {"a.json", "record.json"}
    assert all((Path("out") / name).exists() for name in re.findall(r'href: "\./(.+?)"', index))
    assert all(f"{len(BAD)} of {len(BAD) + 2} cases could not be checked" in one for one in (told, index))
    for line, says in enumerate(BAD.values(), 2):
        assert line > 6 or re.search(f"line {line}, case .+: .*{re.escape(says)}", told), says
        assert re.search(f',"line":{line},"failure":"[^}}]*{re.escape(says)}', index), says


def test_its_help_shows_what_a_case_is(files, capsys):
    assert run("batch", "--help") == 0
    examples = [line for line in capsys.readouterr().out.splitlines() if line.startswith('  {"id"')]
    rows = [json.loads(example) for example in examples]
    (files / "novel.txt").write_text(SOURCE, "utf-8")
    (files / "summary.txt").write_text("Ada lit the lamp at nine.", "utf-8")
    rows[2]["source"] = "novel.txt"
    write(files, rows)
    assert run(*BATCH) == 0


def test_a_dry_run_counts_the_examples_that_cannot_be_checked(files, capsys):
    write(files, [case("a", label="faithful"), case("b", source_text="", label="faithful")])
    with ChatServer(well) as server:
        assert run(*EVALUATE, "--judge", f"openai:m@{server.address}", "--dry-run") == 0
    assert (
        "1 of them can't be checked and aren't counted; the first: there is no source"
        in capsys.readouterr().out
    )


def test_one_case_is_one_case(files, capsys):
    assert run(*BATCH) == 0
    assert capsys.readouterr().out.startswith("1 case: ")


def test_evaluate_takes_the_limits_of_verify_and_goes_on_where_a_budget_ended(files, capsys):
    told = [f"Ada has {n} lamps." for n in range(3)]
    write(files, [case(one, source_text=f"{one} Tom left.", response=one, label="faithful") for one in told])
    with ChatServer(well, delay_s=0.1) as server:
        judge = ("--judge", f"openai:m@{server.address}", "--concurrency", "1")
        assert run(*EVALUATE, *judge, "--dry-run") == 0
        estimate = capsys.readouterr().out
        assert all(says in estimate for says in ("3 examples", "first round: 3 calls (judge 3)"))
        assert server.asked == []
        assert run(*EVALUATE, *judge, "--max-calls", "2") in (0, 2)
        assert len(server.asked) == 2
        assert run(*EVALUATE, *judge) == 0
    assert (len(server.asked), server.most_at_once) == (3, 1)
    assert "| accuracy of faithful | 1.000 |" in capsys.readouterr().out


def test_models_that_make_data_are_asked_and_paid_once(files, capsys):
    (files / "book.txt").write_text(novel(1, 60).text, "utf-8")
    with ChatServer(writer()) as server:
        model = ("--cases", "20", "--model", f"openai:m@{server.address}")
        paid = []
        for _ in range(2):
            assert run("construct", "longnovel", "book.txt", "--out", "set", *model) == 0
            paid.append("paid now 0" in capsys.readouterr().out)
    assert paid == [False, True]
