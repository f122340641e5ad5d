# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Replay a run and look into it
#
# Recorded answers of language models, and the same checks made again from them: no server, no key, no network. First
# the demo, claim by claim; then an evaluation with gold.

# %%
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import mkdtemp

from longproof import Verifier
from longproof.agent.models.recording import Replay
from longproof.evaluation.replay import recorded_run, replay_dataset
from longproof.examples import demo_summary, example, pages, recording

replay = Replay.open(recording("en"))
story, _ = example("en")
run = replay.header.run
panel = {"judges": run["judges"], "arbiter": run["arbiter"], "pages": str(pages("en"))}
report = Verifier(**panel, recording=replay).verify(story, demo_summary("en"), case_id="demo-en")
print(f"{len(replay.lines)} answers of {replay.header.made}: {report.verdict}, {len(report.claims)} claims")

# %% [markdown]
# **Price.** What each purpose read and wrote, in characters. A price of 1 is the story read once; writing counts
# five times.

# %%
for purpose in sorted({call.purpose for call in report.calls}):
    calls = [call for call in report.calls if call.purpose == purpose]
    read, wrote = (sum(getattr(c, f"{name}_characters") for c in calls) for name in ("prompt", "answer"))
    spent = (read + 5 * wrote) / len(story.text)
    print(f"{purpose:10} {len(calls):3} calls  read {read:7,}  wrote {wrote:6,}  price {spent:.2f}")

# %% [markdown]
# **Rounds and votes.** How wide was looked before a claim was decided, and who decided it.

# %%
last = Counter(claim.judgements[-1].round if claim.judgements else "never asked" for claim in report.claims)
print(dict(last), dict(Counter(claim.decided_by for claim in report.claims)))
for claim in report.claims:
    if claim.decided_by == "arbiter" or claim.label == "out_dependent":
        print(f"\n{claim.text}  → {claim.label}, by {claim.decided_by}")
        for said in claim.judgements:
            judge = said.judge.removeprefix("arbiter:").split("@")[0]
            print(f"    {said.round:8} {judge:20} {said.label or said.failure}")

# %% [markdown]
# **An evaluation.** The bundled data set has pairs of a faithful and a hallucinated text over the same story.

# %%
recorded = Path("evaluation", "recorded", "stories.gz")
kept = next(
    (folder / recorded for folder in (Path.cwd(), Path.cwd().parent) if (folder / recorded).exists()), None
)
if kept is None:
    raise SystemExit(f"there is no {recorded} here: start from the checkout, or from its folder notebooks")

# %%
asked = recorded_run(Replay.open(kept))
done = replay_dataset(asked.dataset, kept, out=Path(mkdtemp()))
for score in done.sections[0].scores[:4]:
    print(f"{score.name:26} {score.value}  over {score.n}, coverage {score.coverage}")
prices = sorted(
    (r.prediction.usage.prompt_characters + 5 * r.prediction.usage.answer_characters) / r.source_characters
    for r in done.results
)
print(
    f"price of a case: {prices[0]:.2f} to {prices[-1]:.2f}, half of them below {prices[len(prices) // 2]:.2f}"
)

# %% [markdown]
# **Misses.** Every case where gold and verdict differ, with the claims that were not called faithful.

# %%
for result in done.results:
    if result.prediction.outcome != result.gold.outcome:
        print(f"{result.id}: gold {result.gold.outcome}, we say {result.prediction.outcome}")
        for claim in result.prediction.claims:
            if claim.label in (None, "contradicting", "fabricated", "ambiguous"):
                print(f"    {claim.label or claim.failure}: {claim.text[:100]}")

# %% [markdown]
# **Reliability.** How often a verdict is right by how it came about: a case is `arbiter` where any of its claims was
# disputed, `nobody` where one was left open.

# %%
right: dict[str, list[bool]] = defaultdict(list)
for result in done.results:
    ways = {claim.decided_by for claim in result.prediction.claims}
    way = next((one for one in ("nobody", "arbiter") if one in ways), "vote")
    right[way].append(result.prediction.outcome == result.gold.outcome)
for way, found in sorted(right.items()):
    print(f"{way:8} {sum(found)} of {len(found)} right")
