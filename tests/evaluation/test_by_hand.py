"""The server of answers by hand: a request is a file, its answer another; the same request is asked once."""

import json
import threading
from pathlib import Path

from disputing import disputing
from reader import Asked
from scripts import benchmark

from longproof import Verifier


def read_and_answer(path: Path) -> str:
    """A reader's answer to the request in a file."""
    text = path.read_text("utf-8").removeprefix("######## SYSTEM ########\n")
    system, _, rest = text.partition("\n\n######## USER ########\n")
    user, _, schema = rest.partition("\n\n######## THE ANSWER'S SCHEMA ########\n")
    told = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    body = {"model": "reader", "messages": told, "response_format": json.loads(schema)}
    return disputing(Asked(0, body, "")).text or ""


def test_readers_answer_a_check_and_are_asked_once(tmp_path: Path) -> None:
    served, waiting = benchmark("answer_by_hand/server"), benchmark("answer_by_hand/waiting").requests_waiting
    box, answered = tmp_path / "box", set[str]()

    class Answered(served.Box):  # type: ignore[misc, name-defined]
        """Whoever waits for an answer first has all readers answer what waits for them."""

        def answer(self, number: str) -> str | None:
            for path in [*waiting(box, 2, 0), *waiting(box, 2, 1)]:
                (box / "outbox" / f"{path.stem}.txt").write_text(read_and_answer(path), "utf-8")
                answered.add(path.stem)
            found: str | None = super().answer(number)
            return found

    served.Handler.box = Answered(box, 30)
    with served.Server(("127.0.0.1", 0), served.Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/v1"
        for home in ("one", "two"):
            asks = Verifier([f"openai:reader@{address}"], home=str(tmp_path / home), concurrency=1)
            report = asks.verify("Ada sold the boat to Tom. The lamp was lit at nine.", "Tom sold the boat.")
            assert report.claims[0].label is not None
        server.shutdown()
    requests = {path.stem for path in (box / "inbox").glob("*.md")}
    assert requests == answered
    assert len(requests) == len((box / "log.jsonl").read_text("utf-8").splitlines())
