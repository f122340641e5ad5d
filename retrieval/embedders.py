"""Embedders: BGE-M3, any SentenceTransformer, and a server's `/v1/embeddings`.

Knows: how their libraries are loaded and asked, what makes a model whole, how long a text they take. Nothing is cut
short silently: a text that is too long is refused. A model loads when it is first asked.
Does not know: passages and blocks, how vectors are compared, where keys come from.
torch, FlagEmbedding and sentence-transformers are imported here alone, inside the functions that need them.
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from pickle import UnpicklingError
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from longproof.retrieval.dense import Embedder, Embeddings, Kind, Multi, Sparse, Weights, concatenated
from longproof.retrieval.text.normalise import without_surrogates
from longproof.retrieval.text.redact import one_line
from longproof.retrieval.types import BadInput, Frozen, Progress

if TYPE_CHECKING:
    from httpx2 import Client

FORMS = (
    "lexical, bge-m3, bge-m3:PATH_OR_NAME, st:PATH_OR_NAME, openai:MODEL or openai:MODEL@http://HOST:PORT/v1"
)
BGE_M3 = "BAAI/bge-m3"
HEADS = ("colbert_linear.pt", "sparse_linear.pt")
MOST_BYTES = 32 << 20
"""Of a server's answer: 64 vectors of 4,096 numbers are 6 MiB."""
TRIES, FIRST_WAIT_S = 3, 0.5
BUSY = (408, 409, 425, 429)
ENDS = 1 << 20
"""Of a larger file only the first and last MiB and the size are hashed."""

_SPEC = re.compile(r"(?P<kind>bge-m3|st|openai)(?::(?P<model>\S[^@]*?))?(?:@(?P<address>https?://\S+))?")
_WANTED = ["*.json", "*.txt", "*.model", "*.safetensors", "*.pt", "pytorch_model*.bin", "*/config.json"]

AddressAndKey = Callable[[str | None], tuple[str, str]]
"""From the address in a SPEC (None: the provider's default) to the address to call and the key for it."""


class Machine(Frozen):
    """How a model runs here. `device` as torch names it (`cpu`, `cuda:0`); None: the first GPU, else the CPU."""

    device: str | None = None
    batch_size: int = 16
    precision: Literal["fp32", "fp16", "bf16"] = "fp32"


def embedder(
    spec: str, address_and_key: AddressAndKey, machine: Machine | None = None, weights: Weights | None = None
) -> Embedder | None:
    """The embedder that a SPEC names; None for `lexical`, which needs none. `weights` are for BGE-M3.

    Raises BadInput for another SPEC and for a model that can't be had or isn't whole.
    """
    if spec.strip() == "lexical":
        return None
    found = _SPEC.fullmatch(spec.strip())
    kind, model, address = found.group("kind", "model", "address") if found else (None, None, None)
    if kind == "bge-m3" and not address:
        return BgeM3(model or BGE_M3, machine or Machine(), weights or Weights())
    if kind == "st" and model and not address:
        return SentenceEmbedder(model, machine or Machine())
    if kind == "openai" and model:
        return ServerEmbedder(model, *address_and_key(address))
    raise BadInput(f"there is no embedder {spec!r}: write {FORMS}")


class BgeM3:
    """BGE-M3 through FlagEmbedding, with the vectors that its weights ask for. Texts up to 8,192 tokens."""

    def __init__(self, model: str, machine: Machine, weights: Weights) -> None:
        self._folder = model_folder(model)
        missing = [head for head in HEADS if not (self._folder / head).is_file()]
        if missing:
            raise BadInput(
                f"{self._folder} is not a whole BGE-M3: {' and '.join(missing)} missing, and random ones would be "
                "used in their place; download the model again"
            )
        self._machine = machine
        self._lock = Lock()
        self.weights = weights
        made = [kind for kind in ("dense", "sparse", "multi") if kind == "dense" or getattr(weights, kind)]
        self.name = f"bge-m3 {fingerprint(self._folder)} {machine.precision} {'+'.join(made)}"

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embeddings:
        """The vectors of these texts; passages and segments are treated alike. Raises BadInput for one too long."""
        with self._lock:
            limit = min(
                self._model.tokenizer.model_max_length,
                self._model.model.model.config.max_position_embeddings - 2,
            )
            _refuse_longer(texts, self._model.tokenizer, limit, "BGE-M3")
            return _in_batches(
                texts, self._machine.batch_size, lambda batch: self._batch(batch, limit), progress
            )

    def _batch(self, texts: list[str], limit: int) -> Embeddings:
        answer = self._model.encode_corpus(
            texts,
            batch_size=len(texts) + 1,  # one batch, and no progress bars of its own
            max_length=limit,
            return_dense=True,
            return_sparse=self.weights.sparse > 0,
            return_colbert_vecs=self.weights.multi > 0,
        )
        return Embeddings(
            np.asarray(answer["dense_vecs"], dtype=np.float32),
            _sparse(answer["lexical_weights"]) if self.weights.sparse else None,
            _multi(answer["colbert_vecs"]) if self.weights.multi else None,
        )

    @cached_property
    def _model(self) -> Any:
        with _loading(f"BGE-M3 from {self._folder}"):
            from FlagEmbedding import BGEM3FlagModel

            return BGEM3FlagModel(
                str(self._folder),
                use_fp16=self._machine.precision == "fp16",
                use_bf16=self._machine.precision == "bf16",
                devices=_device(self._machine),
                trust_remote_code=False,
            )


class SentenceEmbedder:
    """Any model that sentence-transformers loads, with the prompts for documents and queries that it brings."""

    weights = Weights(dense=1.0, sparse=0.0, multi=0.0)

    def __init__(self, model: str, machine: Machine) -> None:
        self._folder = model_folder(model)
        self._machine = machine
        self._lock = Lock()
        self.name = f"st {fingerprint(self._folder)} {machine.precision}"

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embeddings:
        """The vectors of these texts. Raises BadInput for one longer than the model takes."""
        with self._lock:
            model, role = self._model, "document" if kind == "passage" else "query"
            if model.max_seq_length:
                prompt = model.prompts.get(role) or ""
                prompted = [prompt + text for text in texts]
                _refuse_longer(prompted, model.tokenizer, model.max_seq_length, self._folder.name)
            encode = model.encode_document if kind == "passage" else model.encode_query
            return _in_batches(
                texts,
                self._machine.batch_size,
                lambda batch: _unit(encode(batch, convert_to_numpy=True, show_progress_bar=False)),
                progress,
            )

    @cached_property
    def _model(self) -> Any:
        with _loading(f"a SentenceTransformer from {self._folder}"):
            import torch
            from sentence_transformers import SentenceTransformer

            dtype = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
            return SentenceTransformer(
                str(self._folder),
                device=_device(self._machine),
                model_kwargs={"dtype": dtype[self._machine.precision]},
                trust_remote_code=False,
                local_files_only=True,
            )


class ServerEmbedder:
    """A server's `/v1/embeddings`: OpenAI's, or vLLM's with BGE-M3. It must refuse what is too long, as these do."""

    weights = Weights(dense=1.0, sparse=0.0, multi=0.0)

    def __init__(
        self, model: str, address: str, key: str, batch_size: int = 64, timeout_s: float = 120
    ) -> None:
        self._model = model
        self._address = address
        self._key = key
        self._batch_size = batch_size
        self._timeout_s = timeout_s
        self._width = 0
        """Of the vectors that came first; 0: none came."""
        self.name = f"server {model} {address}"

    def embed(self, texts: Sequence[str], kind: Kind, progress: Progress | None = None) -> Embeddings:
        """The vectors of these texts; passages and segments are sent alike. Raises BadInput where none come back."""
        from httpx2 import Client

        headers = {"authorization": f"Bearer {self._key}", "accept-encoding": "identity"}
        with Client(headers=headers, timeout=self._timeout_s, follow_redirects=False) as client:
            return _in_batches(texts, self._batch_size, lambda batch: self._batch(client, batch), progress)

    def _batch(self, client: "Client", texts: list[str]) -> Embeddings:
        body = self._answer(client, texts)
        try:
            vectors = _vectors(json.loads(body), len(texts))
        except (ValueError, OverflowError, RecursionError) as error:
            raise BadInput(
                f"{self._address} answered {len(texts)} texts with something else than their vectors"
            ) from error
        self._width = self._width or vectors.shape[1]
        if vectors.shape[1] != self._width:
            raise BadInput(
                f"{self._address} answered with vectors of {vectors.shape[1]} numbers after some of {self._width}"
            )
        return _unit(vectors)

    def _answer(self, client: "Client", texts: list[str]) -> bytes:
        """The body of an answer. A busy server is asked up to `TRIES` times. Raises BadInput where there is none."""
        from httpx2 import HTTPError, InvalidURL

        for attempt in range(TRIES):
            time.sleep(attempt * FIRST_WAIT_S)
            try:
                status, body = self._asked(client, texts)
                why = f"HTTP {status}{_said(status, body)}"
                if status < 300:
                    return body
                if status not in BUSY and status < 500:
                    break
            except (HTTPError, InvalidURL, UnicodeError) as error:
                why = f"{type(error).__name__}: {error}"
        reason = one_line(why, self._key)[:300]
        raise BadInput(f"{self._address} gave no embeddings by {self._model}: {reason}")

    def _asked(self, client: "Client", texts: list[str]) -> tuple[int, bytes]:
        """Status and body of one answer, of which no more is read than `MOST_BYTES`, nor longer than the deadline."""
        asked = {
            "model": self._model,
            "input": [without_surrogates(text, "?") for text in texts],
            "encoding_format": "float",
        }
        until = time.monotonic() + self._timeout_s
        body = bytearray()
        content = json.dumps(asked).encode()
        kind = {"content-type": "application/json"}
        with client.stream("POST", f"{self._address}/embeddings", content=content, headers=kind) as answer:
            for piece in answer.iter_bytes():
                body += piece
                if len(body) > MOST_BYTES or time.monotonic() > until:
                    why = "never ends" if len(body) > MOST_BYTES else f"took more than {self._timeout_s:g} s"
                    raise BadInput(f"{self._address} gave no embeddings: its answer {why}")
            return answer.status_code, bytes(body)


def _vectors(answer: Any, count: int) -> NDArray[np.float32]:
    """The vectors of an answer in the order of the texts. Raises ValueError or OverflowError where it has others."""
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or len(data) != count or not all(isinstance(item, dict) for item in data):
        raise ValueError("there is not one vector for each text")
    places = [item.get("index") for item in data]
    if any(place is not None for place in places):
        if not all(type(place) is int for place in places) or sorted(places) != list(range(count)):
            raise ValueError("the vectors are not numbered as the texts are")
        data = sorted(data, key=lambda item: item["index"])
    rows = [item.get("embedding") for item in data]
    if not all(isinstance(row, list) and row and {type(n) for n in row} <= {int, float} for row in rows):
        raise ValueError("a vector is none")
    with np.errstate(over="ignore"):
        vectors = np.array(rows, dtype=np.float32)
    if not np.isfinite(vectors).all():
        raise ValueError("a vector has a number beyond all measure")
    return vectors


def _said(status: int, body: bytes) -> str:
    """What a server says about its error, after a colon."""
    if 300 <= status < 400:
        return ", a redirect, which is not followed: name the address itself"
    try:
        said = json.loads(body)["error"]["message"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    return f": {said}" if isinstance(said, str) else ""


def model_folder(model: str) -> Path:
    """The folder of a model: itself where it is one, else its copy from the Hugging Face hub, fetched if need be.

    Raises BadInput where there is none.
    """
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
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and _counts(path, folder)):
        size = path.stat().st_size
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(ENDS))
            file.seek(max(0, size - ENDS))
            digest.update(file.read(ENDS))
    return digest.hexdigest()[:16]


def _counts(path: Path, folder: Path) -> bool:
    inside = path.relative_to(folder)
    return path.suffix in {".json", ".txt", ".model", ".safetensors", ".pt", ".bin"} and not any(
        part.startswith(".") for part in inside.parts
    )


@contextmanager
def _loading(what: str) -> Iterator[None]:
    """Turns what libraries raise while they load a model into one line that says how to mend it."""
    try:
        yield
    except BadInput:
        raise
    except ImportError as error:
        raise BadInput(f"to load {what}, install longproof[bge] ({error})") from error
    except (OSError, ValueError, RuntimeError, KeyError, EOFError, UnpicklingError) as error:
        raise BadInput(f"can't load {what}: {_line(error)}; give the path of a complete copy") from error
    except Exception as error:
        if type(error).__name__ != "SafetensorError":  # its base is Exception, its module isn't always there
            raise
        raise BadInput(f"can't load {what}: {_line(error)}; give the path of a complete copy") from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _device(machine: Machine) -> str:
    import torch

    return machine.device or ("cuda:0" if torch.cuda.is_available() else "cpu")


def _refuse_longer(texts: Sequence[str], tokenizer: Any, limit: int, name: str) -> None:
    for first in range(0, len(texts), 256):
        some = list(texts[first : first + 256])
        for text, ids in zip(
            some, tokenizer(some, truncation=False, verbose=False)["input_ids"], strict=True
        ):
            if len(ids) > limit:
                raise BadInput(
                    f"a text of {len(text)} characters is {len(ids)} tokens long, and {name} takes {limit}: "
                    "cut the source into smaller pieces"
                )


def _in_batches(
    texts: Sequence[str], size: int, encode: Callable[[list[str]], Embeddings], progress: Progress | None
) -> Embeddings:
    parts = []
    for first in range(0, len(texts), size):
        parts.append(encode(list(texts[first : first + size])))
        if progress:
            progress(min(first + size, len(texts)), len(texts))
    return concatenated(parts)


def _unit(vectors: NDArray[np.float32]) -> Embeddings:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return Embeddings(np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32))


def _sparse(rows: Sequence[Mapping[str, float]]) -> Sparse:
    lengths = [len(row) for row in rows]
    return Sparse(
        np.array([int(token) for row in rows for token in row], dtype=np.int32),
        np.array([float(weight) for row in rows for weight in row.values()], dtype=np.float32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def _multi(rows: Sequence[NDArray[Any]]) -> Multi:
    lengths = [len(row) for row in rows]
    return Multi(
        np.concatenate([np.asarray(row, dtype=np.float16) for row in rows]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )
