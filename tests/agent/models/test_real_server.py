"""The seam against a server that nobody here wrote: llama.cpp's own, with a random model that the test makes.

What such a model says is noise; the protocol, the counts and the schema that binds it are real.
"""

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import httpx2
import pytest
from pydantic import Field
from seam import PROMPT, using

from longproof.agent.models.answers import Form
from longproof.agent.models.model import Answer, Model
from longproof.agent.models.openai_chat import OpenAIChat

pytestmark = pytest.mark.heavy

SERVE = """
import signal, sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.model_alias, p.hostnames, p.port = sys.argv[1], {"tiny"}, ["127.0.0.1"], int(sys.argv[2])
p.n_ctx, p.n_parallel, p.n_gpu_layers, p.warmup, p.use_jinja = 32768, 2, 0, False, True
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1  # so small a model's second thread only waits, and busily
server = xllamacpp.Server(p)
signal.pause()
"""


def make_model(path: Path) -> None:
    """A llama of one tiny random layer over bytes, inclined to close its strings, objects and turns."""
    gguf = pytest.importorskip("gguf", reason="needs gguf to make a model: pip install gguf")
    np = pytest.importorskip("numpy")
    rng = np.random.default_rng(0)
    kinds, width, inner = gguf.TokenType, 32, 64
    tokens = [("<unk>", kinds.UNKNOWN), ("<s>", kinds.CONTROL), ("</s>", kinds.CONTROL)]
    tokens += [(f"<0x{byte:02X}>", kinds.BYTE) for byte in range(256)]
    tokens += [(character, kinds.NORMAL) for character in "\u2581" + "".join(map(chr, range(33, 127)))]
    names = [name for name, _ in tokens]
    turns = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant:"
    writer = gguf.GGUFWriter(str(path), "llama")
    for name, value in {
        "context_length": 32768, "embedding_length": width, "feed_forward_length": inner, "block_count": 1,
        "head_count": 1, "head_count_kv": 1, "rope_dimension_count": width, "layer_norm_rms_eps": 1e-5,
        "vocab_size": len(tokens), "file_type": gguf.LlamaFileType.ALL_F32, "tokenizer_model": "llama",
        "token_list": [name.encode() for name in names], "token_types": [int(kind) for _, kind in tokens],
        "token_scores": [-float(max(0, n - 259)) for n in range(len(tokens))], "bos_token_id": 1,
        "eos_token_id": 2, "unk_token_id": 0, "add_bos_token": True, "add_eos_token": False,
        "chat_template": turns,
    }.items():  # fmt: skip
        getattr(writer, f"add_{name}")(value)

    def noise(*shape: int, scale: float = 0.1) -> Any:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    embedding, output = noise(len(tokens), width, scale=0.3), noise(len(tokens), width, scale=0.3)
    embedding[:, 0], output[:, 0] = 4.0, 0.0
    for name, bias in {'"': 1.5, "}": 2.0, "</s>": 2.0, "]": 0.5}.items():
        output[names.index(name), 0] = bias
    output[3:259, 0] = -2.0
    tensors = {"token_embd": embedding, "output": output, "output_norm": np.ones(width, np.float32)}
    tensors |= {f"blk.0.{part}_norm": np.ones(width, np.float32) for part in ("attn", "ffn")}
    tensors |= {f"blk.0.attn_{part}": noise(width, width) for part in ("q", "k", "v", "output")}
    tensors |= {f"blk.0.ffn_{part}": noise(inner, width) for part in ("gate", "up")}
    tensors["blk.0.ffn_down"] = noise(width, inner)
    for name, tensor in tensors.items():
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def answers(place: str) -> bool:
    try:
        return httpx2.get(f"{place}/models").status_code == 200
    except httpx2.HTTPError:
        return False


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("xllamacpp", reason="needs a llama.cpp server: pip install xllamacpp")
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    make_model(model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command, quiet = [sys.executable, "-c", SERVE, str(model), str(port)], subprocess.DEVNULL
    server = subprocess.Popen(command, stdout=quiet, stderr=quiet)
    place = f"http://127.0.0.1:{port}/v1"
    try:
        until = time.monotonic() + 60
        while not answers(place):
            assert time.monotonic() < until, "the server does not answer"
            assert server.poll() is None, "the server ended"
            time.sleep(0.2)
        yield place
    finally:
        server.terminate()
        server.wait(10)


class Short(Form):
    """A form that even noise fills in within bounds."""

    reason: Annotated[str, Field(max_length=12)]
    label: str = Field(json_schema_extra={"enum": ["supported", "contradicting"]})


@pytest.mark.parametrize("stream", [False, True])
def test_the_schema_binds_the_answer_and_the_server_counts(address: str, stream: bool) -> None:
    async def use(model: Model) -> list[Answer[Short]]:
        how: dict[str, Any] = {"purpose": "t", "temperature": 0.8, "max_tokens": 200}
        asking = (model.ask(PROMPT, Short, sample=n, **how) for n in range(8))
        return list(await asyncio.gather(*asking))

    answers = using(OpenAIChat("tiny", address, "none", stream=stream), use, timeout_s=300.0)
    assert [answer.failure for answer in answers] == [None] * 8
    assert {answer.value.label for answer in answers} <= {"supported", "contradicting"}
    for answer in answers:
        (call,) = answer.calls
        assert call.prompt_tokens > 10
        assert 0 < call.completion_tokens <= 200
        assert call.cached_tokens is not None
