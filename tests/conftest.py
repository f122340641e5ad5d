"""What every test stands on: a data folder of its own, no keys, and the development data if they are there."""

import os
from pathlib import Path

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"  # LangGraph reads it once, as it is imported

import pytest
from hypothesis import settings

settings.register_profile("longproof", deadline=None, print_blob=True, derandomize=bool(os.environ.get("CI")))
settings.load_profile("longproof")


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
