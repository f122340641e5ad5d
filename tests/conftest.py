"""What every test stands on: a data folder of its own, no keys, and the development data if they are there."""

import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import TypeVar

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # LangGraph reads it once, as it is imported

import pytest
from hypothesis import settings

settings.register_profile("longproof", deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI")))
settings.load_profile("longproof")
T = TypeVar("T", pytest.TestReport, pytest.CollectReport)
MISSING = re.compile(r"extra|chromium|selenium|matplotlib|docx|pypdf|gguf|llama\.cpp")
"""Words of the reasons to skip that name a package, an extra or a browser."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return refuse_to_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return refuse_to_skip((yield))


def refuse_to_skip(report: T) -> T:
    """Fail what is skipped for want of a package, where `LONGPROOF_EXTRAS` says that all are installed."""
    why = report.longrepr[2] if report.skipped and isinstance(report.longrepr, tuple) else ""
    if os.environ.get("LONGPROOF_EXTRAS") and MISSING.search(why):
        report.outcome, report.longrepr = "failed", why
    return report


@pytest.fixture(autouse=True, scope="session")
def _own_home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LONGPROOF_HOME", str(tmp_path_factory.mktemp("home")))
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LANGSMITH_API_KEY", "LANGSMITH_TRACING"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of development data; tests that need it skip, and say so, where it isn't."""
    folder = os.environ.get("LONGPROOF_DATA")
    if not folder:
        pytest.skip("LONGPROOF_DATA is not set: the development data are not here")
    return Path(folder)
