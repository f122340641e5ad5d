"""Reports built by hand: a Chinese one, an English one, a hostile one and one over a million characters.

Each fixture is `(report, texts)`.
"""

from typing import Any

import pytest
from building import Builder, Built, call, judgement

from longproof.agent.types import Error, Hint, Looked, Reading
from longproof.retrieval.text.sentences import sentences
from longproof.retrieval.types import Document

HOSTILE = (
    "<script>window.pwned=1</script> <img src=x onerror=window.pwned=1> </script><!-- {{7*7}} ${7*7} "
    "[x](javascript:alert(1)) <style>body{display:none}</style> |a|b| `code` @everyone #1 "
    "\u202eevil\u202c \x1b[31mred\x07 "
    "\u2028\u2029 & &lt; \" ' \x01 <a href='javascript:window.pwned=1'>x</a> </textarea></title>"
)


STORY_EN = (
    "The Weir\n\nAbel Marlock kept the gauge at Penny Weir for thirty-one years and missed two readings. "
    "When he died, on the nineteenth of November, he was sixty-eight.\n\nHis daughter Thea went on with it. "
    "Her brother Jonas was foreman of the gates at the paper mill, and lived with his wife Hester and "
    "their daughter Wren at number nine, Fenner's Row. 👩‍👩‍👧 A family.\n\n"
    "The mill shut its gates at nine every evening, and opened them at half past five.\n"
)
RESPONSE_EN = (
    "Abel Marlock kept the gauge for thirty years. His daughter Thea took it over. "
    "Jonas, her cousin, was foreman at the mill. Nobody in the valley trusted the water office.\n\n"
    "The gates were shut at night. Some say that the river had been cursed. What a tale!"
)
STORY_ZH = (
    "第一回\n\n元朝末年，诸暨县乡村里有一个人叫王冕。七岁上死了父亲，他母亲做些针指，供给他到村学堂里去读书。"
    "看看三个年头，王冕已是十岁了。母亲唤他到面前来，说道：“如今没奈何，把你雇在间壁人家放牛。”\n\n"
    "王冕道：“娘说的是。”当夜商议定了。第二日，母亲同他到间壁秦老家。秦老留着他母子两个吃了早饭，牵出一条水牛来交与王冕。\n\n"
    "那日，正是黄梅时候，天气烦躁。王冕放牛倦了，在绿草地上坐着。须臾，浓云密布，一阵大雨过了。湖里有十来枝荷花。\n"
) * 3


@pytest.fixture(scope="session")
def english_report() -> Built:
    source = Document.of(STORY_EN, title="weir.txt", uri="https://example.org/weir")
    stamp = {"protocol": "longproof", "longproof": "0.1.0", "created_at": "2026-11-21T08:00:00Z"}
    judges = ["openai:a", "openai:b", "openai:c"]
    made = Builder(RESPONSE_EN, source, judges=judges, arbiter="openai:d", seconds=12.34, **stamp)
    years = made.quote("thirty-one years")
    votes = [
        judgement("openai:a", "contradicting", quotes=(years,), reason="Thirty-one, not thirty."),
        judgement("openai:b", "contradicting", quotes=(years,)),
        judgement("openai:c", failure="timeout"),
    ]
    counted = made.error("thirty years", "numerical", "thirty-one years", "It counts thirty-one.")
    made.says("contradicting", years, window=(0, 200), errors=[counted], judgements=votes)
    made.says("explicitly_supported", made.quote("His daughter Thea went on with it."), window=(150, 260))
    votes = [
        judgement("openai:a", "contradicting", reason="He is her brother."),
        judgement("openai:b", "implicitly_supported", "place", reason="A relative is a relative."),
        judgement("openai:c", "ambiguous"),
        judgement("openai:d", "contradicting", reason="The text says brother in so many words."),
    ]
    ruled = {"decided_by": "arbiter", "errors": [made.error("her cousin", "relation", "her brother")]}
    brother = made.quote("Her brother Jonas")
    made.says("contradicting", brother, window=(200, 400), judgements=votes, **ruled)
    unknown = {"caveat": "outside knowledge not consulted", "errors": [made.error("Nobody", "fabrication")]}
    made.says("fabricated", **unknown)
    made.says("implicitly_supported", made.quote("shut its gates at nine"), window=(330, 440))
    votes = [judgement("openai:a", "not_found"), judgement("openai:b", "fabricated")]
    made.says(None, failure="split", judgements=votes)
    made.says("no_fact")
    made.calls += [call(number) for number in range(12)]
    return made.build("weir")


def triage(language: str, stand: int, hints: int, unread: int) -> Built:
    """A report of the offline check: so many sentences stand there, have a hint, or only need a model."""
    n = stand + hints + unread
    day = "第{}日，王冕走了{}里路。" if language == "zh" else "On day {} he walked {} miles. "
    source = Document.of("".join(day.format(i, i) for i in range(n)), title="walk")
    told = (day.format(i, i + (stand <= i < stand + hints)) for i in range(n))
    made = Builder("".join(told).strip(), source, triage=True, protocol="longproof", judges=["offline"])
    for i in range(n):
        if i < stand:
            said = judgement("offline", "explicitly_supported")
            made.says("explicitly_supported", made.quote(day.format(i, i).strip()), judgements=[said])
        else:
            unsaid = judgement("offline", failure="needs_model")
            hint = _hint(made, i) if i < stand + hints else None
            made.says(None, failure="needs_model", judgements=[unsaid], hint=hint)
    return made.build("walk")


def _hint(made: Builder, i: int) -> Hint:
    """The last number of the i-th sentence, and that of the source's."""
    ours, (source,) = made.spans[i], made.sources
    start, end = sentences(source.text)[i]
    theirs = source.span(start, end)
    places = [(span, span.text.rindex(str(n)), len(str(n))) for span, n in ((ours, i + 1), (theirs, i))]
    words, source_words = (span.part(at, at + length) for span, at, length in places)
    return Hint(words=words, source=source_words)


@pytest.fixture(scope="session", params=["en", "zh"])
def triage_report(request: pytest.FixtureRequest) -> Built:
    return triage(request.param, 3, 1, 38)


@pytest.fixture(scope="session", params=["en", "zh"])
def standing_report(request: pytest.FixtureRequest) -> Built:
    return triage(request.param, 4, 0, 0)


@pytest.fixture(scope="session")
def hostile_report() -> Built:
    text = f"Good line.\n{HOSTILE}\n{'w' * 1_000_000}\nEnd 𝒳 line."
    source = Document.of(text, title=HOSTILE, uri="javascript:window.pwned=1")
    made = Builder(f"{HOSTILE} is said.\n{'v' * 3000} {HOSTILE}", source, protocol=HOSTILE, judges=[HOSTILE])
    quote, end = source.span(11, 11 + len(HOSTILE)), source.span(len(text) - 11, len(text))
    votes = [judgement(HOSTILE, "contradicting", reason=HOSTILE, quotes=(quote,))]
    for span in made.spans:
        label = "contradicting" if span is made.spans[0] else "fabricated"
        errors = [Error(span=span, kind="event", correction=HOSTILE, reason=HOSTILE)]
        made.says(label, quote, end, errors=errors, judgements=votes, caveat=HOSTILE)
    return made.build(HOSTILE)


def big(characters: int, sentences_: int) -> Built:
    """A Chinese source of that many characters, and a response in its order with one wrong sentence in nine."""
    parts = (
        f"第{n}段，" + f"王冕在第{n}日走了{n}里路，天色将晚，湖上起了风，荷花摇动不止。" * (1 + n % 5)
        for n in range(characters // 40)
    )
    text = "\n".join(parts)[:characters]
    source = Document.of(text, title="长书")
    step = characters // 130 * 9 // 10 // sentences_
    numbers = [step * i + 5 for i in range(sentences_)]
    response = "".join(f"第{n}日，王冕走了{n + (i % 9 == 4)}里路。" for i, n in enumerate(numbers))
    made = Builder(response, source, protocol="longproof")
    for i, number in enumerate(numbers):
        start = text.index(f"第{number}日走了")
        quote = source.span(start, start + 12)
        window = (max(0, start - 8000), start + 8000)
        if i % 9 == 4:
            wrong = made.error(f"{number + 1}里", "numerical", f"{number}里", "原文的里数不同。")
            made.says("contradicting", quote, window=window, errors=[wrong])
        else:
            made.says("explicitly_supported", quote, window=window)
    return made.build("长书")


@pytest.fixture(scope="session")
def shuffled_report() -> Built:
    """Sixteen sentences over a source in order, but for two told late, and nothing from 30 % to 62 %."""
    shares = [0, 5, 10, 15, 20, 25, 30, 62, 66, 12, 14, 70, 76, 82, 90, 98]
    source = Document.of("".join(f"第{n:05d}句。" for n in range(10_000)), title="长书")
    made = Builder("".join(f"它说第{share}。" for share in shares), source, protocol="longproof")
    for index, share in enumerate(shares):
        start = share * 800
        made.says("contradicting" if index == 2 else "explicitly_supported", source.span(start, start + 8))
    return made.build("次序")


def report_of_looks(query: str = "") -> Built:
    """A claim supported at its place, one not found so far, one fabricated after all was read, one left by the
    budget. `query` is what the searcher asked for besides."""
    source = Document.of(STORY_EN, title="source")
    response = "Thea went on with it. Abel loved to sing. Abel drowned in the weir. Hester sold the mill."
    made = Builder(response, source, protocol="longproof", judges=["openai:a"])
    queries = ("Abel sang", "a song", *([query] if query else []))
    quote = made.quote("Thea went on with it")
    made.says("explicitly_supported", quote, looked=Looked(rounds=("place",), share=0.004))
    searched = Looked(rounds=("place", "window", "search"), queries=queries, share=0.07)
    judged = [judgement("openai:a", "not_found", "search", reason="Nothing of it is shown.")]
    made.says(None, failure="not_found_so_far", looked=searched, judgements=judged)
    scanned = ("place", "window", "search", "scan")
    everywhere = Looked(rounds=scanned, queries=("drowned",) * 7, share=1)
    made.says("fabricated", looked=everywhere, errors=[Error(span=made.spans[2])])
    made.says(None, failure="not_found_so_far", looked=Looked(rounds=scanned, share=0.999))
    return made.build("looked")


@pytest.fixture(scope="session")
def looked_report() -> Built:
    return report_of_looks()


@pytest.fixture(scope="session")
def hostile_search() -> Built:
    return report_of_looks(f"a”), all of the source was read {HOSTILE}")


RICH: dict[str, Any] = {
    "title": ("<i>weir</i>.txt", "《儒林》<外史>"),
    "source": (
        STORY_EN + "He wrote: <b>so it is</b> \x1b[31m\u202e and @all.\n",
        STORY_ZH + "他写道：<b>如此</b>\x1b[31m\u202e，@all。\n",
    ),
    "response": (
        "Abel kept the gauge for thirty years, and missed three readings. Thea was his niece. "
        "Jonas, her cousin, was foreman of the gates. The mill shut at nine. Abel loved to sing. "
        "Nobody trusted <b>the office</b>. The gates were open at six. Thea went on with it. Good night.",
        "王冕五岁丧父，母亲做些针线，供他读书。秦老是他的舅父。他母亲，本是富户，送他去放牛。那日天气晴朗。王冕爱唱曲。"
        "后来无人信<b>秦老</b>。湖里没有荷花。秦老留他们吃饭。晚安！",
    ),
    "years": ("thirty-one years and missed two readings", "七岁上死了父亲，他母亲做些针指"),
    "long": ("thirty years, and missed", "五岁丧父，母亲"),
    "short": ("missed three readings", "母亲做些针线"),
    "daughter": ("His daughter Thea", "同他到间壁秦老家"),
    "niece": ("niece", "舅父"),
    "brother": ("Her brother Jonas", "他母亲做些针指"),
    "shut": ("shut its gates at nine", "天气烦躁"),
    "open": ("opened them at half past five", "湖里有十来枝荷花"),
    "held": ("Thea went on with it", "秦老留着他母子两个吃了早饭"),
    "hostile": ("<b>so it is</b> \x1b[31m\u202e and @all", "<b>如此</b>\x1b[31m\u202e，@all"),
    "queries": ("Abel sang/a “song” <i>/choir/psalm/hymn", "王冕唱曲/“曲” <i>/歌/戏/吟"),
    "why": ("Thirty-one, says *the* book\n\x07 and <no> other.", "书上说*七岁*\n\x07，<不是>五岁。"),
}


def rich(language: str) -> Built:
    """A report with something of everything: rival corrections, both kinds of dispute, what was not found so far, a
    ruling, a failed judge, texts that try to be markup."""
    told = {key: pair[language == "zh"] for key, pair in RICH.items()}
    a, b, d = "openai:org/a@http://127.0.0.1:1/v1", "openai:b", "openai:d"
    stamp = {
        "settings": {"confirm": True},
        "money": {"answers": 0.0123},
        "cascade": {"cleared": 4, "again": 2, "overturned": 1},
    }
    given = {"protocol": "longproof", "judges": [a, b], "arbiter": d, "longproof": "0.1.0", "seconds": 12.34}
    made = Builder(told["response"], Document.of(told["source"], title=told["title"]), **given, **stamp)
    quoted = ("years", "daughter", "brother", "hostile", "shut", "open", "held")
    years, daughter, brother, hostile, shut, opened, held = (made.quote(told[key]) for key in quoted)
    counted = made.error(told["long"], "numerical", "31", told["why"])
    errors = [counted, made.error(told["short"], "event", "2")]
    votes = [
        judgement(a, "contradicting", quotes=(years,), reason=told["why"]),
        judgement(b, failure="timeout"),
    ]
    looked = Looked(rounds=("place", "window"), share=0.004)
    made.says("contradicting", years, window=(0, 200), errors=errors, judgements=votes, looked=looked)
    votes = [
        judgement(a, "contradicting", reason="No."),
        judgement(b, "implicitly_supported", quotes=(shut,), reason="Yes."),
        judgement(d, "contradicting", reason="No!"),
    ]
    errors = [made.error(told["niece"], "relation", "***")]
    made.says("contradicting", daughter, decided_by="arbiter", errors=errors, judgements=votes)
    votes = [
        judgement(a, "contradicting", quotes=(brother,)),
        judgement(b, "explicitly_supported", quotes=(hostile, shut)),
        judgement(d, "explicitly_supported", quotes=(shut,)),
    ]
    made.says(None, failure="split", judgements=votes, looked=Looked(rounds=("source",), share=1))
    votes = [judgement(a, "ambiguous", reason="Twice."), judgement(b, "ambiguous")]
    readings = [
        Reading(text="at nine, every day", label="explicitly_supported"),
        Reading(text="at nine, once", label="fabricated"),
    ]
    made.says("ambiguous", shut, opened, years, held, readings=readings, judgements=votes)
    votes = [judgement(judge, "not_found", "search") for judge in (a, b)]
    searched = Looked(rounds=("place", "search"), queries=told["queries"].split("/"), share=0.07)
    made.says(None, failure="not_found_so_far", judgements=votes, looked=searched)
    errors = [Error(span=made.spans[5], kind="fabrication")]
    votes = [judgement(a, "fabricated", "scan"), judgement(b, "not_found", "scan")]
    everywhere = {
        "caveat": "outside knowledge not consulted",
        "looked": Looked(rounds=("place", "search", "scan"), share=1),
    }
    made.says("fabricated", errors=errors, judgements=votes, **everywhere)
    votes = [
        judgement("confirm:openai:b", "implicitly_supported", quotes=(opened,)),
        judgement(a, "contradicting", quotes=(opened,), reason="Half past five."),
        judgement(b, failure="self_contradicted", quotes=(shut,)),
    ]
    made.says(None, failure="unconfirmed", judgements=votes)
    made.says("explicitly_supported", held)
    made.says("no_fact", decided_by="rule")
    made.calls += [call(number) for number in range(3)]
    return made.build("rich <b>")


@pytest.fixture(scope="session", params=["en", "zh"])
def rich_report(request: pytest.FixtureRequest) -> Built:
    return rich(request.param)


@pytest.fixture(scope="session", params=["rich.en", "rich.zh", "triage.en", "triage.zh"])
def stored_report(request: pytest.FixtureRequest) -> tuple[str, Built]:
    """A report whose outputs are stored, and their name."""
    case, language = request.param.split(".")
    return request.param, rich(language) if case == "rich" else triage(language, 3, 1, 12)


@pytest.fixture(scope="session")
def chinese_report() -> Built:
    return rich("zh")


@pytest.fixture(scope="session")
def big_report() -> Built:
    return big(1_000_000, 90)


@pytest.fixture(scope="session")
def long_report() -> Built:
    return big(100_000, 9)
