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
# # Verify a summary and read the report
#
# A bundled story, a summary of it with four planted errors, and the offline check: no key, no download. It says which
# sentences stand in the source word for word and which plainly conflict; of the rest, that they are not checked
# (`None`, `needs_model`). To have that read, write `Verifier(judges=["openai:MODEL"])`.

# %%
from longproof import Verifier
from longproof.examples import example

story, summary = example("en")
print(f"{len(story.text)} characters of story, {len(summary.text)} of summary")

# %%
report = Verifier().verify(story, summary.text)
report.verdict, report.coverage, report.counts

# %% [markdown]
# Every claim has one label of seven, or the reason why it has none (`failure`). What is wrong comes with exact
# places: in the response (`errors`) and in the source (`evidence`).

# %%
needs = sum(claim.failure == "needs_model" for claim in report.claims)
print(f"{needs} of {len(report.claims)} claims need a model")
wrong = [claim for claim in report.claims if claim.label in ("contradicting", "fabricated")]
for claim in wrong:
    print(f"{claim.label}, by {claim.decided_by}: {claim.text}")
    for error in claim.errors:
        print(f"    wrong: {error.span.text!r}  {error.reason}")
    for span in claim.evidence[:1]:
        print(f"    source [{span.start}:{span.end}]: {span.text[:120]!r}")

# %% [markdown]
# Places are believed because they can be checked: a span's text is what stands there.

# %%
all(story.text[span.start : span.end] == span.text for claim in report.claims for span in claim.evidence)

# %% [markdown]
# Who said what of the first claim. With language models the evidence widens round by round until they can decide.

# %%
for said in (*wrong, *report.claims)[0].judgements:
    print(f"{said.round:9} {said.judge:9} {said.label or said.failure}  {said.reason}")

# %% [markdown]
# In a notebook a report shows itself in short.

# %%
report

# %% [markdown]
# The whole of it is a page to read: `longproof report report.json --html report.html`, or from Python:

# %%
print(f"a page of {len(report.html()) // 1000} kB")
