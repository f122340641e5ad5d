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
    "not_checked": "–",
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
    "not_checked": ("not checked", "未核查"),
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
    "too_long": ("longer than the model's context", "超出模型的上下文长度"),
    "needs_model": ("needs a model", "需要模型"),
    "not_found_so_far": ("not found so far", "尚未找到"),
    "split": ("the judges disagree", "评审意见不一"),
    "disputed": ("a judge disputes the given label", "有评审不同意所给标签"),
    "sourceless": ("there is no source, and no saved page speaks of it", "没有原文，所存网页也未提及"),
    "unconfirmed": ("called wrong, but not confirmed", "判为有误，但未获证实"),
    "nothing": ("nothing shown", "未出示原文"),
    "place": ("its place", "对应处"),
    "passages": ("passages", "段落"),
    "window": ("window", "窗口"),
    "book": ("whole source, searched", "全书检索"),
    "search": ("search", "检索"),
    "scan": ("all of it read", "通读"),
    "source": ("source", "原文"),
    "pages": ("web pages", "网页"),
    "vote": ("vote", "投票"),
    "arbiter": ("arbiter", "仲裁"),
    "person": ("a person", "人工"),
    "rule": ("rule", "规则"),
    "nobody": ("nobody", "无人"),
    "response": ("response", "待查文本"),
    "page": ("web page", "网页"),
    "called wrong, but asking once more failed": (
        "called wrong, but asking once more failed",
        "判为有误，但再问失败",
    ),
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
        "No model has read this. To have it read, give --judge openai:MODEL.",
        "尚无模型审读。如需审读，请加 --judge openai:模型名。",
    ),
    "triage_1": (
        "Offline judges of an earlier version looked; what they could not tell counts as supported. Check again.",
        "由早期版本的离线评审查看，无法判断的也算作支持：请重新核查。",
    ),
    "stand_n": ("{n} of {all} claims stand there", "{all} 条断言中有 {n} 条原文写明"),
    "all_stand": ("every claim stands there", "每条断言原文都写明"),
    "nothing_claimed": ("there is no claim to check", "没有可核查的断言"),
    "conflicts_one": ("1 conflicts", "1 条与原文冲突"),
    "conflicts_n": ("{n} conflict", "{n} 条与原文冲突"),
    "needs_one": ("1 needs a model", "1 条需要模型"),
    "needs_n": ("{n} need a model", "{n} 条需要模型"),
    "open_one": ("1 undecided", "1 条未决"),
    "open_n": ("{n} undecided", "{n} 条未决"),
    "sentences_unread": (
        "{n} of {all} sentences without a claim are not checked",
        "{all} 句中有 {n} 句没有断言，未核查",
    ),
    "more_n": ("+ {n} more", "另有 {n} 条"),
    "claims_one": ("1 claim", "1 条断言"),
    "claims_n": ("{n} claims", "{n} 条断言"),
    "sentences_one": ("1 sentence", "1 句"),
    "sentences_n": ("{n} sentences", "{n} 句"),
    "coverage": (
        "coverage {share} ({n} of {all} claims decided)",
        "覆盖率 {share}（{all} 条断言判定了 {n} 条）",
    ),
    "calls_one": ("1 call", "1 次调用"),
    "calls_n": ("{n} calls", "{n} 次调用"),
    "tokens": ("{all} tokens ({written} written)", "{all} 个 token（写出 {written}）"),
    "passes": ("read {n} × the source's length", "读入的字符为原文的 {n} 倍"),
    "price": ("price {n}", "代价 {n}"),
    "cascade": (
        "cascade: {n} claims cleared by the first judge alone; of {again} read again {overturned} were overturned: "
        "about {estimate} errors let pass ({low} to {high})",
        "级联：{n} 条断言只由第一位评审放行；另抽 {again} 条复读，推翻 {overturned} 条：估计放过约 {estimate} 处错误"
        "（{low} 至 {high}）",
    ),
    "cascade_unknown": (
        "cascade: {n} claims cleared by the first judge alone; none was read again, so nothing is estimated",
        "级联：{n} 条断言只由第一位评审放行；没有抽到复读的断言，无从估计",
    ),
    "risk_one": (
        "1 claim called wrong, {asked} asked about once more, {held} held back",
        "1 条断言被判有误，其中 {asked} 条再问一次，{held} 条暂不定论",
    ),
    "risk_n": (
        "{n} claims called wrong, {asked} of them asked about once more, {held} held back",
        "{n} 条断言被判有误，其中 {asked} 条再问一次，{held} 条暂不定论",
    ),
    "silent": (
        "{judge} gave no answer to {n} of {all} questions: without it fewer voices decided",
        "{judge} 对 {all} 次提问中的 {n} 次没有作答，定论的声音因而少了",
    ),
    "risk_failed_one": ("for 1 that question failed, and it is undecided", "1 条再问失败，暂不定论"),
    "risk_failed_n": ("for {n} that question failed, and they are undecided", "{n} 条再问失败，暂不定论"),
    "risk_unknown": (
        "their votes can't tell how reliable the judges are, so every one was asked about, and no risk is named",
        "由投票看不出评审有多可靠，故每条都再问一次，也不给出风险",
    ),
    "risk_chance": (
        "a faithful text of {claims} would be called hallucinated in an estimated {before} of cases, so in {after} "
        "(at most {most} was asked for; rates of the judges {rates}, who are taken to err independently)",
        "{claims}的忠实文本被误判的概率估计为 {before}，如此处理后为 {after}"
        "（要求不超过 {most}；评审的准确率{rates}，并假定各评审的错误互相独立）",
    ),
    "rates_file": ("from a file", "取自文件"),
    "rates_votes": ("from their votes in this run", "由本次投票估计"),
    "rates_None": ("unknown", "未知"),
    "money": ("cost {n}", "花费 {n}"),
    "seconds_n": ("{n} s", "{n} 秒"),
    "characters_n": ("{n} characters", "{n} 字"),
    "protocol_is": ("protocol {name}", "协议 {name}"),
    "caveats": ("caveats", "说明"),
    "looked_at": ("looked at", "查看范围"),
    "in_brackets": (" ({text})", "（{text}）"),
    "read_all": ("all of the source was read", "已通读原文"),
    "read_share": ("{share} of the source was read for it", "为此读了原文的 {share}"),
    "scan_unfinished": ("a reading of all of it, not finished", "通读未完成"),
    "settle_by_reach": (
        "Reading all of the source would settle it: --reach scan",
        "通读原文即可判定：--reach scan",
    ),
    "settle_by_budget": (
        "Reading all of the source would settle it; the budget (--max-calls, --max-tokens) is too small for that",
        "通读原文即可判定，但预算（--max-calls、--max-tokens）不够",
    ),
    "line_n": ("line {n}", "第 {n} 行"),
    "percent_in": ("{share} in", "{share} 处"),
}

_PAGE: dict[str, tuple[str, str]] = {
    "close": ("Close", "关闭"),
    "print": ("Print", "打印"),
    "keys": ("Keys", "快捷键"),
    "theme_auto": ("Theme: as the system", "主题：跟随系统"),
    "theme_light": ("Theme: light", "主题：浅色"),
    "theme_dark": ("Theme: dark", "主题：深色"),
    "filter_labels": ("Filter by label", "按判定筛选"),
    "filter_kinds": ("Filter by kind of error", "按错误类型筛选"),
    "filtered_n": ("{n} of {all} sentences match", "{all} 句中有 {n} 句符合"),
    "search_texts": ("Search both texts", "在两侧文本中搜索"),
    "found_n": (
        "{at} of {n} in the source, {response} in the response",
        "原文 {at}/{n}，待查文本 {response}",
    ),
    "found_before": ("Previous match", "上一处"),
    "found_next": ("Next match", "下一处"),
    "no_source": ("There is no source.", "没有原文。"),
    "open_source": ("Show or hide the source", "展开或收起原文"),
    "open_there": ("Open the source here", "在原文中打开"),
    "to_sentence": ("Back to the sentence", "回到该句"),
    "evidence_for": ("Evidence for sentence {n} ({label})", "第 {n} 句的证据（{label}）"),
    "where_looked": ("Show where it was looked for", "查看检索过的位置"),
    "judge_openai_is": (
        "A language model behind an OpenAI-compatible server",
        "OpenAI 兼容服务器上的语言模型",
    ),
    "judge_nli_is": (
        "A small model that says whether one text follows from another",
        "判断一段文字能否由另一段推出的小模型",
    ),
    "judge_offline_is": (
        "The check without a model: words, numbers and names that stand in the source or conflict with it",
        "无模型的核查：字词、数字、名称与原文相符或相冲突",
    ),
    "judge_person_is": ("A person who read the question and the evidence", "读过问题和证据的人"),
    "judge_confirm_is": ("A model asked once more about what is called wrong", "对判为有误者再问一次的模型"),
    "judge_other_is": ("A judge given by the program that asked for this report", "由调用程序提供的评审"),
    "vote_is": ("The judges agreed as far as the protocol asks", "评审意见达到协议要求的一致"),
    "arbiter_is": (
        "The judges disagreed; another model saw the question, the evidence and their answers, and decided",
        "评审意见不一，由另一模型看过问题、证据和各方回答后决定",
    ),
    "person_is": ("The judges disagreed, and a person decided", "评审意见不一，由人决定"),
    "rule_is": (
        "Decided without being asked: nothing in it can be checked",
        "无需询问：其中没有可核查的内容",
    ),
    "nobody_is": (
        "No answer could be used, or the judges disagreed and nobody was there to decide",
        "没有可用的回答，或评审意见不一而无人决定",
    ),
    "nothing_is": ("The judge was shown the claim alone", "只向评审出示断言本身"),
    "passages_is": (
        "The passages around that place that share most words with the claim",
        "该处前后与断言共有词语最多的段落",
    ),
    "book_is": (
        "The passages of the whole source that share most words with the claim",
        "全书中与断言共有词语最多的段落",
    ),
    "source_is": ("All of the source at once", "一次出示全部原文"),
    "scan_is": (
        "The source was read from beginning to end; what bears on the claim was shown to the judges",
        "通读原文，凡与断言有关的文字都交评审查看",
    ),
    "pages_is": (
        "Saved web pages, for what the source doesn't have",
        "原文没有的内容，查所存网页",
    ),
    "place_is": (
        "The lines of the source around the place that the sentence was matched with",
        "原文中与该句对应之处前后的文字",
    ),
    "window_is": ("A longer part of the source around that place", "该处前后更长的一段原文"),
    "search_is": (
        "A model, or the claim's own words, searched all of the source; what was found was shown to the judges",
        "由模型或以断言本身的词语检索全部原文，检索到的文字交评审查看",
    ),
    "scan_unfinished_is": (
        "Reading the source from beginning to end was not finished, so nothing follows from what was not found",
        "通读原文没有完成，因此不能因为没有找到就下结论",
    ),
    "read_all_is": (
        "Nothing of the source is left unread: what is not in it was found nowhere",
        "原文没有未读之处：没有找到即是原文没有",
    ),
    "not_found_so_far_is": (
        "What was read doesn't have it, but part of the source was not read: that is no error yet",
        "读过的部分没有，但原文尚有未读之处：还不能算有误",
    ),
    "no_claims": ("Nothing in this sentence can be checked.", "这句话里没有可核查的内容。"),
    "unclaimed": ("No claim was found in this sentence.", "这句话里没有找到断言。"),
    "readings": ("It can be read as", "可能的读法"),
    "judge": ("judge", "评审"),
    "reason": ("reason", "理由"),
    "decided_by": ("decided by {who}", "由{who}决定"),
    "decided_by_nobody": ("not decided", "未能决定"),
    "quotes_dropped": ("{n} quotes of this judge are not in the source", "该评审有 {n} 条引文在原文中找不到"),
    "strip": ("Where the response comes from", "待查文本来自原文何处"),
    "strip_axes": ("across: the source · down: the response", "横向：原文　纵向：待查文本"),
    "strip_is": (
        "For each of {n} sentences: where in the source it comes from.",
        "{n} 句话各自来自原文何处。",
    ),
    "strip_problems": ("Problems in sentences {list}.", "有问题的句子：{list}。"),
    "left_out_n": (
        "No evidence from {place} of the source",
        "原文的 {place} 处没有证据",
    ),
    "nothing_left_out": ("No long part of the source is without evidence", "原文各处大体都有证据"),
    "out_of_order": ("Sentences out of the source's order: {list}", "与原文顺序不一致的句子：{list}"),
    "in_order": ("In the order of the source", "与原文顺序一致"),
    "nowhere": ("nowhere", "无出处"),
    "strip_help": (
        "In the strip, every mark is a sentence: across, where in the source it comes from; down, its place in "
        "the response. Hatched: no evidence for anything in the response lies there. Dashed: the response leaves "
        "the source's order. Click a mark to open its sentence.",
        "条带中每个标记是一句话：横向为它在原文中的位置，纵向为它在待查文本中的次序。斜线部分：没有任何证据出自该处。"
        "虚线：次序与原文不一致。点击标记可打开该句。",
    ),
    "key_next": (
        "next problem, or next sentence that the filters let through",
        "下一个问题句（或下一个符合筛选的句子）",
    ),
    "key_previous": ("the one before", "上一个"),
    "key_arrows": ("from sentence to sentence", "逐句移动"),
    "key_enter": (
        "open or close a sentence; in the source, go to the sentence that a quote is for",
        "打开或关闭一句；在原文的引文上则跳到对应的句子",
    ),
    "key_search": ("search both texts; Enter: next match", "在两侧文本中搜索；Enter：下一处"),
    "key_back": ("back to the open sentence", "回到打开的句子"),
    "key_escape": ("close the sentence; clear the search", "关闭该句；清除搜索"),
    "key_help": ("this help", "显示帮助"),
    "none_left": ("There is nothing to go to.", "没有可跳转的句子。"),
    "findings": ("Findings", "问题清单"),
    "index_title": ("Reports", "报告"),
    "index_says": (
        "{hallucinated} of {all} hallucinated, {undecided} undecided · {calls} calls · {tokens} tokens",
        "{all} 份中 {hallucinated} 份有幻觉，{undecided} 份未决 · {calls} 次调用 · {tokens} 个 token",
    ),
    "index_failed": (
        "{n} of {all} cases could not be checked: see below.",
        "{all} 例中有 {n} 例无法核查：见下文。",
    ),
    "index_failures": ("Not checked: no report, this is all that is known", "未能核查：没有报告，仅知如下"),
    "case_line": ("line {n}", "第 {n} 行"),
    "index_triage": (
        "{n} of them no model has read: give --judge openai:MODEL.",
        "其中 {n} 份尚无模型审读：请加 --judge openai:模型名。",
    ),
    "trust": (
        "By their votes on {claims} claims of {reports} reports, without labels and taken to err independently:",
        "仅凭 {reports} 份报告中 {claims} 条断言的投票估计（没有标注，并假定错误互相独立）：",
    ),
    "trust_judge": (
        "{judge} convicts {sensitivity} of wrong claims and clears {specificity} of right ones",
        "{judge} 判出有误断言的 {sensitivity}，放行正确断言的 {specificity}",
    ),
    "trust_unknown": (
        "How reliable the judges are can't be told from these votes; longproof trust says why.",
        "这些投票不足以估计评审是否可靠；原因见 longproof trust。",
    ),
    "from_to": ("{value} ({low} to {high})", "{value}（{low} 至 {high}）"),
    "no_model": ("no model", "无模型"),
    "reports_n": ("{n} of {all} reports", "{all} 份报告中的 {n} 份"),
    "column_verdict": ("Verdict", "结论"),
    "column_report": ("Report", "报告"),
    "column_wrong": ("Wrong sentences", "有误句数"),
    "column_kinds": ("Kinds of error", "错误类型"),
    "column_covered": ("Coverage", "覆盖率"),
    "column_calls": ("Calls", "调用"),
    "column_cost": ("Tokens", "token 数"),
}


def words(language: Language) -> dict[str, str]:
    """Every name and phrase in that language. Phrases have `{places}` to be filled by `str.format`."""
    column = ("en", "zh").index(language)
    return {key: pair[column] for key, pair in {**_NAMES, **_PHRASES, **_PAGE}.items()}
