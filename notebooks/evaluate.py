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
# # Evaluate twice, compare, and plot
#
# The bundled stories, each with a faithful summary and one with planted errors, cut into sentences: every sentence
# is an example whose outcome is known. Two runs of the offline check, the second on sources that lost their last
# third; the papers' protocols need judges that read. These few examples show how to read an evaluation, not how good
# anything is.

# %%
import json
from pathlib import Path
from tempfile import mkdtemp

from longproof.evaluation.compare import compare_runs
from longproof.evaluation.run import evaluate_dataset
from longproof.examples import example
from longproof.retrieval.text.sentences import sentences

folder = Path(mkdtemp())
rows = []
for language in ("en", "zh"):
    story, right = example(language, "faithful")
    _, wrong = example(language, "hallucinated")
    true = {right.text[start:end] for start, end in sentences(right.text)}
    said = [wrong.text[start:end] for start, end in sentences(wrong.text)]
    errors = [text for text in said if text not in true]
    for label, texts in (("hallucinated", errors), ("faithful", sorted(true)[: len(errors)])):
        for number, text in enumerate(texts):
            rows.append(
                {
                    "id": f"{language}-{label}-{number}",
                    "task": "summary",
                    "source_text": story.text,
                    "response": text,
                    "label": label,
                    "group": language,
                }
            )
cases = folder / "cases.jsonl"
cases.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
len(rows)

# %%
cut = folder / "cut.jsonl"
shorter = [{**row, "source_text": row["source_text"][: len(row["source_text"]) * 2 // 3]} for row in rows]
cut.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in shorter), "utf-8")
whole = evaluate_dataset(str(cases), judges=["offline"], out=folder / "whole")
part = evaluate_dataset(str(cut), judges=["offline"], out=folder / "part")
for done in (whole, part):
    print([(result.id, result.prediction.outcome) for result in done.results[:4]])

# %% [markdown]
# The two against each other: scores with coverage, and the examples that changed sides.

# %%
difference = compare_runs(folder / "part", folder / "whole")
for row in difference.differences[:6]:
    print(row.name, row.a, row.b)
print(f"{len(difference.changes)} of {difference.n} examples changed sides")

# %% [markdown]
# What was said of what gold calls faithful and hallucinated, drawn from the same results:

# %%
from matplotlib import pyplot

sides = ["faithful", "hallucinated"]
said = [*sides, "undecided"]
counts = [
    [sum(r.gold.outcome == side and r.prediction.outcome == word for r in whole.results) for word in said]
    for side in sides
]
pyplot.figure(figsize=(4.2, 2.4))
pyplot.imshow(counts, cmap="Blues")
pyplot.xticks(range(3), said)
_ = pyplot.yticks(range(2), sides)
