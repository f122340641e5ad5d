"""A key goes where its owner sent it, and nowhere that a file or a client names; what is no address is refused."""

import pytest

from longproof.agent.models.addresses import key_variable, place_and_key
from longproof.retrieval.types import BadInput


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "LONGPROOF_API_KEY_HOSTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LONGPROOF_API_KEY", "lp-secret")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


@pytest.mark.parametrize(
    "address",
    ["http://evil.example/v1", "http://good.example.evil.example/v1", "http://evil.example/good.example/v1",
     "http://evilgood.example/v1", "http://good.example:9/v1", "https://api.openai.com.evil.example/v1",
     "http://[::1]:80/v1"],
)  # fmt: skip
def test_an_address_that_nobody_listed_gets_none(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert place_and_key(address) == (address, "lp-secret"), "its owner named it"
    assert place_and_key(address, by_owner=False) == (address, "none")
    monkeypatch.setenv("LONGPROOF_API_KEY_HOSTS", "good.example:8000, ,other.example,=,")
    assert place_and_key(address, by_owner=False) == (address, "none")


def test_a_listed_host_gets_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGPROOF_API_KEY_HOSTS", "a.example, B.example:8000 ,[::1], c.example = C_KEY")
    monkeypatch.setenv("C_KEY", "c-secret")
    for place in ("http://a.example", "https://A.example:1", "http://b.example:8000", "http://[::1]"):
        assert place_and_key(f"{place}/v1", by_owner=False)[1] == "lp-secret", place
    for by_owner in (False, True):
        assert place_and_key("http://c.example/v1", by_owner=by_owner)[1] == "c-secret"
    assert key_variable("http://b.example/v1", by_owner=False) == ""


def test_openai_gets_its_own_key_whoever_names_it() -> None:
    for address in (None, "https://api.openai.com/v1"):
        assert place_and_key(address, by_owner=False)[1] == "sk-secret"


ADDRESSES = [
    "ftp://h/v1", "localhost:8000", "http://u:p@h/v1", "http://h/v1?key=1", "http://[::1/v1", "http://h:99999/v1",
    "http://h:-1/v1", "http://h:x/v1", "http://h\n/v1", "http://h/v1\r\nx: y", "http://h /v1", "http://\x1b[2J/v1",
    "http:///v1", "http://[v1.a]/v1", "http://h/v1#x", "http://%00/v1", "http://" + "a" * 300 + "/v1",
    "http://\udcff/v1", "http://a\u2028b/v1",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("named", [True, False])
def test_what_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch, address: str, named: bool) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://h/v1" if named else address)
    with pytest.raises(BadInput) as refused:
        place_and_key(address if named else None)
    assert str(refused.value).isprintable()
