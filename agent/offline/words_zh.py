"""Chinese words that the judges of people and of what they do look for: surnames, titles, kin, speech, stance, order.

Closed classes written by hand, simplified script; classical and modern forms stand side by side.
Does not know: how they are matched.
"""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


SURNAMES = frozenset(
    "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许何吕施张孔曹严华金魏陶姜戚谢邹喻柏窦章云苏潘葛奚范彭郎鲁韦昌马苗凤"
    "花方俞任袁柳酆鲍史唐费廉岑薛雷贺倪汤滕殷罗毕郝邬安常乐于傅皮卞齐康伍余元卜顾孟平黄和穆萧尹姚邵湛汪祁毛禹狄"
    "米贝明臧计伏成戴谈宋茅庞熊纪舒屈项祝董梁杜阮蓝闵席季麻强贾路娄危江童颜郭梅盛林刁钟徐邱骆高夏蔡田樊胡凌霍虞"
    "万支柯昝管卢莫经房裘缪干解应宗丁宣邓郁单杭洪包诸左石崔吉钮龚程嵇邢滑裴陆荣翁荀羊惠甄曲封芮储靳汲邴糜松井段"
    "富巫乌焦巴弓牧山谷车侯宓蓬全班仰秋仲伊宫宁仇栾暴甘厉戎祖武符刘景詹束龙叶幸司韶郜黎蓟薄印宿白怀蒲鄂索咸籍赖"
    "卓蔺屠蒙池乔闻莘党翟谭贡劳姬申扶堵冉宰郦雍璩桑桂濮牛寿通边扈燕冀浦尚农温庄晏柴瞿阎充慕连茹习宦艾鱼容古易慎"
    "戈廖庾终暨居衡步都耿满弘匡国文寇广禄阙东欧殳沃利蔚越夔隆师巩聂晁勾敖融冷訾辛阚那简饶空曾沙鞠须丰巢关蒯相荆"
    "权盖益桓蘧"
)

NAME_ENDS = _words(
    """
    公子 老爷 太爷 老爹 老太 先生 相公 知县 知府 太守 学道 员外 御史 举人 秀才 贡生
    监生 监院 屠户 财主 掌柜 和尚 道士 师父 师太 长老 将军 元帅 丞相 太尉 都督 刺史
    姑娘 小姐 奶奶 夫人 娘子 太太 丫头 嫂子 婶子 媳妇 大郎 二郎 大王 王爷 娘娘 皇帝
    太子 公主 教授 医生 老师 校长 局长 处长 队长 班长 团长 司令 书记 主任 经理 老板
    """
)

NOT_PEOPLE = frozenset(
    "府家集县镇州城楼庵寺院山湖江海河京店门庙国省村庄衙桥岭关殿宫堂亭巷街年月日天时里外中上下前后内旁边间处头路人"
)
"""A string that ends so is more often a place, a time or a kind than a person."""

SPEECH = _words(
    """
    推荐 举荐 告诉 告知 答应 吩咐 命 令 劝 提议 主张 嘱咐 叮嘱 招认 承认 宣布 允许 拒绝
    建议 怂恿 许诺
    """
)
"""What is done by saying something. To speak of something (说起, 谈到) is not: another may have told it."""

KIN: dict[str, str] = {
    "父": "父亲 爹爹 老爹 太公 令尊 家父 尊翁 先君 爸爸 爹 爸 父",
    "母": "母亲 令堂 家母 妈妈 老太太 娘 妈 母",
    "祖": "祖父 爷爷 令祖 家祖",
    "祖母": "祖母 奶奶",
    "兄": "哥哥 哥子 兄长 大哥 令兄 家兄 哥",
    "弟": "弟弟 令弟 舍弟 弟",
    "姐": "姐姐 姊姊 姐",
    "妹": "妹妹 妹子 令妹",
    "子": "儿子 令郎 小儿 继子 养子",
    "女": "女儿 令爱 小女 继女 养女",
    "夫": "丈夫 夫君",
    "妻": "妻子 浑家 老婆",
    "岳父": "丈人 岳父 岳丈",
    "岳母": "丈母 岳母",
    "婿": "女婿 贤婿",
    "侄": "侄儿 侄子 侄 侄女",
    "孙": "孙子 孙儿 孙女",
    "叔": "叔叔 叔父 叔子 阿叔 叔",
    "伯": "伯父 伯伯",
    "舅": "舅舅 舅爷 母舅",
    "甥": "外甥 甥儿 外甥女 甥女",
    "嫂": "嫂子 嫂嫂",
}
"""Kin, each with the words for it; one person is not two of these to the same other."""

STANCES: tuple[tuple[str, str], ...] = (
    ("相信 深信 听信 信", "怀疑 疑心 起疑"),
    ("听出 看出 晓得 知道 得知 知晓 察觉 发觉 认出 识破 听懂 明白", "蒙在鼓里"),
    ("答应 应允 同意 应承 允诺 情愿 愿意 肯", "拒绝 推辞 谢绝 回绝 推却 婉拒 反对"),
    ("欢喜 高兴 大喜 欣喜 喜悦", "大怒 恼怒 愤怒 发怒 悲伤 伤心 懊恼 烦恼 不悦"),
    ("取胜 得胜 打赢 大胜", "战败 大败 打败 失败 落败"),
    ("活着 幸存 生还 救活", "病故 去世 身亡 毙命 断气"),
    ("考中 考取 取中 高中 中举", "落榜 落第"),
    ("敬重 敬佩 赞成 称赞 夸奖", "厌恶 憎恨 鄙视 看不起 轻视 责备"),
    ("留下 留住 收下 接受", "退还 送还 奉还"),
    ("相助 帮助 搭救", "加害 陷害 谋害"),
)
"""Two sides of one matter. A word of either side, denied, counts for the other."""

DENIALS = "不没未无莫难非勿"
NOT_DENIALS = _words(
    """
    不得不 不料 不想 不久 不时 不过 不如 不觉 不禁 不但 不仅 不由 不免 无不 莫不 未免
    不疑 不断 不住 不已 不妨 不愧 不及 差不多 了不得 不幸 不问 不管 不论 无论 不少 不迭
    不惜 不满 不忿 不平 不快 不安 不和 非常 非但 除非 无非 是非 莫非
    """
)
"""Words with a sign of denial that deny nothing about the verb behind them."""

LATER = _words(
    """
    随后 然后 之后 后来 接着 其后 继而 于是 尔后 而后
    """
)
FIRST = _words(
    """
    首先 起初 起先 先是 先
    """
)
AFTER_FIRST = "生前后贤父君祖师"
"""Behind 先, these make another word (先生, 先前, 先后)."""
