from longproof.agent.offline.names import persons
from longproof.agent.offline.people import kin, strangers, unknown_names
from longproof.agent.offline.reading import Evidence
from longproof.retrieval.types import Document

FAR = "那一年雨水多，田里收成不好，村里人都在谈论河堤的事情。" * 40
SCENE = (
    "李二公在茶馆里对牛浦说起，程明卿是万雪斋生平最心腹的朋友，盐务里的银钱都托给他照管。牛浦听了记在心里。"
    "程明卿又来了，万雪斋请他吃酒。李二公陪着。"
)


def test_a_person_of_another_scene_is_out_of_place(see):
    source = "董老爷升了知县。董老爷上任去了。" + FAR + SCENE + FAR
    told = "牛浦假托董老爷的话，说程明卿是万雪斋生平最心腹的朋友，盐务里的银钱都托给他照管。"
    found = list(strangers(see(source, told, "牛浦假托董老爷的话")))
    assert [(f.kind, told[f.start : f.end]) for f in found] == [("entity", "董老爷")]
    assert list(strangers(see(source, told.replace("董老爷", "李二公"), "牛浦假托李二公的话"))) == []


def test_persons_are_recurring_names_and_not_their_parts():
    text = "严贡生来了。严贡生坐下。严贡生又走了。汤知县请酒。汤知县送客。"
    document = Document.of(text)
    evidence = Evidence([document.span(0, len(text))])
    assert persons("严贡生与汤知县", evidence) == ["严贡生", "汤知县"]


def test_months_are_no_unknown_names_where_dates_are_figures(see):
    source = "date: 2024-01-04\ncity.name: Bergen\nlist[0].temp: 12"
    told = "The temperature in Bergen is 12 in January and lower in Narvik."
    found = list(unknown_names(see(source, told, task="answer")))
    assert [told[f.start : f.end] for f in found] == ["Narvik"]


def test_an_article_may_add_a_country_or_a_venue_but_no_person(see):
    source = "homeTeam.name: Penguins\ncity.name: Bergen\nhomeScore: 4"
    told = (
        "At home in Bergen, Norway, in the Mohegan Sun Arena, the Penguins won with a goal by Emil Johansson."
    )
    found = list(unknown_names(see(source, told, task="article")))
    assert [told[f.start : f.end] for f in found] == ["Emil Johansson"]


def test_kin_is_silent_where_the_source_gives_none(see):
    assert list(kin(see("王大走到严家。王大坐下。", "哥哥王大走到严家。"))) == []
