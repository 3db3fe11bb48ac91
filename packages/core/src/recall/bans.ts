/**
 * Bans by any verb: "Never moor ferries at pier 3.", "Don't ever email Bob." Whatever the verb, what follows must be its object, since
 * "Never ready on time" and "Never got it" begin the same. A ban that is missed is found by its words, one that is made up is followed.
 */
const BAN = /^(never|don['\u2019]?t ever|do not ever) (?:ever )?([a-z]{2,}(?:-[a-z]+)?) (\S.*)$/u;

const listed = (words: string): ReadonlySet<string> => new Set(words.trim().split(/\s+/));

/** No orders: past forms, states of somebody who leaves out "I", and words that aren't verbs. */
const NO_ORDER = listed(`
ate awoke bade be became been began begun bent bet bit bitten bled blew blown bore born bought bound bred broke broken brought built burnt came
caught chose chosen come cost crept dealt did do does done drank drawn dreamt drew driven drove drunk dug eaten fed fell felt fled flew flown
forgave forgot forgotten fought found froze frozen gave given go gone got gotten grew grown had heard held hid hidden hit hung hurt kept knew known
laid lain lay leapt learnt led left lent lit lost made meant met paid put ran rang ridden risen rode rose said sang sank sat saw seen sent
set shaken shone shook shot shown shut slept slid sold sought spent spoke spoken sprang spun stank stolen stole stood stuck stung sung sunk swam
swept swore sworn swum taken taught thought threw thrown told took tore torn understood went wept woke woken won wore worn wound written wrote
need
beat become drink eat smoke watch
believe belong care can could deserve doubt dream enjoy exist expect experience fail fear feel forget get gonna gotta guess happen hate have hear
hope imagine know lack like lose love matter may mean might mind miss must notice own realise realize recall regret remember see seem shall should
suffer suspect think tire underestimate understand wanna want will wish wonder worry would
able afraid again alive all alone and another any anybody anyone anything as at available away back bad because before better bored boring both
but by clear cold easy empty enough even every everyone everything far few fewer fine for from full fun good great guilty happy hard here home hot
how if in into it its just late less likely little many more most much my near new nice nobody none not nothing now of off old on once one only or
our out over possible pretty quite rather ready really right sad safe same she short simple since so some someone something such sure that the
their them there these they this those to together too true two under until up us very we well what when where which while who whom why with
without worse worst worth wrong yet you your
`);
const VERBS_LIKE_OTHERS = listed(
  "apply bring bully comply cling exceed embed feed fling fly focus multiply ping proceed process rally rely reply ring seed shred sing string succeed supply swing tally wring",
);
const NO_BARE_FORM = /(?:ed|ing|ly|[^s]s)$/;

/** What can only be the object of the verb: a determiner, a pronoun, a name or number, something quoted, a plural. */
const OBJECT =
  /^(?:(?:the|an?|any|my|our|your|his|her|their|its|this|that|these|those|it|me|us|him|them|anyone|anybody|anything|everyone|all|both|each|every|more than|someone|people|users?|user)(?![\w-])|[\p{Lu}\p{N}"'`\u201c\u2018]|(?!(?:always|as|comes|does|feels|gets|gives|goes|happens|has|helps|is|looks|makes|means|needs|says|seems|sometimes|takes|was|works)\b)[a-z-]{2,}[^s\W]s(?![\w-]))/u;

/** A story or an opinion: a past, somebody's "I am", or a verb of the whole sentence. */
const TOLD_OF =
  /\b(?:was|were|had|did|didn't|went|came|got|told|said|gave|took|made|kept|myself|ourselves|anymore|in my life|much(?=[.!]*$)|luckily|thankfully|sadly|honestly|these days|i(?:'m|'ve|'d| am| have| think| guess| know| can't| hate| love| don't| do))\b|(?<!\b(?:an?|the|any|my|our|your|be|are|is|been|get|or|and|that) )\b(?!need|feed|speed|seed|exceed)[a-z]{2,}ed\b/i;
const STATES = /\b(?:is|are|has|does|will|works|seems|sounds|helps|makes)\b/i;
const CLAUSE =
  /\b(?:when|while|if|unless|until|that|which|who|whose|where|because|since|as|before|after|what|whether)\b/i;

const SAYINGS =
  /^(?:never|don't ever|do not ever) (?:judge a book|look a gift|bite the hand|meet your (?:heroes|idols)|let (?:me|you|us|them|him|her|it) (?:down|go|get|see)|trust a |a |send a (?:boy|man)|bet against|bring a knife|skip leg day|cross the streams|kiss and|wake a sleeping|tell me the odds|burn bridges|quit your day|touch a running|change a (?:winning|running)|follow the crowd|split the party|let the truth|waste a good|trust anyone over|wrestle (?:with )?a)/i;

/** Of one sentence in the user's own words, without its openers. */
export function isBan(sentence: string): boolean {
  const [, never, verb, rest] = BAN.exec(sentence.charAt(0).toLowerCase() + sentence.slice(1)) ?? [];
  if (verb === undefined || rest === undefined || SAYINGS.test(sentence)) return false;
  if (NO_ORDER.has(verb) || (NO_BARE_FORM.test(verb) && !VERBS_LIKE_OTHERS.has(verb))) return false;
  if (!OBJECT.test(rest) || TOLD_OF.test(rest)) return false;
  if (never === "never" && /\b(?:again|before|ever)[.!]*$/.test(rest)) return false;
  const states = STATES.exec(rest);
  return states === null || CLAUSE.test(rest.slice(0, states.index));
}
