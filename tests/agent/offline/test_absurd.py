"""Nothing absurd stands there, and nothing absurd is corrected: all of it needs a model."""

import os
from importlib.resources import files
from pathlib import Path

import pytest
from asked import judgements

ABSURD_EN = """Harry Potter rides a dragon to Mars.
Helen Graham is eaten by a whale.
Gilbert Markham is elected president of the United States.
Mr. Huntingdon invents the telephone and becomes a rich man.
Arthur turns out to be a robot from the future.
Mrs. Graham paints a portrait of Napoleon on the moon.
Mr. Lawrence wins the Tour de France on a borrowed bicycle.
The vicar opens a sushi restaurant in Tokyo.
Wildfell Hall sinks into the Pacific Ocean.
Dejah Thoris teaches mathematics at a school in Birmingham.
Lord Lowborough climbs Mount Everest without oxygen.
Annabella marries the emperor of China in secret.
The dog Sancho writes a novel about quantum physics.
Eliza Millward robs a bank with a machine gun.
Rachel, the servant, is secretly the queen of Spain.
Mr. Hargrave sells his estate to a film studio.
Helen flies to Australia in a hot-air balloon with three elephants.
Milicent is struck by a meteorite during breakfast.
All the characters discover that they live in a computer simulation.
Gilbert's mother is revealed to be a famous pirate."""
ABSURD_ZH = """王冕驾驶宇宙飞船登上了火星。
范进中举以后被鲸鱼一口吞进了肚里。
诸葛亮用手机给曹操发了一条短信。
刘备在纽约开了一家寿司店。
关羽骑着摩托车参加了奥运会。
严监生发明了电灯和留声机。
周进当选为美国总统。
张飞在月球上种了一万棵桃树。
曹操原来是来自未来的机器人。
孙权写了一部关于量子物理的小说。
匡超人乘坐热气球飞到了澳大利亚。
杜少卿把全部家产投进了比特币。
赵云在北极驯养了三百头大象。
吕布获得了诺贝尔和平奖。
鲁小姐成为西班牙的女王。
周瑜赢得了环法自行车赛的冠军。
司马懿在海底建造了一座游乐园。
马二先生在东京教授计算机编程。
貂蝉驾驶潜水艇打败了恐龙。
虞博士发现所有人都生活在电脑游戏里。"""


def undecided(source: str, absurd: str) -> bool:
    found = judgements(source, absurd, absurd.splitlines())
    return len(found) == 20 and all(
        (j.label, j.failure, j.errors) == (None, "needs_model", ()) for j in found
    )


@pytest.mark.parametrize(("folder", "absurd"), [("novels_en", ABSURD_EN), ("novels_zh", ABSURD_ZH)])
def test_against_real_novels(folder, absurd):
    root = os.environ.get("LONGPROOF_DATA")
    novels = sorted((Path(root) / folder).glob("*.txt")) if root else []
    if not novels:
        pytest.skip(f"no novels: set LONGPROOF_DATA to a folder that has {folder}")
    for novel in novels:
        assert undecided(novel.read_text(encoding="utf-8")[:200_000], absurd)


@pytest.mark.parametrize(("language", "absurd"), [("en", ABSURD_EN), ("zh", ABSURD_ZH)])
def test_against_the_bundled_stories(language, absurd):
    story = files("longproof.examples").joinpath(language, "story.txt").read_text(encoding="utf-8")
    assert undecided(story, absurd)
