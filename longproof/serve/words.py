"""What the local pages say beside the report's own words, in English and Chinese.

Does not know: where a word is shown.
"""

from longproof.report.words import Language, words

SIGNS = {"open": "…", "running": "▸", "stopped": "‖", "waiting": "?", "failed": "!"}
"""Signs of what isn't decided yet, and of runs without a report."""

_SAID: dict[str, tuple[str, str]] = {
    "open": ("not yet checked", "尚未核查"),
    "running": ("running", "进行中"),
    "stopped": ("stopped", "已停止"),
    "waiting": ("waits for a person", "等待人工裁定"),
    "failed": ("failed", "失败"),
    "new_check": ("A new check", "新的核查"),
    "index_title": ("Earlier checks", "以往的核查"),
    "column_created": ("Begun", "开始时间"),
    "give_source": ("The source", "原文"),
    "give_source_is": (
        "What the text must be faithful to; one file or several.",
        "待查文本应当忠于的原文，可以有多个文件。",
    ),
    "give_response": ("The text to check", "待查文本"),
    "give_response_is": ("A summary, an answer, a rewriting.", "摘要、回答或改写。"),
    "limits": (
        "Text, Markdown, JSON, EPUB, PDF, DOCX or HTML, up to {mb} MB a file and {n} characters of text. "
        "Drop a file here, choose one, or paste.",
        "支持纯文本、Markdown、JSON、EPUB、PDF、DOCX、HTML；每个文件至多 {mb} MB，文本至多 {n} 字。"
        "可拖入、选择或粘贴。",
    ),
    "choose_file": ("Choose a file", "选择文件"),
    "paste": ("or paste the text here", "或在此粘贴文本"),
    "pasted": ("pasted text", "粘贴的文本"),
    "take_away": ("Take away {title}", "移除 {title}"),
    "reading_file": ("Reading {title} …", "正在读取 {title} …"),
    "too_large": ("{title} is larger than {mb} MB.", "{title} 超过 {mb} MB。"),
    "unreadable": (
        "{title} can't be read: give files, not folders.",
        "无法读取 {title}：请给出文件，而不是文件夹。",
    ),
    "too_many": ("Files that can be given at once here: {n}.", "此处一次最多可给出的文件数：{n}。"),
    "who_judges": ("Who judges", "由谁评审"),
    "no_judge": (
        "With none of them: only what stands there nearly word for word, and plain conflicts",
        "都不选：只看原文几乎逐字写明的，以及明显的冲突",
    ),
    "no_panel": (
        "No model is offered: name one with longproof serve --judge openai:MODEL, or in longproof.toml.",
        "没有可选的模型：请用 longproof serve --judge openai:模型名，或写入 longproof.toml。",
    ),
    "openai_model": (
        "A model at OpenAI (the key is in the environment)",
        "OpenAI 的模型（密钥在环境变量里）",
    ),
    "person": ("Disputes are put to me", "分歧由我裁定"),
    "reach_label": ("How far to look", "查找范围"),
    "reach_": ("as is usual for this length", "按长度自动"),
    "reach_place": ("its place", "对应处"),
    "reach_search": ("search all of it", "检索全书"),
    "reach_scan": ("read all of it", "通读全书"),
    "most_tokens": ("Tokens at most", "token 上限"),
    "price_it": ("What would it cost?", "要花多少？"),
    "need_source": (
        "Give the source that the text must be faithful to.",
        "请给出待查文本应当忠于的原文。",
    ),
    "one_response": (
        "One text is checked at a time: take away the file, or clear what is pasted.",
        "一次只核查一份文本：请移除文件，或清空粘贴的内容。",
    ),
    "need_response": ("Give the text to check.", "请给出待查文本。"),
    "start": ("Check it", "开始核查"),
    "price_none": ("Nothing would be paid.", "不产生费用。"),
    "price_first": (
        "First round: {calls} calls, {tokens} tokens to read; what models write costs more.",
        "第一轮：{calls} 次调用，输入 {tokens} 个 token；模型输出另计。",
    ),
    "price_most": (
        "At most {most} calls: 8 claims a sentence, every round needed, every claim disputed.",
        "至多 {most} 次调用：每句 8 条断言，每一轮都需要，每条都有争议。",
    ),
    "price_money": (
        "Reading it costs {least} to {most}, by the prices given.",
        "按所给价格，输入花费 {least} 至 {most}。",
    ),
    "all_runs": ("All checks", "全部核查"),
    "stop": ("Stop", "停止"),
    "go_on": ("Go on", "继续"),
    "at_read": ("Reading the texts …", "正在读取文本 …"),
    "at_decompose": ("Taking the text apart into claims …", "正在拆分断言 …"),
    "at_align": ("Claims found, with their places in the source: {claims}", "{claims} 条断言已对应到原文。"),
    "at_check": ("{checked} of {claims} claims checked", "{claims} 条断言已核查 {checked} 条"),
    "at_search": ("Searching all of the source (claims: {open})", "正在全书检索 {open} 条断言"),
    "at_scan": ("Reading all of the source (claims: {open})", "正在为 {open} 条断言通读原文"),
    "at_confirm": (
        "Asking once more about what looks wrong (claims: {open})",
        "正在复核 {open} 条疑似有误的断言",
    ),
    "is_stopped": (
        "Stopped. What was answered is kept, and nothing is paid twice.",
        "已停止。已有的回答都已保存，不会重复付费。",
    ),
    "is_failed": ("It failed: {why}", "失败：{why}"),
    "asked_so_far": (
        "{calls} calls, {tokens} tokens; waiting for an answer: {waiting}",
        "{calls} 次调用，{tokens} 个 token；等待回答：{waiting}",
    ),
    "server_gone": (
        "The server doesn't answer. "
        "What it has is kept: start longproof serve again and open the address that it prints.",
        "服务器没有响应。已提交的内容都已保存：请重新运行 longproof serve，并打开它给出的地址。",
    ),
    "kept_here": (
        "What you said since is kept in this browser, and handed over when the server answers at this port again.",
        "此后的标记暂存在此浏览器中，待服务器在同一端口恢复后提交。",
    ),
    "at_most": ("at most {n} characters", "至多 {n} 字"),
    "n_of_most": ("{n} of {most} characters", "{n}/{most} 字"),
    "finding_is": ("This finding is", "这一判断"),
    "right": ("right", "正确"),
    "mark_wrong": ("wrong", "有误"),
    "unclear": ("unclear", "不清楚"),
    "note": ("A word on it", "备注"),
    "accept": ("Make this correction", "采用此更正"),
    "leave_out": ("leave it out", "删去"),
    "accept_all": ("Make all corrections ({n})", "采用全部 {n} 处更正"),
    "accepted_n": ("{n} of {all} corrections made;", "已采用 {all} 处更正中的 {n} 处；"),
    "ruled_out": ("{n} not, since another changes the same words;", "{n} 处因与其他更正重叠而未采用；"),
    "corrected_as": ("corrected text as", "更正后的文本："),
    "marks_n": ("findings marked: {n}", "已标记 {n} 条"),
    "export_marks": ("Marks as a case file", "导出标记（案例文件）"),
    "export_json": ("Report as JSON", "报告（JSON）"),
    "decide_n": (
        "Claims that wait for your word: {n}; decided: {decided}. What you leave open stays undecided.",
        "{n} 条断言等待你的裁定，已裁定 {decided} 条。未裁定的保持未决。",
    ),
    "your_name": ("Your name, for the report", "你的名字（写入报告）"),
    "hand_in": ("Hand in, and go on", "提交并继续"),
    "decide": ("Your decision", "你的裁定"),
    "leave_open": ("leave it open", "保留未决"),
    "wrong_words": ("The wrong words, as they stand in the text", "文中有误的原话"),
    "right_words": ("What should stand there", "应改为"),
    "shown_judges": ("What the judges were shown", "评审所见的原文"),
}


def local_words(language: Language) -> dict[str, str]:
    """The report's words and these, in that language."""
    column = ("en", "zh").index(language)
    return {**words(language), **{key: pair[column] for key, pair in _SAID.items()}}
