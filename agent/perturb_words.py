"""Words by which a text is made wrong: kin, verbs and what excludes them, denials, stock inventions.

Chinese (simplified) and English, written by hand for `perturb`, apart from the tables that the offline judges look
things up in: judges are not tested on their own lists. Does not know: when a swap makes a sentence false.
"""


def _words(listed: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in listed.split(";"))


def _pairs(listed: str) -> tuple[tuple[str, str], ...]:
    return tuple((word, other) for word, _, other in (pair.partition(":") for pair in _words(listed)))


KIN_ZH = _words(
    """
    父亲; 母亲; 哥哥; 弟弟; 兄长; 姐姐; 妹妹; 妻子; 丈夫; 儿子; 女儿; 叔父; 伯父; 舅舅; 姑母; 岳父; 岳母;
    女婿; 侄儿; 侄子; 外甥; 孙子; 祖父; 祖母; 师父; 徒弟; 门生; 浑家; 丈人
    """
)
KIN_EN = (
    _words("father; brother; son; husband; uncle; nephew; grandfather; cousin"),
    _words("mother; sister; daughter; wife; aunt; niece; grandmother"),
)
"""Kin of each sex; a word is replaced by one of its own row, so that pronouns stay right."""
VERBS_ZH = _pairs(
    """
    答应:拒绝; 喜欢:讨厌; 相信:怀疑; 称赞:责骂; 买:卖; 欢喜:气恼; 大喜:大怒; 大怒:大喜; 大惊:大喜; 大败:大胜;
    大胜:大败; 得胜:战败; 杀死:放走; 斩了:放了; 斩:释放; 笑:哭; 哭:笑; 出城:入城; 入城:出城; 投降:死守;
    坚守:弃守; 记得:忘记; 留住:赶走; 送还:扣下; 请:赶; 进来:出去; 出来:进去; 进去:出来; 坐下:离去;
    走了进:退出了; 打开:关上; 借:偷; 收兵:进兵; 退兵:进兵; 进兵:退兵; 撤退:追击; 夺:弃; 拜谢:唾骂; 病死:痊愈;
    救:害; 送了:收了; 上船:下船; 引兵而去:按兵不动; 来见:躲着; 从之:不许; 追赶:躲避
    """
)
"""What was done, and something else that can't have been done at the same time."""
VERBS_EN = _pairs(
    """
    entered:left; opened:closed; closed:opened; laughed:wept; smiled:frowned; wept:laughed; refused:agreed;
    accepted:declined; agreed:refused; found:lost; lost:found; rose:sat down; followed:avoided;
    approached:fled from; seized:released; drew:sheathed; rejoined:deserted; killed:spared;
    escaped:surrendered; loved:hated; hated:loved; remembered:forgot; returned:stayed away; arrived:departed;
    departed:arrived; gave:denied; attacked:defended; ascended:descended; descended:ascended;
    advanced:retreated; retreated:advanced; whispered:shouted; cried:whispered; ran:crawled; stood:lay;
    obeyed:defied; praised:blamed; rejoiced:grieved; kept:threw away; began:ceased; welcomed:shunned;
    pleased:annoyed; awoke:fell asleep; trusted:distrusted; hastened:delayed; took:rejected;
    looked at:ignored; turned to:turned from; sent for:sent away
    """
)
NOT_BEFORE_ZH = "便就遂即乃已曾又也都皆亦还仍"
"""Adverbs that go when the verb behind them is denied."""
DENIABLE_ZH = _words(
    """
    答应; 同意; 投降; 相信; 追赶; 出战; 进城; 入城; 出城; 离开; 回来; 回家; 归降; 收下; 知道; 告诉; 见到; 救;
    准许; 中举; 动身; 上任; 领兵; 引兵; 起身; 辞别; 作别; 上船; 拜谢; 来见; 坐下
    """
)
DENIED_ZH = _pairs(
    """
    不肯:肯; 不敢:敢; 不曾:曾经; 没有:有; 不知:知道; 不能:能够; 未曾:已经; 不许:准许
    """
)
"""Denials, and what is said instead when the sentence is affirmed."""
DENIED_EN = _pairs(
    """
    did not:did; was not:was; were not:were; could not:could; would not:would; had not:had; never:always;
    no longer:still
    """
)
AUXILIARIES_EN = _words(
    """
    was; were; had; could; would; did; might; should
    """
)
CAUSES_ZH = ("正因如此，", "由于这件事，", "为此，")
CAUSES_EN = ("Because of this, ", "For this reason, ", "As a result of this, ")
LATER_ZH = ("后来，", "此后，", "随后，")
LATER_EN = ("Later, ", "Afterwards, ", "After that, ")
OPENERS_EN = _words(
    """
    The; A; An; In; On; At; When; While; After; Before; As; For; With; There; His; Her; Their; Its; My; Our
    """
)
"""Words that lose their capital behind another opening."""
FIGURES_EN = _words(
    """
    two; three; four; five; six; seven; eight; nine; ten; eleven; twelve; twenty; thirty; forty; fifty;
    sixty
    """
)
INVENTED_ZH = _words(
    """
    {name}暗中把一方旧铜印埋在后院的槐树下。; {name}连夜写了一封长信，托人送往岭南。;
    {name}心中忽然十分后悔，独自垂泪到天明。; {name}在城外买下三亩荒地，雇人种起了桑树。;
    {name}把随身的玉佩当了，换来一匹瘦马。; {name}梦见一只白鹤落在屋脊上，醒来以为不祥。;
    {name}请了一位画师，为自己画了一幅小像。; {name}偷偷烧掉了那本账簿，没有告诉任何人。;
    {name}在庙里许下愿心，答应重修大殿。; {name}拜一位老道人为师，学了半个月的棋。;
    {name}失足跌进水沟，扭伤了左脚。; {name}收养了一个路边的孤儿，取名阿福。
    """
)
INVENTED_EN = _words(
    """
    {name} secretly buried a small brass key beneath the threshold.;
    {name} wrote a long letter that night and burned it before dawn.;
    {name} sold a silver watch to pay for a seat on the evening coach.;
    {name} dreamed of a white heron and took it for a warning.;
    {name} hired a painter to make a small portrait on ivory.;
    {name} slipped on the wet stones and sprained an ankle.;
    {name} felt a sudden regret and wept alone until morning.;
    {name} took in a stray grey dog and named it Captain.;
    {name} promised the old gatekeeper a purse of gold coins.;
    {name} spent an hour alone tuning a broken violin.; {name} hid the torn map inside the lining of a coat.;
    {name} quietly paid the debts of a ruined clockmaker.
    """
)
