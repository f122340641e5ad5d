"""What labels, kinds, rounds and failures are called where people read them, in English and Chinese.

Labels are VeriGray's (seed 002), kinds LongNovel's eight (seed 004, Appendix A). The data keep the
English keys; only what is shown is translated. Does not know: where a word is shown.
"""

from typing import Literal

Language = Literal["en", "zh"]

SIGNS: dict[str, str] = {
    "contradicting": "✗",
    "fabricated": "∅",
    "ambiguous": "≈",
    "no_fact": "·",
    "out_dependent": "↗",
    "implicitly_supported": "✓",
    "explicitly_supported": "✔",
    "not_found": "○",
    "undecided": "?",
    "hallucinated": "✗",
    "faithful": "✔",
}
"""One sign a label, so that colour never says anything alone."""

_NAMES: dict[str, tuple[str, str]] = {
    "contradicting": ("contradicting", "与原文矛盾"),
    "fabricated": ("fabricated", "无中生有"),
    "ambiguous": ("ambiguous", "有歧义"),
    "no_fact": ("no fact", "非事实陈述"),
    "out_dependent": ("outside knowledge", "依赖外部知识"),
    "implicitly_supported": ("implied by the source", "隐含支持"),
    "explicitly_supported": ("stated in the source", "明确支持"),
    "not_found": ("not found", "未找到"),
    "undecided": ("undecided", "未决"),
    "hallucinated": ("hallucinated", "有幻觉"),
    "faithful": ("faithful", "忠实"),
    "entity": ("entity", "实体"),
    "numerical": ("number", "数字"),
    "relation": ("relation", "关系"),
    "inversion": ("inversion", "反向陈述"),
    "event": ("event", "事件"),
    "temporal": ("time", "时间线"),
    "causal": ("cause", "因果"),
    "fabrication": ("invented event", "虚构事件"),
    "ungrounded": ("its quotes aren't in the source", "引文在原文中找不到"),
    "self_contradicted": ("its answer contradicts itself", "回答自相矛盾"),
    "off_menu": ("its answer isn't one of the choices", "回答不在选项之内"),
    "truncated": ("its answer was cut off", "回答被截断"),
    "unparsed": ("its answer isn't in the asked form", "回答格式不符"),
    "refused": ("it refused to answer", "拒绝回答"),
    "timeout": ("no answer in time", "超时未答"),
    "unavailable": ("the server didn't answer", "服务不可用"),
    "over_budget": ("the budget was spent", "预算已用完"),
    "split": ("the judges disagree", "评审意见不一"),
    "passages": ("passages", "段落"),
    "window": ("window", "窗口"),
    "book": ("whole source, searched", "全书检索"),
    "source": ("source", "原文"),
    "pages": ("web pages", "网页"),
    "vote": ("vote", "投票"),
    "arbiter": ("arbiter", "仲裁"),
    "person": ("a person", "人工"),
    "rule": ("rule", "规则"),
    "nobody": ("nobody", "无人"),
    "response": ("response", "待查文本"),
    "page": ("web page", "网页"),
    "outside knowledge not consulted": ("outside knowledge not consulted", "未查证外部知识"),
}

_PHRASES: dict[str, tuple[str, str]] = {
    "colon": (": ", "："),
    "comma": (", ", "，"),
    "semicolon": ("; ", "；"),
    "sentence_n": ("sentence {n}", "第 {n} 句"),
    "sentences_wrong": ("{n} of {all} sentences are wrong", "{all} 句中有 {n} 句有误"),
    "sentences_undecided": ("{n} of {all} sentences could not be decided", "{all} 句中有 {n} 句未能判定"),
    "nothing_wrong": ("nothing wrong was found in {all} sentences", "{all} 句中未发现错误"),
    "should_be": ("should be", "应为"),
    "why": ("why", "理由"),
    "votes": ("votes", "投票"),
    "claim": ("claim", "断言"),
    "evidence": ("evidence", "证据"),
    "wrong": ("Wrong", "有误"),
    "unsettled": ("To be looked at", "需人工查看"),
    "no_evidence": ("no evidence was found", "没有找到证据"),
    "text_missing": (
        "The text of {title} isn't here, so quotes stand without their surroundings.",
        "缺少《{title}》的全文，引文只能单独列出。",
    ),
    "triage": (
        "Triage: only small offline judges looked. Take it as a hint where to look, not as a verdict.",
        "初筛：仅由离线小评审查看。结果只提示该看哪里，不是最终判定。",
    ),
    "claims_n": ("{n} claims", "{n} 条断言"),
    "coverage": (
        "coverage {share} ({n} of {all} claims decided)",
        "覆盖率 {share}（{all} 条断言判定了 {n} 条）",
    ),
    "calls_n": ("{n} calls", "{n} 次调用"),
    "tokens": ("{prompt} + {completion} tokens", "{prompt} + {completion} 个 token"),
    "passes": ("{n} passes over the source", "相当于通读原文 {n} 遍"),
    "seconds_n": ("{n} s", "{n} 秒"),
    "characters_n": ("{n} characters", "{n} 字"),
    "protocol_is": ("protocol {name}", "协议 {name}"),
    "caveats": ("caveats", "说明"),
    "line_n": ("line {n}", "第 {n} 行"),
    "percent_in": ("{share} in", "{share} 处"),
}


def words(language: Language) -> dict[str, str]:
    """Every name and phrase in that language. Phrases have `{places}` to be filled by `str.format`."""
    column = ("en", "zh").index(language)
    return {key: pair[column] for key, pair in {**_NAMES, **_PHRASES}.items()}
