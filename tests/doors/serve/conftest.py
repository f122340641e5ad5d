"""The local server without a browser, over a scripted chat server. Needs the extra `browser`."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from disputing import disputing
from fakes import ChatServer

GRAY = Path(__file__).parents[2] / "gray"
TOKEN = "t0ken"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGPROOF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path / "home"


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(disputing, delay_s=0.05) as server:
        yield server


class Client:
    """Asks as a page of the server may, under its token."""

    def __init__(self, client: Any) -> None:
        self.raw = client

    def get(self, path: str, **headers: str) -> Any:
        return self.raw.get(f"/{TOKEN}/{path}", headers=headers)

    def post(self, path: str, given: Any = None, **headers: str) -> Any:
        return self.raw.post(f"/{TOKEN}/{path}", json={} if given is None else given, headers=headers)

    def text(self, name: str, data: bytes) -> dict[str, Any]:
        return dict(self.raw.post(f"/{TOKEN}/texts", params={"name": name}, content=data).json())

    def choice(self, **changed: Any) -> dict[str, Any]:
        """A source and a response given over, and all judges chosen."""
        source = self.text("article.txt", (GRAY / "article.txt").read_bytes())
        response = self.text("summary.txt", (GRAY / "summary.txt").read_bytes())
        return {"sources": [source], "response": response, "judges": [0, 1, 2], **changed}

    def begin(self, **changed: Any) -> str:
        return str(self.post("runs", self.choice(**changed)).json()["run"])

    def data(self, path: str) -> dict[str, Any]:
        """The data that a page is drawn from."""
        return dict(json.loads(self.get(path).text.split('id="data">')[1].split("</script>")[0]))

    def rows(self) -> list[dict[str, Any]]:
        """The list of checks."""
        return list(self.data("")["rows"])

    def told(self, run: str) -> dict[str, Any]:
        """The data of a run's page."""
        return self.data(f"runs/{run}")

    def done(self, **changed: Any) -> tuple[str, dict[str, Any]]:
        """A run that is done, and what is told of it."""
        run = self.begin(**changed)
        return run, self.until(run, "done")

    def again(self, run: str, text: bytes) -> Any:
        """The answer where an edited text is to be checked again."""
        return self.raw.post(f"/{TOKEN}/runs/{run}/again", content=text)

    def report(self, run: str) -> dict[str, Any]:
        return dict(self.get(f"runs/{run}/report.json").json())

    def until(self, run: str, state: str, seconds: float = 30) -> dict[str, Any]:
        """Wait until the run is in this state; the data of its page then."""
        for _ in range(int(seconds / 0.1)):
            if (told := self.told(run))["run"]["state"] == state:
                return told
            time.sleep(0.1)
        raise AssertionError(f"{told['run']['state']}: {told['run']['why']}")


@pytest.fixture
def serving(home: Path, chat: ChatServer) -> Iterator[Callable[..., Client]]:
    """Starts the server; again, as a new process would."""
    pytest.importorskip("starlette", reason="the extra `serve` is not installed")
    from starlette.testclient import TestClient

    from longproof.serve.app import application
    from longproof.serve.offer import Offer

    with ExitStack() as stack:

        def start(models: ChatServer = chat, **settings: Any) -> Client:
            stack.close()
            judges = [f"openai:{name}@{models.address}" for name in "abc"]
            app = application(Offer({"judges": judges, **settings}), TOKEN)
            return Client(stack.enter_context(TestClient(app, base_url="http://127.0.0.1:8000")))

        yield start
