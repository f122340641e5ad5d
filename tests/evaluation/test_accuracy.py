"""benchmarks/accuracy.py: a row a recording, the plain question beside it; no figure for data that aren't here."""

import json
from pathlib import Path
from types import ModuleType

import pytest
from disputing import disputing
from fakes import ChatServer
from scripts import benchmark

from longproof.evaluation.run import record_dataset
from longproof.retrieval.types import BadInput

CASES = str(Path(__file__).parent / "cases.jsonl")


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    return benchmark("accuracy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings of eight cases: ours, the plain question, and the same of a set that went away."""
    folder = tmp_path_factory.mktemp("recorded")
    gone = folder / "gone.jsonl"
    gone.write_text(Path(CASES).read_text("utf-8"), "utf-8")
    runs = {"ours": (CASES, "longproof"), "plain": (CASES, "plain"), "gone": (str(gone), "longproof")}
    with ChatServer(disputing) as server:
        options = {"judges": [f"openai:m0@{server.address}"], "sample": 8}
        for name, (dataset, protocol) in runs.items():
            out = folder / f"run-{name}"
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


def test_the_table_is_written_only_from_all_the_data(bench: ModuleType, folder: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- accuracy -->\nold\n<!-- /accuracy -->\nafter\n", "utf-8")
    found = bench.recordings(folder)
    here = [one for one in found if one.path.stem != "gone"]
    with pytest.raises(BadInput, match="nothing is written"):
        bench.keep_figures(tmp_path / "figures.json", found)
    for _ in range(2):
        bench.keep_figures(tmp_path / "figures.json", here)
    (kept,) = json.loads((tmp_path / "figures.json").read_text("utf-8"))
    assert "licence" in kept[-1]
    made = bench.table(here)
    for _ in range(2):
        bench.write(readme, made, here)
    assert readme.read_text("utf-8") == f"before\n<!-- accuracy -->\n{made}<!-- /accuracy -->\nafter\n"


@pytest.mark.heavy
def test_the_page_tells_what_all_recordings_give(bench: ModuleType, data: Path) -> None:
    found = bench.recordings(bench.RECORDED)
    bench.refuse_absent(found)
    assert bench.MARKED.search(bench.PAGE.read_text("utf-8"))[1] == bench.table(found)
