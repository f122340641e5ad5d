"""English words and beginnings of words that mean the opposite of each other.

Written by hand, common pairs only. Does not know: when a swap of the two is an error.
"""

OPPOSITES = """
increase:decrease,decline,reduce,reduction,drop,fall,lower,lessen,shrink rise:fall,drop gain:loss,lose win:lose
improve:worsen,degrade,deteriorate,impair,hinder expand:shrink,contract extend:shorten raise:lower exceed:miss
high:low higher:lower highest:lowest large:small larger:smaller big:small more:less,fewer most:least many:few
strong:weak stronger:weaker strongly:weakly simple:complex,complicated,sophisticated,simplified simplify:complicate
easy:difficult,hard easier:harder fast:slow faster:slower quick:slow early:late earlier:later before:after first:last
positive:negative better:worse best:worst good:bad,poor success:failure succeed:fail successful:unsuccessful
successfully:unsuccessfully support:oppose accept:reject,refuse,decline agree:disagree,deny allow:prevent,prohibit
approve:reject,disapprove include:exclude up:down start:end,stop begin:finish,end open:close buy:sell lend:borrow
same:different similar:different,dissimilar with:without inside:outside above:below over:under always:never,sometimes
often:rarely,seldom frequently:rarely common:rare commonly:rarely new:old young:old rich:poor hot:cold warm:cool
wet:dry light:dark,heavy long:short longer:shorter tall:short wide:narrow deep:shallow full:empty,partial
complete:incomplete public:private internal:external local:global national:international major:minor upper:lower
maximum:minimum max:min left:right north:south east:west northern:southern eastern:western true:false right:wrong
correct:incorrect,wrong accurate:inaccurate able:unable possible:impossible likely:unlikely effective:ineffective
efficient:inefficient significant:insignificant,negligible important:unimportant necessary:unnecessary
outperform:underperform surpass:lag advantage:disadvantage benefit:harm,drawback strength:weakness known:unknown
encourage:discourage happy:sad,unhappy love:hate like:dislike hope:fear online:offline static:dynamic
supervised:unsupervised automatic:manual automatically:manually linear:nonlinear single:multiple both:neither
all:none,some individual:collective individually:collectively spoken:written real:hypothetical,fake,synthetic
intrinsic:extrinsic explicit:implicit direct:indirect directly:indirectly active:passive male:female man:woman
men:women boy:girl father:mother son:daughter brother:sister husband:wife uncle:aunt king:queen remember:forget
arrive:leave,depart enter:exit,leave push:pull attack:defend give:take send:receive present:absent presence:absence
remain:change unchanged:changed sufficient:insufficient enough:insufficient crucial:trivial,unimportant key:minor
robust:fragile,sensitive stable:unstable safe:dangerous,unsafe profit:loss cheap:expensive,costly day:night
morning:evening,afternoon past:future previous:next former:latter confident:uncertain certain:uncertain
optimistic:pessimistic overestimate:underestimate understand:misunderstand generic:specific general:specific
broad:narrow abstract:concrete sparse:dense discrete:continuous relevant:irrelevant
"""

PREFIXES = (
    ("pre", "post"), ("over", "under"), ("inter", "intra"), ("mono", "multi"), ("macro", "micro"), ("hyper", "hypo"),
)  # fmt: skip
"""Beginnings that are each other's opposite."""
DENYING_PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis")
