"""The shelf: built once, the latest kept, nobody's value lost to another's."""

from concurrent.futures import ThreadPoolExecutor

from longproof.indexes.cache import Cache


def test_a_value_is_built_once_and_the_least_used_goes_first() -> None:
    built: list[str] = []
    shelf: Cache[str] = Cache(kept=2)

    def get(key: str) -> str:
        return shelf.get(key, lambda: built.append(key) or key.upper())

    assert [get(key) for key in "abaca"] == list("ABACA")
    assert built == ["a", "b", "c"]
    assert shelf.at_hand("b") is None


class Crowded(Cache[str]):
    """Another thread's value always comes right behind one's own."""

    def _keep(self, key: str, value: str) -> None:
        super()._keep(key, value)
        super()._keep(f"after {key}", "another")


def test_a_value_pushed_off_at_once_is_still_given() -> None:
    assert Crowded(kept=1).get("a", lambda: "A") == "A"


def test_threads_with_more_keys_than_places_get_their_own_values() -> None:
    shelf: Cache[int] = Cache(kept=2)

    def many(seed: int) -> bool:
        return all(shelf.get(str(n), lambda n=n: n) == n for n in ((seed + i * 7) % 5 for i in range(3000)))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(many, range(4)))
