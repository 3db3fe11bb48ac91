/**
 * What the sentences of a user are a ground for. A model chooses the words it quotes; here the sentence around them is
 * judged, so that "I do not live in Oslo" doesn't say where a user lives and "do not forget" is no request to forget.
 * Any language's words that are not known here count as a statement. Pure.
 */
import { SPACELESS_LETTER } from "../text/analyze.ts";
import { sentencesIn } from "../text/words.ts";
import { isNegated, meaning, normal, plainly, reverses } from "./likeness.ts";

/** Whether a text states a fact in one of the sentences that hold the quote; without a quote of it, in those nearest to the fact. */
export function statesFact(text: string, quote: string, fact: string): boolean {
  const sentences = [...sentencesIn(text)].map(({ start, end }) => text.slice(start, end));
  const quoted = sentences.filter((sentence) => holds(sentence, quote));
  const nearest = quoted.length > 0 ? quoted : closest(sentences, fact);
  const stated = (sentence: string): boolean => {
    const next = sentences[sentences.indexOf(sentence) + 1] ?? "";
    return !RETRACTED.test(sentence) && !RETRACTED.test(next) && clausesState(sentence, fact);
  };
  return nearest.some(stated);
}

/** A statement without the parts behind the last one that rests on words of the user or is known: the rest was added by the model. */
export function supportedPart(statement: string, words: string, known: string): string {
  const [said, old] = [meaning(words), meaning(known)];
  let [start, end] = [0, 0];
  for (const { index, 0: border } of [...statement.matchAll(PARTS), { index: statement.length, 0: "" }]) {
    const terms = [...meaning(statement.slice(end, index))];
    if (!terms.every((term) => old.has(term)) && !terms.some((term) => isAmong(term, said)))
      return statement.slice(0, start).replace(/[^\p{L}\p{N})"]+$/u, "");
    start = index;
    end = index + border.length;
  }
  return statement;
}

/** The sentences that ask to forget something about what a fact says, or to forget everything. */
export function asksToForget(text: string, fact: string): boolean {
  const terms = meaning(fact);
  return [...sentencesIn(text)].some(({ start, end }) => {
    const sentence = text.slice(start, end);
    if (!requestsToForget(sentence)) return false;
    return EVERYTHING.test(sentence) || [...meaning(sentence)].some((term) => isAmong(term, terms));
  });
}

/** Between them nothing but polite words: who often forgets, or tells somebody else to, asks for nothing. */
function requestsToForget(sentence: string): boolean {
  return [...sentence.matchAll(FORGET)].some((match) => {
    const clause = sentence.slice(0, match.index).split(/[,;:.!?]/);
    const before = clause.at(-1)!.toLowerCase();
    const words: readonly string[] = before.match(/[\p{L}']+/gu) ?? [];
    if (SPACELESS_LETTER.test(match[0]))
      return !/[\u522b\u5225\u4e0d\u52ff\u6c92\u6ca1]\s*(?:\u8981)?$/.test(before) && !isQuestion(sentence);
    if (NOT_BEHIND.test(sentence.slice(match.index + match[0].length))) return false;
    return words.every((word) => POLITE.has(word)) && (!words.includes("i") || words.includes("you"));
  });
}

/** The clauses that carry most of the fact; one that denies it decides as well. */
function clausesState(sentence: string, fact: string): boolean {
  const clauses = sentence
    .replaceAll(/[\u2018\u2019]/g, "'")
    .split(CLAUSES)
    .filter((clause) => /\p{L}/u.test(clause));
  const terms = [...meaning(fact)];
  const shares = clauses.map((clause) => share(terms, clause));
  const most = Math.max(...shares);
  // "I am afraid of it" is no ground for "not afraid of production", which two clauses carry together.
  if (isNegated(fact) && reverses(sentence, fact) && !FORMER.test(sentence)) return false;
  const asks = isQuestion(sentence);
  return clauses.every((clause, index) => {
    if (
      shares[index]! >= (shares[index] === most ? HALF : DENYING) &&
      (denies(clause, fact) || requestsToForget(clause))
    )
      return false;
    if (shares[index]! < most) return true;
    if (asks && !(index < clauses.length - 1 && TELLS.test(clause) && !TAG.test(sentence))) return false;
    if (HEDGED.test(clause) && !HEDGED_FACT.test(fact)) return false;
    if (WISHED_ACT.test(fact) && TELLS.test(clause) && !WISHES.test(clause)) return false;
    return !isOfOthers(clause, fact) && !(isPast(clause) && isPresent(fact));
  });
}

function denies(clause: string, fact: string): boolean {
  if (isNegated(clause.replace(NOT_ONLY, " ")) && !isNegated(fact) && !FORMER.test(fact)) return true;
  return isNegated(fact) && !isNegated(clause) && reverses(clause, fact);
}

/** In the third person, where the fact says the same of the user: "My friend Eve lives in Oslo". */
function isOfOthers(clause: string, fact: string): boolean {
  const people = OTHERS.exec(clause);
  if (people !== null && !/\b(?:i|we|me|us)\b/i.test(clause) && !normal(fact).includes(normal(people[1]!))) return true;
  // Of oneself one says "I live" and "I am", of others what the fact says of the user: "lives", "is".
  const verbs = fact.split(PARTS).flatMap((part, index) => (index === 0 ? SUBJECT_VERB : VERB).exec(part)?.[1] ?? []);
  return verbs.some((verb) => {
    if (!new RegExp(`\\b${verb}\\b`, "i").test(clause)) return false;
    return !(verb === "is" || verb === "has" ? FIRST_PERSON : OURS).test(clause);
  });
}

const SUBJECT_VERB = /^\s*(?:the )?user ([a-z]{1,30}s)\b/i;
const VERB = /^\s*(?:(?:the )?user )?([a-z]{1,30}s)\b(?!')/i;
const FIRST_PERSON = /\b(?:i|i'm|i've|my|me|mine|we|we're|our|us|ours|user)\b/i;
/** What a group does whose part the user is may be said of the user, and so may what users say of themselves as "the user". */
const OURS = /\b(?:we|our|user)\b|\bmy (?:team|company|firm|employer|project|app|job|work)\b/i;

function isPast(clause: string): boolean {
  return PAST.test(clause) && !/\b(?:have|has|been|since|ever)\b|'ve\b/i.test(clause);
}

function isPresent(fact: string): boolean {
  return /\b(?:lives?|works?|studies|resides?|owns?|drives?|plays?)\b/i.test(fact) && !FORMER.test(fact);
}

function isQuestion(sentence: string): boolean {
  return /[?\uff1f\u061f]["')\]]*\s*$|[\u5417\u55ce\u5462]\s*[\u3002.]?\s*$|\u304b[\u3002.]?\s*$/.test(sentence);
}

function holds(sentence: string, quote: string): boolean {
  const [words, quoted] = [normal(sentence), normal(quote)];
  if (words === "" || quoted === "") return false;
  if (SPACELESS_LETTER.test(quoted)) return words.includes(quoted) || quoted.includes(words);
  return ` ${words} `.includes(` ${quoted} `) || ` ${quoted} `.includes(` ${words} `);
}

function closest(sentences: readonly string[], fact: string): string[] {
  const terms = [...meaning(fact)];
  const shares = sentences.map((sentence) => share(terms, sentence));
  const most = Math.max(0, ...shares);
  return sentences.filter((_, index) => most > 0 && shares[index] === most);
}

/** How much of a fact stands in these words. */
function share(terms: readonly string[], words: string): number {
  const said = meaning(plainly(words));
  return terms.length === 0 ? 0 : terms.filter((term) => isAmong(term, said)).length / terms.length;
}

/** Endings differ where the language has no stems here: the beginning of a word is enough. */
function isAmong(term: string, words: ReadonlySet<string>): boolean {
  if (words.has(term)) return true;
  if (term.length < STEM) return false;
  const start = term.slice(0, Math.max(STEM, term.length - 3));
  return [...words].some((word) => word.startsWith(start));
}

const STEM = 4;
/** A clause that holds so much of a fact and a negation denies it. */
const DENYING = 0.6;
/** Enough where no other clause holds more. */
const HALF = 0.5;

const CLAUSES =
  /[,;:()\u2014\uff0c\uff1b\u3001]|\s[-\u2013]\s|\b(?:but|because|except|besides|although|though|while|whereas|aber|sondern|weil|mais|pero|porque)\b|\band (?=(?:i|we|my|our|he|she|they|it|you|don't|do not|never|not|no|hate|am|live|work)\b)/iu;
/** What is said of a fact's subject one after the other. */
const PARTS = /[,;:.!?]\s|\s[-\u2013\u2014]\s|\b(?:and|but|or|who|whose|whom|which|while|und|oder|et|ou|y)\b/giu;

const RETRACTED =
  /\b(?:(?:not|isn't|never) (?:really |actually |at all )?(?:true|right|correct|the case)|untrue|false|a (?:lie|joke)|just kidding|(?:i'm |i am |only )?(?:kidding|joking)|i made that up|stimmt nicht|nicht wahr|kein wort wahr|(?:ist|war) (?:falsch|gelogen)|(?:n'est |est )?(?:pas vrai|faux)|no es (?:verdad|cierto)|mentira)\b|(?:\u4e0d\u662f\u771f\u7684|\u5f00\u73a9\u7b11|\u5618\u3067\u3059|\u5197\u8ac7)/iu;
const HEDGED =
  /\b(?:if|unless|whether|suppos(?:e|ing)|imagine|pretend|hypothetically|maybe|perhaps|possibly|wish|as though|(?:one|some) ?day|might|would(?! (?:like|love|prefer|rather|appreciate)\b)|wonder\w{0,3}|according to|supposedly|allegedly|(?<!\b(?:i|we) )(?:claim|think|believe|pretend|assume|insist|reckon)(?:s|ed)|thought|(?:am|'m|was|been|were) told|(?:they|people|others|some|everyone|everybody|he|she) (?:says?|said)|heard|rumou?rs?|wenn|falls|ob|vielleicht|eines tages|w\u00fcrde|w\u00e4re|h\u00e4tte|laut|angeblich|behauptet|meint|glaubt|peut-\u00eatre|si|un jour|selon|quiz\u00e1s?|tal vez|ojal\u00e1|seg\u00fan)(?![\p{L}])|(?<!\p{L})(?:\u0435\u0441\u043b\u0438|\u0432\u043e\u0437\u043c\u043e\u0436\u043d\u043e|\u043c\u043e\u0436\u0435\u0442 \u0431\u044b\u0442\u044c)(?!\p{L})|\u5982\u679c|\u8981\u662f|\u5047\u5982|\u4e5f\u8bb8|\u53ef\u80fd|\u3082\u3057/iu;
/** A fact that says itself that it is not certain, or what holds when. */
const HEDGED_FACT =
  /\b(?:may|might|maybe|perhaps|would|could|if|when|whether|wants?|wish\w{0,3}|hop(?:es?|ing)|plan\w{0,4}|consider\w{0,3}|think\w{0,3}|dream\w{0,3}|possibl\w|claims?|said|says|intends?|believes?|prefers?|m\u00f6chte|will|wenn)\b/i;
const NOT_ONLY =
  /\b(?:not only|not just|no doubt|no problem|why not|(?:do not|don't|never) forget|nicht nur|non seulement|no solo)\b/gi;
const FORMER =
  /\b(?:used to|former(?:ly)?|previous(?:ly)?|once|left|lived|worked|avoid\w{0,3}|without|refus\w{0,3}|lacks?|dislikes?|fr\u00fcher)\b/i;
const PAST =
  /\b(?:lived|worked|studied|resided|owned|drove|played|used to|wohnte|lebte|arbeitete)\b|\bas a (?:child|kid|boy|girl|student|teenager)\b/iu;
/** Whom a clause speaks of that doesn't begin with the user. */
const OTHERS =
  /^\W*(?:(?:and|so|well|oh|ok|okay|yes|no|hi|hello|btw|also|actually|you know),? ){0,3}(?:(?:my|our|the|a|an|his|her|their|some) (?:\w{1,20} ){0,2}?)?(friends?|brothers?|sisters?|wife|husband|partner|mother|father|mom|mum|dad|sons?|daughters?|kids?|child|children|parents?|boss|colleagues?|neighbou?rs?|cousins?|uncle|aunt|girlfriend|boyfriend|roommate|flatmate|doctor|teacher|bank|people|others|everyone|somebody|someone|he|she|they|some)\b/i;
const TELLS =
  /^\W*(?:(?:so|and|since|as|because|well|sure|yes|no|hi|hello|hey) )?(?:i|i'm|i've|my|we|we're|we've|our|ich|wir|mein\w?|je|j'|mon|ma|yo|soy|mi)(?![\p{L}])/iu;
/** What the assistant is to do; who only tells what they do themselves asks for nothing. */
const WISHED_ACT =
  /\bwants? (?:(?:the |this |my )?(?:assistant|agent|ai|bot|model)\b|(?:\S{1,30} ){1,4}?(?:deleted|removed|sent|run|executed|paid|approved|published|merged|deployed|transferred|opened|followed|obeyed|done)\b)/i;
const WISHES =
  /\b(?:want|wish|like|love|prefer|need|expect|hope|ask(?:ed|ing)?|insist|hate|mind|please|should|must|m\u00f6chte|mag|will|bitte|soll\w{0,3}|veux|voudrais|aime|pr\u00e9f\u00e8re|quiero|prefiero|gusta)(?![\p{L}])/iu;
/** Behind a statement it asks whether that is so. */
const TAG =
  /,\s*(?:right|correct|no|yes|don't i|do i|am i|aren't i|isn't it|isn't that so|oder|nicht wahr|ne|non|verdad)\s*\?/i;

const FORGET =
  /\b(?:forget|delete|remove|erase|drop|stop remembering|(?:don't|do not) (?:remember|store|keep)|no longer (?:remember|store)|vergiss|vergessen|l\u00f6sch\w{0,3}|entfern\w{0,3}|oublie\w{0,2}|supprime\w{0,2}|efface\w{0,2}|olvida\w{0,2}|borra\w{0,2}|elimina\w{0,2})\b|\u5fd8(?:\u8bb0|\u6389)|\u5220\u9664/giu;
/** "Vergiss bitte nicht", "n'oublie pas". */
const NOT_BEHIND = /^(?:\s+\p{L}{1,20}){0,2}?\s+(?:nicht|nie|niemals|pas|jamais|never|not)(?!\p{L})/iu;
const EVERYTHING =
  /\b(?:everything|all (?:that )?(?:you|of it|of that|about me|my)|all facts|my data|alles|tout|todo)\b|\u5168\u90e8|\u4e00\u5207|\u6240\u6709/iu;
const POLITE: ReadonlySet<string> = new Set(
  `please pls kindly just now then and also so ok okay oh hey hi actually sorry yes well can could would will you should may must might
  want like need i i'd would ask asking to us let's bitte kannst k\u00f6nntest w\u00fcrdest du sie mal einfach und jetzt doch auch wieder s'il te
  vous pla\u00eet peux pourrais tu por favor puedes podr\u00edas y ahora`.split(/\s+/),
);
