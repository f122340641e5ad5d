"""benchmarks/accuracy.py: a row a recording, the plain question beside it, papers' methods in a table of their
own; no figure for data that aren't here."""

import json
from pathlib import Path
from types import ModuleType

import pytest
from disputing import disputing
from fakes import ChatServer
from scripts import benchmark

from longproof.evaluation.run import record_dataset
from longproof.examples import pages
from longproof.retrieval.types import BadInput

CASES = str(Path(__file__).parent / "cases.jsonl")


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benchmark("accuracy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of eight cases: ours, the plain question, a paper's method, and the same of a set that went away."""
    folder = tmp_path_factory.mktemp("recorded")
    gone = folder / "gone.jsonl"
    gone.write_text(Path(CASES).read_text("utf-8"), "utf-8")
    runs = {"ours": (CASES, "longproof"), "plain": (CASES, "plain"), "gone": (str(gone), "longproof")}
    runs["paper"] = ("small_summary", "verigray-rag")
    with ChatServer(disputing) as server:
        for name, (dataset, protocol) in runs.items():
            out, options = folder / f"run-{name}", {"judges": [f"openai:m0@{server.address}"], "sample": 8}
            if name == "paper":
                options["pages"] = str(pages("small"))
            record_dataset(dataset, folder / f"{name}.gz", out=out, protocol=protocol, **options)
    gone.unlink()
    return folder


def test_each_recording_has_a_row_with_the_plain_question_beside_it(bench: ModuleType, folder: Path) -> None:
    gone, ours = bench.rows(bench.recordings(folder))
    row = dict(zip(bench.COLUMNS, ours, strict=True))
    assert row["cases"] == "8"
    assert float(row["price"]) > float(row["its price"]) > 1
    plain = (folder / "run-plain" / "table.md").read_text("utf-8")
    assert f"| mean accuracy | {row['asked plainly'].split()[0]} |" in plain
    assert f"--replay {folder / 'ours.gz'}" in row["replay"]
    assert "data not here: " in " ".join(gone)


def test_a_papers_method_has_its_work_and_a_command_with_its_pages(bench: ModuleType, folder: Path) -> None:
    (row,) = bench.paper_rows(bench.recordings(folder))
    cells = dict(zip(bench.PAPER_COLUMNS, row, strict=True))
    assert cells["method"] == "verigray-rag"
    assert cells["work"] == "VeriGray (Ding et al., 2025)"
    assert cells["cases"] == "7"
    assert f"--replay {folder / 'paper.gz'} --pages {pages('small')} --out" in cells["replay"]


def test_the_table_is_written_only_from_all_the_data(bench: ModuleType, folder: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    page = "<!-- accuracy -->\n{accuracy}<!-- /accuracy -->\nbetween\n<!-- papers -->\n{papers}<!-- /papers -->\n"
    readme.write_text(page.format(accuracy="old\n", papers=""), "utf-8")
    found = bench.recordings(folder)
    here = [one for one in found if one.path.stem != "gone"]
    with pytest.raises(BadInput, match="nothing is written"):
        bench.keep_figures(tmp_path / "figures.json", found)
    for _ in range(2):
        bench.keep_figures(tmp_path / "figures.json", here)
    (kept,) = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    assert "licence" in kept[-1]
    made = bench.tables(here)
    for _ in range(2):
        bench.write(readme, made, here)
    assert readme.read_text("utf-8") == page.format(**made)


@pytest.mark.heavy
def test_the_page_tells_what_all_recordings_give(bench: ModuleType, data: Path) -> None:
    found = bench.recordings(bench.RECORDED)
    bench.refuse_absent(found)
    told = {marked[2]: marked[3] for marked in bench.MARKED.finditer(bench.PAGE.read_text("utf-8"))}
    assert told == bench.tables(found)
