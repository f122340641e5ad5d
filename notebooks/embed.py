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
# # Build it into a LangChain chain and into LlamaIndex
#
# The model here is a fake with one answer, so that nothing has to be paid for; everything else is as in real use.

# %%
from langchain_core.language_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from longproof import Verifier
from longproof.adapters.langchain import runnable, tool

notes = "Ada lit the lamp at nine. Tom sold the boat to Ada for twenty pounds. The bridge fell in March."
verifier = Verifier()

# %% [markdown]
# ## A RAG chain that checks its own answer
# What was retrieved is the source, what the model says is the response.

# %%
prompt = ChatPromptTemplate.from_template("Answer from these notes: {source}\n\nQuestion: {context}")
model = FakeListChatModel(responses=["Ada lit the lamp at ten. Tom sold the boat to Ada."])
chain = (
    RunnablePassthrough.assign(source=lambda asked: notes)
    | RunnablePassthrough.assign(response=prompt | model | StrOutputParser())
    | RunnablePassthrough.assign(report=runnable(verifier))
)
answered = await chain.ainvoke({"context": "When was the lamp lit, and who has the boat?"})
answered["response"], answered["report"].verdict

# %%
for claim in answered["report"].claims:
    print(f"{claim.label}: {claim.text}")

# %% [markdown]
# As a tool for an agent, it answers in short JSON; the whole report is the message's artifact.

# %%
check = tool(verifier, source=notes)
await check.ainvoke({"response": "The bridge fell in May."})

# %% [markdown]
# ## LlamaIndex
# An evaluator of (query, response, contexts), and of what a query engine answers.

# %%
from longproof.adapters.llamaindex import evaluator

result = await evaluator(verifier).aevaluate("When was the lamp lit?", "Ada lit the lamp at ten.", [notes])
result.passing, result.score

# %%
from llama_index.core import Document, Settings, SummaryIndex
from llama_index.core.llms import MockLLM

Settings.llm = MockLLM()
index = SummaryIndex.from_documents([Document(text=notes)])
answer = await index.as_query_engine(response_mode="context_only").aquery("What do the notes say?")
result = await evaluator(verifier).aevaluate_response("What do the notes say?", answer)
result.passing, result.score

# %%
await verifier.close()
