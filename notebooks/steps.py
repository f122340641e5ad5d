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
# # Step through the graph, fork it, let a person decide
#
# What LangGraph Studio does with a mouse, here in code. The graph is LangGraph's own object; with a checkpointer it
# remembers every step. Two recorded answers stand in for two language models that disagree.

# %%
import json

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from longproof.examples import example
from longproof.graphs.opening import Given
from longproof.graphs.run import Pool
from longproof.graphs.settings import Settings
from longproof.graphs.verify import verify_graph

story, _ = example("en")
said = story.text.split(". ")[1] + "."
finding = {"short": [f"C1 E {said}"]}
other = {"rest": [{"claim": "C1", "reason": "I don't see it.", "label": "not_found"}]}
judges = [FakeListChatModel(responses=[json.dumps(one)]) for one in (finding, other)]
graph = verify_graph(Pool(Given(judges)), checkpointer=InMemorySaver())
given = {"source": story.text, "response": said}
usual = Settings(decomposer="offline")
thread = {"configurable": {"thread_id": "notebook"}}

# %% [markdown]
# As it runs, the nodes tell what they do: what was shown to the judges, who voted what, how a claim stands.

# %%
async for _, told in graph.astream(given, thread, context=usual, stream_mode="custom", subgraphs=True):
    print(str(told)[:110])

# %%
first = (await graph.aget_state(thread)).values["report"]
first.verdict, first.counts

# %% [markdown]
# Every step is still there. `check` is where the panel looks; where it comes next, another panel can start from.

# %%
history = [step async for step in graph.aget_state_history(thread)]
for step in reversed(history):
    print(step.metadata["step"], sorted(set(step.next)))

# %% [markdown]
# **Fork before `check`** with other settings: disputes left to a person. Reading, cutting
# into claims and aligning are not done again; what a paid judge has answered once is not paid for again.

# %%
before = next(step for step in history if set(step.next) == {"check"})
strict = Settings(decomposer="offline", arbiter="person")
stopped = await graph.ainvoke(None, before.config, context=strict)
(asked,) = stopped["__interrupt__"]
f"{len(asked.value)} claims wait for a person"

# %% [markdown]
# What a person sees of one of them:

# %%
one = asked.value[0]
print(one["claim"])
for told in one["said"]:
    print("   ", told["judge"], told["label"], told["reason"])

# %% [markdown]
# The answer is checked against the form that came with the question. What isn't named stays undecided.

# %%
answer = {"name": "A. Reader", "decisions": [{"claim_id": one["claim_id"], "label": "implicitly_supported"}]}
ended = await graph.ainvoke(Command(resume=answer), thread, context=strict)
second = ended["report"]
second.verdict, second.counts, second.stamp["reviews"][0]["name"]
