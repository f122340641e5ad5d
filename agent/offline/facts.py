"""Names and numbers of a claim against the evidence, and kin.

Knows: numbers with what they count, persons and names, words for kin beside a name.
Does not know: denial, order, who speaks.
"""

from collections.abc import Callable, Iterator

from longproof.agent.offline.counted import counted
from longproof.agent.offline.figures import figures
from longproof.agent.offline.people import kin, strangers, unknown_names
from longproof.agent.offline.rows import figures_of_rows
from longproof.agent.offline.view import Finding, Opinion, View, weighed

LOOKS: tuple[Callable[[View], Iterator[Finding]], ...] = (
    figures,
    counted,
    figures_of_rows,
    unknown_names,
    strangers,
    kin,
)


def look(view: View) -> Opinion:
    """Contradicting where the evidence has something else; fabricated where it has nothing of a name or number."""
    if view.absent:
        return Opinion("not_found")
    found = weighed(view, _once([finding for each in LOOKS for finding in each(view)]))
    if found is None:
        return Opinion("not_found")
    if not found:
        return Opinion("implicitly_supported", quote=view.place.span if view.place else None)
    return Opinion("contradicting" if any(f.correction for f in found) else "fabricated", found)


def _once(findings: list[Finding]) -> list[Finding]:
    """One finding for each place: the first with a correction, else the first."""
    kept: dict[int, Finding] = {}
    for finding in sorted(findings, key=lambda finding: not finding.correction):
        kept.setdefault(finding.start, finding)
    return list(kept.values())
