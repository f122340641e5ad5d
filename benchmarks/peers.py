"""Cost and findings of a check, beside what people use today, against one scripted server on loopback.

The source is a log of a lighthouse; each sentence of the response restates one entry. Two responses a size: a
faithful one, and one with one wrong number. The server (`perfect.py`) answers after a fixed time and reads
perfectly, but only what it is sent. Each tool runs in a process of its own, under the Python named for it, and is
warmed by a small case. Checks of the fewest sentences are made three times; their wall time is the median.

    PYTHONPATH=tests python benchmarks/peers.py --python deepeval=VENV/bin/python openevals=… llamaindex=… trulens=…

Options: `--tools`, `--sources` (characters), `--sentences`.
"""

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from perfect import Planted, open_server, planted_case


def with_longproof(address: str, case: Planted, folder: str) -> Callable[[], bool]:
    """Three judges, one decomposer: the default protocol."""
    from longproof import Verifier

    judges = [f"openai:{name}@{address}" for name in ("one", "two", "three")]
    verifier = Verifier(judges=judges, home=folder, concurrency=64, cache=False)
    return lambda: verifier.verify(case.source, case.response).verdict != "faithful"


def with_deepeval(address: str, case: Planted, folder: str) -> Callable[[], bool]:
    """FaithfulnessMetric over one retrieval context; below 1 of 1 is a flag."""
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import LocalModel
    from deepeval.test_case import LLMTestCase

    model = LocalModel(model="m", base_url=address, api_key="none")

    def check() -> bool:
        metric = FaithfulnessMetric(model=model, threshold=1.0)
        asked = LLMTestCase(
            input="What was sold?", actual_output=case.response, retrieval_context=[case.source]
        )
        metric.measure(asked, _show_indicator=False)
        return bool(metric.score is None or metric.score < 1)

    return check


def with_openevals(address: str, case: Planted, folder: str) -> Callable[[], bool]:
    """The groundedness prompt, one call."""
    from openai import OpenAI
    from openevals.llm import create_llm_as_judge
    from openevals.prompts import RAG_GROUNDEDNESS_PROMPT

    judge = create_llm_as_judge(
        prompt=RAG_GROUNDEDNESS_PROMPT, judge=OpenAI(base_url=address, api_key="none"), model="m"
    )
    return lambda: not judge(context=case.source, outputs=case.response)["score"]


def with_llamaindex(address: str, case: Planted, folder: str) -> Callable[[], bool]:
    """FaithfulnessEvaluator over the whole source, with a window of 128,000 tokens."""
    from llama_index.core.evaluation import FaithfulnessEvaluator
    from llama_index.llms.openai_like import OpenAILike

    model = OpenAILike(
        model="m", api_base=address, api_key="none", is_chat_model=True, context_window=128_000, timeout=300
    )
    judge = FaithfulnessEvaluator(llm=model)
    return lambda: not judge.evaluate(response=case.response, contexts=[case.source]).passing


def with_trulens(address: str, case: Planted, folder: str) -> Callable[[], bool]:
    """Groundedness over the whole source, sentence by sentence; below 1 of 1 is a flag.

    The model cuts the sentences, as the configuration allows: the tokenizer of the default has to be downloaded.
    """
    from trulens.core.feedback.feedback import GroundednessConfigs
    from trulens.providers.openai import OpenAI

    provider = OpenAI(api_key="none", base_url=address, rpm=100_000)
    how = GroundednessConfigs(use_sent_tokenize=False, filter_trivial_statements=True)

    def check() -> bool:
        score, _ = provider.groundedness_measure_with_cot_reasons(
            source=case.source, statement=case.response, groundedness_configs=how
        )
        return bool(score < 1)

    return check


def with_refchecker(address: str, case: Planted, folder: str) -> Callable[[], bool]:
    """Triplets, checked five at once against the whole source; any that isn't entailed is a flag.

    Joint checking fails without a question. As many tokens as an answer has here, where the default is 500.
    """
    from refchecker import LLMChecker, LLMExtractor
    from refchecker.aggregator import strict_agg

    os.environ["OPENAI_API_KEY"] = "none"
    asked, extractor = ["What was sold?"], LLMExtractor(model="openai/m", api_base=address)
    checker = LLMChecker(model="openai/m", api_base=address)

    def check() -> bool:
        (found,) = extractor.extract([case.response], asked, max_new_tokens=8192)
        (labels,) = checker.check([[claim.content for claim in found.claims]], [case.source], asked)
        return bool(strict_agg(labels) != "Entailment")

    return check


TOOLS = {
    "longproof": with_longproof,
    "deepeval": with_deepeval,
    "openevals": with_openevals,
    "llamaindex": with_llamaindex,
    "trulens": with_trulens,
    "refchecker": with_refchecker,
}
Size = tuple[int, int]
"""Characters of the source, sentences of the response."""
Found = dict[str, Any]


def check(tool: str, address: str, log: Path, size: Size, repeats: int) -> Found:
    """One tool on the faithful and the planted response."""
    once(tool, address, log, planted_case(2000, 2, planted=False))
    found: Found = {"start_mb": peak_mb()}
    for name, planted in (("faithful", False), ("planted", True)):
        times = [once(tool, address, log, planted_case(*size, planted=planted)) for _ in range(repeats)]
        found[name] = [times[0][0], median(took for _, took, *_ in times), *times[0][2:]]
    return found | {"peak_mb": peak_mb()}


def once(tool: str, address: str, log: Path, case: Planted) -> list[Any]:
    """A tool's word on one response, its seconds, calls and characters, and the longest prompt."""
    with tempfile.TemporaryDirectory() as folder:
        run = TOOLS[tool](address, case, folder)
        n_before = len(log.read_text().split())
        began = time.perf_counter()
        try:
            flagged: bool | str = run()
        except Exception as error:
            # Whatever a tool fails with is its result, and is printed.
            flagged = f"{type(error).__name__}: {str(error)[:80]}"
        took = time.perf_counter() - began
    sizes = list(map(int, log.read_text().split()[n_before:]))
    return [flagged, took, len(sizes), sum(sizes), max(sizes, default=0)]


def peak_mb() -> int:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure(python: str, tool: str, address: str, log: str, size: Size, repeats: int) -> Found:
    """Check in a process of the tool's own Python, which prints its result as its last line."""
    command = [python, __file__, "--child", tool, address, log, *map(str, (*size, repeats))]
    quiet = os.environ | {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "TRULENS_OTEL_TRACING": "0"}
    done = subprocess.run(command, capture_output=True, text=True, env=quiet, cwd=tempfile.gettempdir())
    found: list[Found] = [json.loads(said) for said in done.stdout.splitlines() if said.startswith("{")]
    return found[-1] if found else {"missing": f"{tool} ended with {done.returncode}"}


def row(tool: str, size: Size, found: Found) -> str:
    """A line of the table: costs of the faithful response, verdicts of both."""
    if "missing" in found:
        return f"| {tool} | {size[0]:,} | {size[1]} | {found['missing']} |"
    flagged, seconds, calls, characters, longest = found["faithful"]
    caught = found["planted"][0]
    said = [{True: "flags it", False: "clears it"}.get(flagged, str(flagged))]
    said.append({True: "finds it", False: "misses it"}.get(caught, str(caught)))
    cells = [tool, f"{size[0]:,}", size[1], calls, f"{characters:,}", f"{characters / size[0]:.2f}"]
    cells += [f"{longest:,}", f"{seconds:.1f} / {found['planted'][1]:.1f}"]
    cells += [f"{found['peak_mb']} ({found['start_mb']})", *said]
    return "| " + " | ".join(map(str, cells)) + " |"


COLUMNS = ("tool", "source", "sentences", "calls", "prompt characters", "passes", "longest prompt")
COLUMNS += ("wall s, faithful / planted", "peak MB (before)", "the faithful one", "the planted error")


def main() -> None:
    """Measure and print the table, tool by tool, the few sentences first."""
    if sys.argv[1:2] == ["--child"]:
        tool, address, log, *numbers = sys.argv[2:]
        source, sentences, repeats = map(int, numbers)
        found: Found = {"missing": f"{tool} is not installed under {Path(sys.executable).name}"}
        if importlib.util.find_spec("llama_index" if tool == "llamaindex" else tool):
            found = check(tool, address, Path(log), (source, sentences), repeats)
        print(json.dumps(found))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", nargs="*", default=[], help="TOOL=PYTHON, where it has its own")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--sources", type=int, nargs="+", default=[20_000, 400_000, 4_000_000])
    parser.add_argument("--sentences", type=int, nargs="+", default=[10, 90])
    given = parser.parse_args()
    pythons = dict(item.split("=", 1) for item in given.python)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    with tempfile.NamedTemporaryFile() as file, open_server(Path(file.name)) as server:
        for sentences, source, tool in product(given.sentences, given.sources, given.tools):
            size, repeats = (source, sentences), 3 if sentences == min(given.sentences) else 1
            python = pythons.get(tool, sys.executable)
            found = measure(python, tool, server.address, file.name, size, repeats)
            print(row(tool, size, found), flush=True)


if __name__ == "__main__":
    main()
