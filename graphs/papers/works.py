"""The works that the methods come from: authors, year, title, and where each appeared. All stand only here."""

from longproof.graphs.settings import Work

LONGNOVEL = Work(
    "LongNovel",
    "LongNovel: A Multi-Scale Benchmark for Hallucination Detection in Long-Context Novel Summarization",
    "anonymous authors",
    "2026",
    "Submitted to ACL Rolling Review, January 2026 (https://openreview.net/forum?id=VmfUdx7HGS)",
)
PROBE = Work(
    "PROBE",
    "PROBE: PROcess-Based BEnchmark for Hallucination Detection",
    "Yu Zhang, Peter Belcak, Shizhe Diao, Yonggan Fu, Shaona Ghosh, Morteza Mardani, Eileen Long, Bei Yu, "
    "Pavlo Molchanov",
    "2026",
    "Findings of the Association for Computational Linguistics: ACL 2026",
)
VERIGRAY = Work(
    "VeriGray",
    "The Gray Zone of Faithfulness: Taming Ambiguity in Unfaithfulness Detection",
    "Qiang Ding, Lvzhou Luo, Yixuan Cao, Ping Luo",
    "2025",
    "arXiv:2510.21118",
)
HALUEVAL = Work(
    "HaluEval",
    "HaluEval: A Large-Scale Hallucination Evaluation Benchmark for Large Language Models",
    "Junyi Li, Xiaoxue Cheng, Wayne Xin Zhao, Jian-Yun Nie, Ji-Rong Wen",
    "2023",
    "Proceedings of the 2023 Conference on Empirical Methods in Natural Language Processing (EMNLP)",
)
DATA_TO_TEXT = Work(
    "data-to-text",
    "Data-to-Text Hallucination Detection Task with Chain-of-Thought",
    "author unknown",
    "undated",
    "A prompt, not a paper; where it was published is not known",
)
WORKS = (LONGNOVEL, PROBE, VERIGRAY, HALUEVAL, DATA_TO_TEXT)
