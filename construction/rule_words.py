"""Words by which a text is made wrong or reworded: kin, verbs and what excludes them, denials, inventions, synonyms.

Chinese (simplified) and English, written by hand, apart from the tables that the offline check looks things up in: it
is not tested on its own lists. Rewordings are for prose of the last six hundred years: a synonym may stand for its
word wherever the pattern matches outside a name or title, so a reworded sentence is as true as it was. Single
characters that names are made of (都, 遂, 往) have no synonym at all. Does not know: when a swap makes a sentence
false, which words are put in, or who the people of a book are.
"""

import re

from longproof.prompts import Language


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
CAUSES: dict[Language, tuple[str, ...]] = {
    "zh": ("正因如此，", "由于这件事，", "为此，"),
    "en": ("Because of this, ", "For this reason, ", "As a result of this, "),
}
LATER: dict[Language, tuple[str, ...]] = {
    "zh": ("后来，", "此后，", "随后，"),
    "en": ("Later, ", "Afterwards, ", "After that, "),
}
"""What opens a sentence that is said to follow from, or to come after, the one before it."""
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
_SYNONYMS_ZH = """
(?:却说|且说|话说|原来(?!的)|当下)，?=; (?<!将)军士=士兵; 商议=商量; 尽皆=全都; 次日=第二天
(?<![一尽悉])皆(?![因大可督尉护统司头城])=都; 俱(?![全督尉护统司头城])=都; 亦(?!复)=也; (?<![于如但只])是日=这一天
(?<![于如但只])是夜=这天夜里; 即日=当天; 何故=为什么; 大惊(?!失)=十分吃惊; 大喜(?!过)=十分高兴
大怒=十分恼怒; 慌忙=急忙; 连忙=赶忙; 不题=不提; 引军(?!师)=带兵; 引兵=领兵; 寻思=心想; 吃酒=喝酒
回家去=回到家里去; 大哭=痛哭; 作别=告别; 辞别=告别; 歇息=休息; 须臾=不久; (?<!一)霎时=片刻间
于路(?![旁边中口上])=在路上; (?<![是次当即今明昨本每数几一二三四五六七八九十])日夜=昼夜; (?<!老)百姓=民众
众将(?![士军官校帅])=各位将领; 左右(?=人)=身边的
"""
_SYNONYMS_BACK_ZH = """
急忙=慌忙; 看见=瞧见; 知道=晓得; 一同=一起; 一齐=一同; 立刻=马上
(?<![二三四五六七八九几])十分(?![之一二三四五六七八九])=非常; (?<![也或])许多=好些; 如此=这样; 众人=大家; 自己=自家
(?<![甲乙丙丁戊己庚辛壬癸])未(?=[到见](?!得))=没有
"""
_SYNONYMS_BACK_EN = r"""
\bon\b(?= the| a| his| her)=upon; \bsoon\b=before long; \balmost\b=nearly; \bhardly\b=scarcely
\btoward\b=towards; \banswered\b=replied; \bwhile\b=whilst; \bbeneath\b=below; (?<!on )the whole\b=the entire
\bbig\b=large; \blarge\b=big; \bsaw\b=beheld; \bhouse\b=dwelling; \bbegan\b=started
\bthough\b=although; \boften\b=frequently; \bperhaps\b=maybe; \bmany\b=numerous
\bwithout a word\b=silently; \bin order to\b=to; \bas if\b=as though; \bas though\b=as if
(?<!the )(?<!this )(?<!that )(?<!a )\bvery\b=quite
\bevery\b=each; \bjourney\b=trip
"""
_SYNONYMS_EN = r"""
\bupon\b=on; \btowards\b=toward; \bcommenced\b=began; \bbeheld\b=saw; \bperceived\b=noticed
\bendeavoured\b=tried; \bpurchased\b=bought; \breplied\b=answered; \bpresently\b=soon; \bwhilst\b=while
\bamongst\b=among; \bamid\b=in the midst of; \bscarcely\b=hardly; \bimmediately\b=at once
\bthereupon\b=then; \bhastened\b=hurried; \bassisted\b=helped; \bupwards\b=upward
\bafterwards\b=afterward; \bdesired to\b=wished to; \bbegan to\b=started to
\bfor a moment\b=for an instant; \binstantly\b=at once; \bquitted\b=left; (?<!\ba )sufficient\b=enough
\bresided\b=lived; \bchamber\b=room; (?<!\ban )apartment\b=room; \bmerely\b=only; \bnearly\b=almost
\brapidly\b=quickly; \bslowly\b=at a slow pace; \bbefore long\b=soon; \bat length\b=at last
\bapproached\b=came near; \bdid not\b=didn't; \bhad not\b=hadn't; \bwas not\b=wasn't
\bupon which\b=on which; \ba number of\b=several; \bdespite\b=in spite of; (?<!\ban )entire\b=whole
(?<=, )however(?=,)=though; \bsilently\b=without a sound; \bsuddenly\b=all of a sudden; \bprior to\b=before
\bwarriors\b=fighters
"""


def _synonyms(listed: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = [pair.strip().rpartition("=") for line in listed.strip().splitlines() for pair in line.split("; ")]
    return tuple((re.compile(word), synonym) for word, _, synonym in rows)


REWORDINGS: dict[Language, tuple[tuple[re.Pattern[str], str], ...]] = {
    "zh": _synonyms(_SYNONYMS_ZH) + _synonyms(_SYNONYMS_BACK_ZH),
    "en": _synonyms(_SYNONYMS_EN) + _synonyms(_SYNONYMS_BACK_EN),
}
"""Patterns and what may stand in their place; some pairs stand both ways round, so apply one at a time."""
NAMED: dict[Language, re.Pattern[str]] = {
    "zh": re.compile(
        "[许成武京帝邺洛东西南北上中国旧故新首陪]都(?![是有在不能要会来去把被])"
        "|[大水副]?都(?:督|尉|护|统|司|头|城|邑|察|指挥|亭侯|管|虞候|元帅|御史|堂)"
        "|(?:中书|尚书|县|太史|中|郎中)令|(?:刺|太|御|内|长)史|[太郡]守|太尉|校尉|中郎将|将军|丞相|司[徒空马隶]|侍[郎中]"
        "|(?:天|钦|节度|观察|团练|来|信)使"
        "|[一-鿿]{1,2}[州郡](?![一-鿿]?[治县])"
    ),
    "en": re.compile(
        r"[A-Z][a-z]+(?:[- ](?:upon|on|under|by|of|the|le|in|amid))+[- ][A-Z][a-z]+|\b[A-Z][a-z]+"
    ),
}
"""Titles and places that code can tell, and in English all that is capitalised: no synonym stands inside one."""
OPENS_BACK: dict[Language, re.Pattern[str]] = {
    "zh": re.compile("[他她它其此这那但却又也亦乃即便遂忽故因于]|后来|正是|不觉|不想|不料|方才|只见|第"),
    "en": re.compile(
        r"(?:He|She|It|They|This|That|These|Those|Here|There|Then|But|And|So|Thus|Such|Yet|Nor|Or|For|What|How|Why|Who|"
        r"Which|However|Still|Therefore|Again|Both|Now|Not|No|His|Her|Their|Its|If|Even|Once|Another|Neither|Each)\b"
    ),
}
