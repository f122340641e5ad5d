from longproof.agent.offline import order

SALE = "他竟托书店里人把房子转了，拿了银子回来。"
SCOLD = "郑老爹走来，把女儿著实教训了一顿，责备她不知好歹。"
BETWEEN = "街上那天下着大雨，行人都躲进了茶铺，店家忙着添炭烧水，说了半日闲话才散去，各自回家不提。" * 2


def test_what_is_told_in_the_wrong_order_contradicts(see):
    source = SALE + BETWEEN + SCOLD
    wrong = "郑老爹先教训女儿一顿，随后他托书店里人把房子转了出去。"
    right = "他先托书店里人把房子转了出去，随后郑老爹教训女儿一顿。"
    assert order.look(see(source, wrong, "随后他托书店里人把房子转了出去。")).findings[0].kind == "temporal"
    assert order.look(see(source, right, "随后郑老爹教训女儿一顿。")).findings == ()


def test_words_of_another_speaker_contradict(see):
    source = (
        "申祥甫又说：「孩子大了，今年要请一个先生。」夏总甲道：「先生倒有一个，就是顾老相公家教书的周进。」"
        "申祥甫听了欢喜。夏总甲去了。夏总甲回来。申祥甫送客。周进来了。周进坐下。"
    )
    told = "{}推荐了在顾老相公家教书的周进。夏总甲和申祥甫都欢喜。"
    wrong, right = told.format("申祥甫"), told.format("夏总甲")
    found = order.look(see(source, wrong, wrong.split("。")[0])).findings
    assert [(f.kind, f.correction, wrong[f.start : f.end]) for f in found] == [("entity", "夏总甲", "申祥甫")]
    assert order.look(see(source, right, right.split("。")[0])).findings == ()
