"""A novel of a few deeds over and over, and a scripted writer: what the constructions are tested with.

`writer(**changes)` answers every prompt of the constructions well, by rule; `changes` replaces the answer to a form,
by its title, with a function of what was asked, a reply or a dictionary. `make` makes a set with it.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from fakes import ChatServer
from reader import Answer, Asked, Reader, Reply

from longproof.agent.types import KINDS, Kind
from longproof.construction.run import Constructed, construct
from longproof.prompts import render
from longproof.retrieval.text.sentences import sentences as ranges
from longproof.retrieval.types import Document

NAMES = ["张文远", "李守信", "王彦章", "赵子龙", "孙伯符"]
DEEDS = [
    "带着{n}个士兵从东门出城去寻找{other}。", "答应把妻子送到{other}的庄上暂住。",
    "在江边买了{n}匹好马交给{other}。", "不肯投降，连夜领兵回到北山大寨。",
    "打开城门，请{other}进来一同饮酒。", "因为粮草已尽，只得收兵退回城里。",
]  # fmt: skip


def novel(seed: int, n_paragraphs: int) -> Document:
    draw = Random(seed)
    lines = []
    for number in range(n_paragraphs):
        if number % 60 == 0:
            lines.append(f"第{number // 60 + 1}回 群雄聚会")
        told = []
        for _ in range(4):
            one, other = draw.sample(NAMES, 2)
            told.append(one + draw.choice(DEEDS).format(n=draw.choice("三四五六七"), other=other))
        lines.append("".join(told) + f"{draw.choice(NAMES)}道：“此事不可再提。”")
    return Document.of("\n".join(lines), title=f"书{seed}")


TWINS = {"带着": "领着", "答应": "应允", "买了": "购得", "不肯": "不愿", "打开": "开了", "因为": "由于"}


def writer(**changes: Answer) -> Reader:
    """A script that answers well but for the forms that are named."""
    return Reader(**{**GOOD, **changes})


def kind_asked(asked: Asked) -> Kind:
    """The kind of error that a prompt asks for."""
    return next(kind for kind in KINDS if render(f"construct_wrong_{kind}", "zh").user in asked.user)


def summary_asked(asked: Asked) -> str:
    return asked.parts("summary")[0]


def wrong(asked: Asked) -> dict[str, Any]:
    """An error of the kind that is asked for, in one sentence of the summary."""
    text, sentence = with_error(summary_asked(asked), kind_asked(asked))
    return {"possible": "yes", "text": text, "wrong_sentence": sentence, "reason": "It is told otherwise."}


def with_error(text: str, kind: Kind) -> tuple[str, str]:
    """The text with a small error of this kind, and the sentence that is wrong then.

    A temporal error swaps the first two sentences, a fabrication adds one, every other changes the last.
    """
    told = [text[a:b] for a, b in ranges(text)]
    if kind == "temporal" and len(told) > 1:
        wrong_one = f"此后{told[0]}"
        told[:2] = [told[1], wrong_one]
    elif kind == "fabrication":
        wrong_one = "当夜有人烧了粮仓。"
        told.insert(1, wrong_one)
    else:
        told[-1] = wrong_one = f"{told[-1][:-1]}，{KINDS.index(kind) + 20}。"
    return "".join(told), wrong_one


def written(asked: Asked) -> dict[str, Any]:
    """A summary, answer or sample: of a book six of its sentences, of a case its right text made wrong."""
    if asked.parts("right"):
        text = "certainly not " + asked.parts("right")[0]
    elif asked.parts("summary"):
        text = summary_asked(asked)
        for word, twin in TWINS.items():
            text = text.replace(word, twin)
    elif asked.parts("evidence"):
        source = asked.parts("evidence")[0]
        told = [source[a:b] for a, b in ranges(source) if "“" not in source[a:b] and "\n" not in source[a:b]]
        text = ("" if "。" in source else " ").join(dict.fromkeys(told[:: max(1, len(told) // 6)][:6]))
    else:
        text = f"Answer {asked.number} to {asked.parts('context')[0]}"
    return {"text": text}


def inserted(asked: Asked) -> dict[str, Any]:
    """Inventions as sentences of their own, behind different sentences of the base text."""
    base, count = asked.parts("response")[0], int(asked.parts("complexity")[0])
    made = [f"The {name} was painted green in secret." for name in ("barn", "well", "tower")][:count]
    cuts = [base[a:b] for a, b in ranges(base)]
    for n, invention in enumerate(made):
        cuts.insert(2 * n + 1, invention)
    return {"text": " ".join(cuts), "inventions": made}


def found(asked: Asked) -> dict[str, Any]:
    """The sentences of the source that share most words with the claim."""
    source, claim = asked.parts("evidence")[0], set(asked.parts("passage")[0].split())
    best = max((source[a:b] for a, b in ranges(source)), key=lambda s: len(claim & set(s.split())))
    return {"thinking": "", "segments": [best]}


GOOD: dict[str, Answer] = {
    "Written": written,
    "Entities": lambda asked: {
        "people": [name for name in [*NAMES, "Nobody"] if name in summary_asked(asked)] + ["不在其中"],
        **{kind: [] for kind in ("organisations", "places", "figures")},
    },
    "WrongVersion": wrong,
    "Narrative": {"has_hallucination": "无幻觉", "details": []},
    "Inserted": inserted,
    "Segments": found,
    "PassFail": {"reasoning": "It says so.", "verdict": "pass"},
    "Lesson": {"rule": "Say what is not so.", "example": "Right: nine. Wrong: ten."},
    "Choice": {"reason": "It is closer.", "best": "second"},
}


def make_on(server: ChatServer, kind: str, sources: list[Path], out: Path, **options: Any) -> Constructed:
    """A set in `out`, of as many models as `n_models` says, all on this server."""
    models = [f"openai:m{n}@{server.address}" for n in range(options.pop("n_models", 1))]
    return construct(kind, sources, out, models=models, home=str(out.parent / "home"), **options)


def make(
    kind: str, sources: list[Path], out: Path, answers: dict[str, Any] | None = None, **options: Any
) -> tuple[Constructed, list[Asked]]:
    """The same on a server of its own that answers well but for these forms, and all that it was asked."""
    with ChatServer(writer(**(answers or {}))) as server:
        return make_on(server, kind, sources, out, **options), server.asked


def by_model(*answers: Any) -> Answer:
    """Each model's own answer; None: none that can be read."""

    def answer(asked: Asked) -> Any:
        own = answers[int(asked.body["model"][1:])]
        return Reply("no idea") if own is None else own(asked) if callable(own) else own

    return answer


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
