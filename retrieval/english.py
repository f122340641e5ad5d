"""English words for lexical search: stop words and synonyms.

Knows: NLTK's stop words, and a few hundred groups of plain words, written for this project, that may name the same
thing: a summary says "doctor" where the novel says "physician". A word stands in as many groups as it has senses.
Does not know: endings, weights, any other language. Chinese is compared by its characters, which synonyms share.
"""

from functools import cache

_STOP_WORDS = """
a about above after again against ain all am an and any are aren aren't as at be because been before being
below between both but by can couldn couldn't d did didn didn't do does doesn doesn't doing don don't down
during each few for from further had hadn hadn't has hasn hasn't have haven haven't having he her here hers
herself him himself his how i if in into is isn isn't it it's its itself just ll m ma me mightn mightn't
more most mustn mustn't my myself needn needn't no nor not now o of off on once only or other our ours
ourselves out over own re s same shan shan't she she's should should've shouldn shouldn't so some such t
than that that'll the their theirs them themselves then there these they this those through to too under
until up ve very was wasn wasn't we were weren weren't what when where which while who whom why will with
won won't wouldn wouldn't y you you'd you'll you're you've your yours yourself yourselves
"""

_SYNONYMS = """
kill murder slay slain shoot shot stab assassinate death; die dead death perish decease expire corpse body;
marry wed wedding marriage bride husband wife bridegroom groom match;
engage engagement betroth fiance propose hand; husband spouse wife; father papa dad parent sire;
mother mamma mama parent; child boy girl son daughter infant baby lad kid; boy lad youth;
girl maiden lass maid damsel; woman lady female; man fellow gentleman chap;
friend companion comrade acquaintance; servant maid footman butler housekeeper attendant;
brother sister sibling; uncle nephew niece aunt cousin; king monarch majesty sovereign throne;
queen princess; prince princess; soldier officer warrior army troop regiment;
captain officer skipper commander; doctor physician surgeon; lawyer attorney solicitor barrister;
priest clergyman parson vicar minister curate rector;
policeman constable police officer inspector detective; thief rob steal stole burglar theft robbery stolen;
prison jail gaol cell captive dungeon; capture seize catch caught arrest prisoner; escape flee fled flight;
hide conceal hidden secret; secret mystery; letter note write wrote epistle message;
message telegram wire letter; paper newspaper journal press; book volume diary journal read;
picture portrait painting photograph likeness image; paint artist draw sketch;
house home mansion dwelling cottage residence hall; castle palace tower fortress; room chamber apartment;
bedroom chamber bed; door gate entrance; garden lawn park grounds; wood forest trees; field meadow pasture;
hill mountain slope; river stream water bank; lake pond pool water; sea ocean water shore;
ship vessel boat sail yacht; carriage coach cab chaise drive; horse steed mount ride rode pony;
car automobile motor drive drove; train railway station; road lane path way; travel journey voyage trip;
walk stroll ramble; run ran rush hurry; return back; leave left depart go; arrive arrival come came reach;
visit call visitor guest; meet met encounter; party ball entertainment guest dance; dance ball waltz;
dinner supper lunch luncheon meal dine table; eat ate food meal hungry;
drink drank wine brandy drunk bottle glass; drunk drunken intoxicated tipsy liquor;
sing sang song voice music; music piano play song; money gold pound dollar coin wealth sum;
rich wealth fortune; poor poverty penniless; pay paid wage salary; buy bought purchase; sell sold sale;
lend lent borrow loan; debt owe; work labour job employ employment; business trade; shop store;
jewel gem diamond stone; sword blade weapon dagger knife; gun pistol revolver rifle shot;
fight fought battle combat struggle duel; attack assault strike struck; hit strike struck blow beat;
wound hurt injure injury bleed blood; save rescue; help aid assist; protect guard;
love affection adore dear passion; hate loathe detest dislike; kiss lips embrace; cry weep wept tears sob;
laugh smile mirth; anger angry rage furious fury wrath; fear afraid frighten terror scare;
sad sorrow grief melancholy unhappy; happy joy glad delight happiness; ashamed shame disgrace; jealous envy;
ill sick illness fever sickness disease; heal recover cure; sleep slept asleep bed; wake woke awake;
dream vision; night evening midnight dark; morning dawn day; winter snow cold ice;
storm wind tempest thunder gale rain; fire burn burnt flame blaze; light lamp candle;
speak spoke talk conversation; tell told relate story tale; ask question inquire; answer reply respond;
quarrel argue dispute argument; beg plead entreat implore; promise vow swear swore oath;
lie false deceive deceit; confess admit acknowledge; forgive pardon; refuse reject decline;
agree consent accept; advise warn advice counsel; accuse blame charge; suspect suspicion doubt;
believe trust faith; think thought consider; know knew; learn discover find found;
remember recollect memory recall; forget forgot; hear heard listen; see saw sight; look gaze glance stare;
watch spy observe; follow pursue pursuit chase; search seek sought look; send sent; bring brought carry;
take took; give gave gift present; throw threw toss fling flung; break broke broken smash; open shut close;
fall fell drop; climb mount; sit sat seat chair; dress gown clothes garment suit; hat cap;
disguise mask dress; hair curls locks; face countenance features; eye glance; game play;
church chapel sermon service; pray prayer god; funeral bury burial grave coffin; grave tomb;
school teacher pupil study college university; teach taught lesson; dog hound; bird fowl; snake serpent;
animal beast creature; monster creature beast; town city; village hamlet; country land; london city;
begin began start; end finish; wait await; plan scheme plot; order command; serve service; slave servant;
judge court trial jury; inquest coroner jury; guilty guilt innocent crime criminal; crime murder;
ghost spirit phantom haunt; poison drug dose; key lock; window pane; stairs staircase steps; roof ceiling;
smoke pipe cigar tobacco; old aged elderly; young youthful; beautiful handsome pretty; ugly hideous;
strange odd curious; brave courage bold; cruel brutal harsh; proud pride haughty;
orphan parent guardian ward; widow husband dead; heir heiress inherit legacy estate;
estate manor property land; tenant rent lodger landlord; stranger unknown foreigner; enemy foe rival;
rival suitor lover; lover sweetheart mistress; suitor courtship court woo; elope run fled marry;
divorce separate; pregnant birth born baby; kin relative family; family household home; leader chief head;
noble lord nobleman duke count earl baron; lord sir master; lady madam mistress; peasant farmer villager;
crowd mob people multitude; gang band crew; crew sailor seaman mate; sailor seaman mariner;
shipwreck wreck sink sank drown; drown water sink; island shore coast; desert sand wilderness;
cave cavern grotto pit; tunnel passage corridor; corridor passage hall gallery; cellar vault basement;
attic garret loft; kitchen cook; library study book; office desk bureau; inn tavern hotel alehouse;
hospital nurse ward; market fair stall; factory mill works; bridge river crossing; wall fence hedge;
tree branch bough; flower rose blossom; fruit apple orange; bread loaf food; meat beef mutton;
tea coffee cup; cup glass goblet; box chest trunk case; bag sack purse pocket; rope cord string;
chain fetter shackle; bell ring; clock watch hour; map chart plan; telescope glass spyglass;
treasure gold hoard; ring jewel finger; necklace pearl chain; crown coronet diadem; flag banner standard;
uniform dress officer; boot shoe foot; glove hand; cloak mantle coat robe; veil face bonnet;
beard moustache whisker; head skull; hand fist finger; arm shoulder; leg limp lame; lame cripple limp;
blind eye sight; deaf ear hear; mad madness insane lunatic crazy; faint swoon unconscious senseless;
tremble shake shook shiver; pale white; blush red redden; shout scream shriek yell cry call;
whisper murmur mutter; silent silence mute quiet; rumour rumor gossip scandal report; news tidings report;
joke jest fun; mock scorn jeer taunt sneer; insult offend offence; threaten menace; punish whip flog;
whip lash scourge; torture torment pain; pain suffer agony ache; hunger starve hungry famine;
thirst drink water; tired weary fatigue exhaust; rest repose sleep; hunt chase game sport; fish angler net;
race run course; bet wager gamble stake; gamble card bet play; card game gamble; chess board game;
prize reward win; win victory triumph; lose lost; defeat beat beaten vanquish; surrender yield submit;
victim prey; danger peril dangerous risk; safe safety secure; trap snare ambush; trick deceive cheat fraud;
cheat swindle fraud trick; betray betrayal traitor treason; loyal faithful true fidelity; honest truth;
pretend feign sham; impostor disguise false; imitate copy; reveal disclose discover confess tell;
explain explanation account; announce declare proclaim; proof evidence prove; clue trace track;
trace track footprint footstep; sign signal mark; guess suppose conjecture; solve solution answer;
puzzle riddle mystery; examine inspect study look; decide resolve determine; choose chose choice;
try attempt endeavour; fail failure vain; succeed success; allow permit leave; forbid forbade prohibit;
force compel oblige; persuade convince induce; hesitate doubt; regret repent sorry remorse;
apologize pardon sorry; thank grateful gratitude; praise admire commend; admire admiration esteem;
respect honour esteem; despise scorn contempt; pity compassion mercy; mercy spare pity; comfort console;
hope expect; despair hopeless; surprise astonish amaze astound; shock horror startle; horror terror dread;
calm quiet still; lonely alone solitude solitary; bore dull weary; eager keen anxious;
worry anxious anxiety uneasy; stubborn obstinate; clever wise cunning shrewd; fool foolish stupid folly;
wicked evil vile villain; villain scoundrel rascal rogue; gentle kind tender; kind kindness generous;
greedy greed avarice; lazy idle; reckless rash careless; weak feeble; strong strength power;
thin lean slender; fat stout; tall height high; short small little; big large great huge enormous;
broken ruin destroy; destroy ruin wreck; build built construct; repair mend; clean wash; dirty filth soil;
empty vacant desert; full crowd; dark darkness gloom night; bright light shine; noise sound;
smell odour scent; taste flavour; touch hand feel; cold chill freeze; hot heat warm; wet rain damp;
dry dust; dust ash dirt; north south east west; sunday church; christmas holiday; summer heat season;
spring season; autumn harvest season fall; year twelve; week days; hour time; separate part farewell;
farewell goodbye leave parting; reunion meet reunite; reconcile peace forgive; peace truce treaty;
war battle army; exile banish; rebel rebellion revolt mutiny; vote elect election; law legal lawyer;
contract bargain agreement sign; sign signature name; name call title; vanish disappear gone; appear emerge;
move remove shift; settle live dwell reside; live dwell lodge; stay remain; join unite; refuse deny denial;
deny refuse; doctor medicine patient; medicine drug remedy; operate surgeon; experiment science laboratory;
machine engine device; photograph camera portrait; statue figure image; temple shrine altar;
spell magic witch wizard; witch magic sorcery; angel heaven; devil demon fiend satan; soul spirit;
fate destiny doom; luck fortune chance; dream sleep vision
"""


@cache
def stop_words() -> frozenset[str]:
    """Words too frequent to tell one passage from another, in lower case."""
    return frozenset(_STOP_WORDS.split())


def synonyms() -> list[list[str]]:
    """The groups of synonyms, each at least two words in lower case."""
    return [group.split() for group in _SYNONYMS.split(";")]
