"""The text in bytes: which encoding they are in, without byte order mark, line breaks as `\n`.

Knows: UTF-8, UTF-16, UTF-32, GB18030 and Big5, and how to tell them apart. Big5 bytes decode as GB18030 without an
error, but into characters that hardly anyone writes: candidates are compared by their share of frequent characters.
(charset-normalizer takes one GB18030 text in six for something else; see LOG.md.)
Does not know: file formats, documents.
"""

import codecs
import re
import unicodedata
from collections import Counter

from longproof.retrieval.text.normalise import fold
from longproof.retrieval.types import BadInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_CANDIDATES = ("gb18030", "big5hkscs", "utf-16-le", "utf-16-be")
_PLAUSIBLE = 0.7
_OLD_OFFICE = bytes.fromhex("D0CF11E0A1B11AE1")
_HAN = re.compile("[\u3400-\u9fff]")
_LONE = re.compile("(?<![^\x00-\x7f])[\u3400-\u9fff](?![^\x00-\x7f])")
_ALLOWED_CONTROLS = frozenset("\t\n\x0b\x0c\r\x85")

MARKS = "，。、；：？！“”‘’「」『』（）《》〈〉【】—…·～　"
"""Chinese punctuation and the ideographic space."""

FREQUENT = frozenset(
    MARKS
    + "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里"
    "用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实"
    "日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政"
    "美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员"
    "解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件"
    "计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象"
    "完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔持续改府"
    "单组六石林风布周流转落步红九七八千百亿半零双左右早晚夜朝午春夏秋冬花草树木火土云雨雪星阳影父母兄弟姐"
    "妹叔伯姑舅爷奶爹娘妻夫妇嫂婆孙孩童男亲友客仆丫鬟官兵帅臣皇帝妃监宰县令州吏役差衙案状罪刑狱杀斩刀剑枪"
    "箭弓矛戟甲盔旗鼓营寨城池隘江河湖岸桥船车轿骑鞍蹄牛羊猪狗鸡鸭鱼鸟虎龙凤狼蛇虫酒茶饭菜肉米盐油糖吃喝饮"
    "食宴席杯碗盘筷壶瓶桌椅床帐褥枕衣服裳裙袖帽鞋袜巾绸缎棉丝线针钱银铜铁锡玉珠宝贵贱贫富穷买卖价贷借租税"
    "粮仓库店铺商街巷村庄乡镇省京堂厅房屋室厨楼阁台亭园墙窗户井坐站跑跳飞追赶逃躲藏退往返离送迎逢遇请答叫"
    "喊呼唤骂怒恨爱喜欢乐笑哭泣泪悲伤愁忧怕惊恐惧慌忙闲静闹响言语讲谈议谋策划念忆忘晓懂悟疑猜料愿肯敢够须"
    "需盼待留停止居宿睡醒梦病痛疼药医疗救养育熟衰亡葬坟墓祭祀拜佛僧尼庙寺仙鬼魂妖怪魔符咒卷诗词歌赋曲琴棋"
    "画墨纸砚字句章篇读写抄诵习徒举考试秀士元榜职封赏赐罚贬升降免辞忠孝仁礼智勇廉耻善恶丑坏假虚轻低短粗细"
    "宽窄厚薄深浅远近快慢旧冷热寒暑干湿暗黑青蓝绿黄紫灰香臭甜苦酸辣软硬滑涩松紧满缺旁侧隔背足脸耳鼻嘴舌牙"
    "齿喉颈肩臂肘腕掌拳胸腹腰腿膝脚皮毛骨血肝胆肺肠胃脑髓昨刻辰晨昏暮夕旬季岁初末始终久暂忽突渐每偶曾尝未"
    "既乃遂虽若倘故彼乎矣焉哉况谁孰某另诸众凡皆俱齐亦甚极颇稍略微仅惟独专尤岂莫勿休弗毋否属称谓曰诉嘱咐吩"
    "英际企济投增例研究示介绍群质技网络息算序校患疾验析环境源护警察律犯革历史艺音演节赛球冠欧洲亚咱您俺妈"
    "爸哥姊嘛吗呢吧啊呀哦哎唉喂嗯哼哈嘿啦罢喽咧哪怎般似仿犹拿抓握抱扛挑担推扯拖抬搬置摆挂贴插拔抽扔掷丢捡"
    "拾摸碰撞敲击拍踢踩踏跨越爬登攀钻穿脱戴披裹包扎捆绑缝补洗刷擦抹扫倒泼洒浇灌烧烤煮蒸炒煎炸割砍劈削刮磨"
    "挖掘埋填堵塞启闭锁敞露遮盖掩蔽守防攻败胜负输赢刘曹葛亮吕袁赵超魏蜀吴汉唐宋秦楚燕韩晋李陈杨郑徐朱胡郭"
    "罗谢邓冯蔡彭潘董萧沈余苏卢叶丁姜范姚谭廖邹熊陆孔崔匡杜浦鲍蘧严汤荀娄随连备办急班灯执照揖约姓按尽引欲"
    "操君寻断散弄献破整功集副申均精奇乱掉顶承编乘搭吹招箱找查宁恰尺劳失广媳粉丧惹图斤惠俊凭缠醉弹扇壁贺俗"
    "支伏督阴肚荐骗错巡覆仍塘顺速纯洞聚值妙累儒纪印临舞供素净拱杂端怀剩围盛圣奏害麻角冒忍催移慕模貌器偏怜"
    "烦扰夹沿愚祥悬奔效具盏寄压碎套审途靠堆束寿暖柜偷阵造势视兴武敌毕归遣尚昭射良容允夺征侍召恩渡震顾晃危"
    "刺朕伐渊甘绝祖淮异霸修灵灭仪险御斗困拥奋祸田普误哨调诈卓丞郡贼闻获派附拨播版厂维段竞志态适构率型积局"
    "农批华复采装圈层片消除圆板换训助沉卡迹痕顿姿努讶悄悠默吓愣瞪瞧盯抖弯皱纷恋辈祝福"
)
"""About 1,400 frequent characters in simplified script, listed by hand for this purpose: four in five characters of
any Chinese text, and few of a text decoded wrongly.
"""


def decode(data: bytes, encoding: str | None = None, name: str = "") -> str:
    """The text in the bytes, without byte order mark, each line break one `\\n`.

    Without `encoding`: UTF-8, UTF-16 or UTF-32 by their marks; then UTF-8; then GB18030, Big5 (HKSCS) or UTF-16
    without a mark, whichever gives the greatest share of frequent characters, at least 7 in 10. Controls, private-use
    and unassigned characters rule a candidate out, as do single Chinese characters scattered among ASCII, which are
    accented letters misread. Raises BadInput, naming `name`.
    """
    name = printable(name) or "the input"
    if not data:
        raise BadInput(f"{name}: the file is empty; give one with text")
    if data.startswith(_OLD_OFFICE) and name.lower().endswith(".doc"):
        raise BadInput(f"{name}: an old Word file: save it as .docx")
    text = _decoded_as(data, encoding, name) if encoding else _guessed(data, name)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        raise BadInput(
            f"{name}: it holds NUL bytes, so it is not a text file; give plain text, Markdown or JSON"
        )
    if not text.strip():
        raise BadInput(f"{name}: there is no text in it, only spaces and line breaks")
    return text


def _decoded_as(data: bytes, encoding: str, name: str) -> str:
    """The bytes in the encoding that was asked for."""
    try:
        codec = codecs.lookup(encoding)
        text = data.decode(codec.name)
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeError):
            raise BadInput(f"{name}: it is not in {encoding}; give another --encoding, or none") from error
        known = "for instance utf-8, gb18030, big5, utf-16, latin-1"
        raise BadInput(
            f"{name}: {printable(encoding)!r} is no known encoding; give --encoding {known}"
        ) from error
    if any("\ud800" <= character <= "\udfff" for character in set(text)):
        raise BadInput(f"{name}: it is not in {encoding}; give another --encoding, or none")
    return text


def _guessed(data: bytes, name: str) -> str:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decoded_as(data[len(mark) :], encoding, name)
    text = _strictly(data, "utf-8")
    if text is not None and "\0" not in text and _controls(text) <= len(text) / 100:
        return text
    scores = {encoding: _score(data, encoding) for encoding in _CANDIDATES}
    best = max(scores, key=lambda encoding: scores[encoding])
    if scores[best] >= _PLAUSIBLE:
        return data.decode(best)
    if b"\0" in data or text is not None:
        raise BadInput(
            f"{name}: it holds NUL or control bytes, so it is not a text file; give text, Markdown or JSON"
        )
    raise BadInput(
        f"{name}: its encoding can't be told from its bytes; name it with --encoding, for instance latin-1"
    )


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _controls(text: str) -> int:
    """How many control characters the text holds that no text file needs."""
    found = [c for c in set(text) if unicodedata.category(c) == "Cc" and c not in _ALLOWED_CONTROLS]
    return sum(map(text.count, found))


def _score(data: bytes, encoding: str) -> float:
    """The share of frequent characters in what the bytes give, 0 where they can't be in the encoding.

    Two-byte encodings share ASCII with all others, so there only the rest counts.
    """
    text = _strictly(data, encoding)
    if text is None:
        return 0.0
    counts = Counter(text.removeprefix("\ufeff"))
    if any(_impossible(character) for character in counts) or 2 * len(_LONE.findall(text)) > len(
        _HAN.findall(text)
    ):
        return 0.0
    wide = encoding.startswith("utf-16")
    seen = {c: n for c, n in counts.items() if not c.isspace() and (wide or not c.isascii())}
    known = sum(n for c, n in seen.items() if c.isascii() or c in FREQUENT or fold(c).text in FREQUENT)
    return known / max(1, sum(seen.values()))


def _impossible(character: str) -> bool:
    category = unicodedata.category(character)
    return category in ("Co", "Cs", "Cn") or (category == "Cc" and character not in _ALLOWED_CONTROLS)


def printable(text: str) -> str:
    """The text with a question mark for each character that would break a message of one line."""
    return "".join(c if c.isprintable() else "?" for c in text)
