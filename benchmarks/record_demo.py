"""Record the demo anew: every answer of its run is kept in one file, which `longproof demo` then answers from.

    python benchmarks/record_demo.py en longproof/examples/en/recorded.gz --judge SPEC --judge SPEC --arbiter SPEC

What the ledger has is not asked again. Watch with `longproof demo --language en --replay FILE`.
"""

import argparse
from pathlib import Path

from longproof.agent.models.ledger import Recorder
from longproof.examples import demo_summary, example, pages
from longproof.verifier import Verifier


def record_demo(language: str, file: Path, judges: list[str], arbiter: str) -> int:
    """Check the demo's summary with these models, and keep their answers; how many there are."""
    recorder = Recorder()
    verifier = Verifier(judges, arbiter, recording=recorder, pages=str(pages(language)), timeout_s=900)
    report = verifier.verify(example(language)[0], demo_summary(language), progress=True)
    recorder.write(file, {"demo": language, "judges": judges, "arbiter": arbiter})
    return len(report.calls)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("language", choices=("en", "zh"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--judge", action="append", required=True, metavar="SPEC")
    parser.add_argument("--arbiter", required=True, metavar="SPEC")
    asked = parser.parse_args()
    kept = record_demo(asked.language, asked.file, asked.judge, asked.arbiter)
    print(f"{kept} answers are kept in {asked.file}")
