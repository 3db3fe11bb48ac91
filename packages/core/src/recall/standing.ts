/**
 * Recognizes lasting instructions ("always use type hints") and preferences ("I prefer short answers") of a user. Precision
 * first: what only might be one is left out. Code, quotations, questions and what introduces somebody else's text are not read.
 * Below, the forms of such sentences: each is a class of wordings, and each stays narrow, because a rule that is missed is found
 * by its words, one that is made up is followed. Matched against one sentence in which nothing but the user's own words is
 * left, without the openers of a sentence.
 */

import type { MessageRecord } from "../log/record.ts";
import { typedText } from "../message/dialects.ts";
import type { Shape } from "../message/shape.ts";
import { OPENERS, ownWords, sentencesIn } from "../text/words.ts";

export interface StandingSentence {
  readonly kind: "instruction" | "preference";
  readonly text: string;
}

/** What a person typed about later turns: a rule, or that one no longer holds. */
interface TypedSentence {
  readonly text: string;
  readonly source: number;
  /** When a sentence that lifts a rule was said; absent for one that makes a rule. */
  readonly liftsAt?: string;
}

/** Held by every entry of a user with such a sentence. No word begins with such a sign, so no text can hold it by chance. */
export const STANDING_TERM = "@standing";
/** Held by those of them that a person typed in this thread: only these are shown as instructions. */
export const TYPED_TERM = "@typed";

const MAX_READ = 50_000;

/** In the order they stand. */
export function standingSentences(text: string): StandingSentence[] {
  return sentencesOf(text, standingKind);
}

function sentencesOf<K extends string>(text: string, kindOf: (raw: string) => K | null): { kind: K; text: string }[] {
  const read = text.slice(0, MAX_READ);
  const plain = ownWords(read, { quotes: "all", paragraphs: "strict", isKnown: (one) => kindOf(one) !== null });
  const found: { kind: K; text: string }[] = [];
  for (const { start, end } of sentencesIn(plain)) {
    const kind = kindOf(plain.slice(start, end));
    if (kind !== null) found.push({ kind, text: read.slice(start, end).replace(LIST_MARK, "").trim() });
  }
  return found;
}

let areCompiled = false;
/** The forms are compiled once for the process, in steps. */
export function* formsCompiled(): Generator<void, void> {
  if (!areCompiled) yield* compileForms();
  areCompiled = true;
}

/** The sentences of a text that say that a rule no longer binds. */
export function liftSentences(text: string): string[] {
  return sentencesOf(text, (raw) => (isLift(raw) ? "lift" : null)).map((one) => one.text);
}

/** The sentences of messages that are a person's own standing instructions and preferences, or lift one, each with its message. */
export function* typedSteps<M>(records: readonly MessageRecord[], read: (record: MessageRecord) => M, shape: Shape<M>) {
  yield* formsCompiled();
  const stated: TypedSentence[] = [];
  const kindOf = (raw: string) => (isLift(raw) ? "lift" : standingKind(raw));
  let announced = false;
  for (const record of records) {
    yield;
    const typed = typedText(read(record), shape, record.origin);
    const sentences = announced ? [] : sentencesOf(typed, kindOf);
    for (const { kind, text } of sentences)
      stated.push({ text, source: record.seq, ...(kind === "lift" && { liftsAt: record.at }) });
    if (typed !== "") announced = ANNOUNCES.test(typed.slice(-MAX_SENTENCE));
  }
  return stated;
}

const MAX_SENTENCE = 400;
const LIST_MARK = /^\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+/;

/** What a sentence of a person asks for beyond this turn; null: nothing. */
function standingKind(raw: string): "instruction" | "preference" | null {
  if (raw.length > MAX_SENTENCE) return null;
  const sentence = raw.replace(LIST_MARK, "").trim();
  if (sentence.length < 8 || TOLD.test(sentence)) return null;
  const bare = sentence.replace(OPENERS, "");
  const asks = /[?\uff1f]["')\]]*$/.test(sentence);
  const orders = !asks && (INSTRUCTIONS.some((form) => form.test(bare)) || isBan(bare));
  if (orders && !STATEMENT.test(bare) && !isAdvice(bare)) return "instruction";
  return PREFERENCES.some((form) => form.test(bare)) && !ONCE.test(bare) ? "preference" : null;
}

/** Whether a person says that something no longer binds. Sure or no: a rule that stays can be ended by hand. */
function isLift(raw: string): boolean {
  if (raw.length > MAX_LIFT || /[?\uff1f]["')\]]*\s*$/.test(raw)) return false;
  const sentence = raw.replace(LIST_MARK, "").trim();
  return LIFTS.test(sentence.replace(OPENERS, "")) && !TOLD.test(sentence) && !LIMITED.test(sentence);
}

const MAX_LIFT = 200;
const LIFTS = new RegExp(
  [
    "(?:you can |you may )?(?:forget|drop|cancel|lift|scrap|remove|discard) (?:about )?(?:that|this|the|my)(?: \\w+)? (?:rule|instruction|ban)(?![\\p{L}])",
    "(?:that|this|the)(?: \\w+)? (?:rule|instruction|ban)(?: (?:about|on|against) .+)? (?:no longer (?:applies|holds|counts|stands)|does(?:n'?t| not) (?:apply|hold|count) any ?more|is (?:off|over|void|lifted|cancel+ed|gone|obsolete))",
    "(?:you (?:may|can|are allowed to|don'?t (?:have|need) to|do not (?:have|need) to|no longer (?:have|need) to|needn'?t)|it(?:'s| is) (?:fine|ok|okay|all right|allowed)(?: for you)? to|feel free to) .+ (?:again|any ?more|from now on)[.!]*$",
    "you no longer (?:have|need) to .+|[\\p{L} -]{3,60} (?:is|are) (?:allowed|fine|ok|okay|permitted|welcome) (?:again|from now on)[.!]*$",
    "(?:answer|reply|respond|speak|write) (?:to me )?in \\p{L}+ again[.!]*$",
    "vergiss (?:bitte )?(?:die|diese|jene)(?: \\p{L}+)? (?:regel|anweisung)(?!\\p{L})|(?:die|diese) (?:regel|anweisung) gilt nicht mehr|du (?:musst|brauchst) .*(?<!\\p{L})nicht mehr(?!\\p{L})|du (?:darfst|kannst) (?:jetzt )?wieder ",
    "oublie(?:z)? (?:cette|la)(?: \\p{L}+)? (?:r\u00e8gle|consigne)(?!\\p{L})|cette r\u00e8gle ne s'applique plus|tu peux (?:de|\u00e0) nouveau |olvida (?:esa|esta|la)(?: \\p{L}+)? (?:regla|instrucci\u00f3n)(?!\\p{L})|esa regla ya no |ya no (?:tienes|hace falta) que |puedes volver a ",
  ]
    .map((form) => `^(?:please |bitte )?(?:${form})`)
    .join("|"),
  "iu",
);
/** For one case, or on a condition. */
const LIMITED =
  /\b(?:once|if|when|unless|until|after|as soon as|only|just|for (?:this|that|today|now)|today|this time|wenn|falls|sobald|nur|heute|diesmal|si|quand|seulement|cuando|solo|hoy)(?!\p{L})/iu;

/** Somebody else's rule, or one that is only spoken about. */
const TOLD =
  /\b(?:he|she|they|it|people|everyone|everybody|docs?|documentation|guide|book|article|teacher|boss|manager|mom|mother|dad|father|doctor|friends?|linter|compiler|error|message|sign|notice|grandmother|grandfather) (?:always |often |usually |used to )?(?:said|says|say|told|tells|tell|states?|stated|recommends?|recommended|suggests?|suggested|warns?|warned|wrote|writes)\b|\b(?:is|are|was) (?:a|an|the|good|bad|common|best|sound|terrible|great) (?:\w+ ){0,2}(?:advice|practice|rule|idea|motto|saying|principle|tip|mistake)\b/i;

/** Somebody else's text comes with the next message. */
const ANNOUNCES =
  /\b(?:next message|(?:what|which|that) i(?:'ll| will)? (?:send|paste|post|share) next|i(?:'ll| will| am going to|'m going to) (?:now )?(?:paste|forward|copy)|(?:check|proofread|translate|summari[sz]e|rewrite|review) (?:this|the (?:following|next))\b[^.!?\n]{0,40}[?:.]?\s*$|(?:here is|here's|this is|these are)\b[^.!?\n]{0,80}:\s*$)/i;

/** Verbs by which one tells somebody what to do; the same word as a noun or adjective doesn't begin such a sentence. */
const VERBS =
  `abbreviate acknowledge add address adhere adjust adopt align allow analyze annotate answer apologize append apply approach arrange
ask assume attach avoid back base begin be break bring build bullet bump calculate call capitalize caption change check choose cite clarify
clean close code combine comment commit compare compute confirm consider consult continue convert copy correct cover create credit
date debug declare default define delete deliver deploy describe design detail disclose display divide do document double-check draft edit
emphasize enable encode encrypt end ensure escape estimate evaluate exclude explain export express factor favor fetch fill find
finish flag focus follow force-push format generate give go greet group guard handle hide highlight hold identify ignore illustrate import include
incorporate indent indicate inform insert install integrate introduce justify keep label lead leave limit link list localize lock log
maintain make mark match measure mention merge mock modify move name normalize note notify number offer omit open optimize order
organize outline output overwrite pad paraphrase parse pass paste phrase pick pin place post prefer prefix prepare present preserve print
prioritize produce pronounce propose provide push put quote raise rank rate read rebase recommend record refer reference reflect
refrain refresh reject remember remind remove rename render repeat replace reply report request require respect respond restate return
review revise rewrite round run sanitize save say schedule select send separate set share shorten show sign simplify skip sort spell specify
speak spell split squash stage speak start state stay stick stop store structure style submit suggest summarize support switch tag talk
target tell terminate test touch trace track transcribe translate treat trim truncate try type underline update use validate verify version
walk warn wear work wrap write`
    .split(/\s+/)
    .join("|");

const ADVERB = "(?:also |just |only |first |please |explicitly |clearly |at least |not )?";
const DO = `${ADVERB}(?:${VERBS})\\b`;
const PLEASE = "(?:please |kindly )?";
const NEGATIVE = "(?:don'?t|do not|never|no longer|stop|avoid)";
const ALWAYS = "(?:al{1,2}ways|never)";
const FROM_NOW =
  "(?:from now on(?:wards?)?|from here on(?: out)?|going forward|moving forward|from this point (?:on|forward)|in (?:the )?future|for the rest of (?:this|our) (?:conversation|chat|session|project|thread)|in this (?:conversation|chat|project|thread|repo|repository)|as a (?:general )?rule|until i say otherwise|unless i say otherwise)";
const YOU =
  "(?:you should|you must|you need to|you have to|you are to|you're to|i want you to|i need you to|i'd like you to|i would like you to|i expect you to|make sure (?:to|you|that you)|be sure (?:to|you)|remember to|try to)";
const ORDER = `${PLEASE}(?:${YOU} )?(?:${ALWAYS} )?(?:only )?(?:${NEGATIVE} )?(?:ever |always |only )?(?:${VERBS})\\b`;
/** Words that make an order last. */
const LASTING =
  "(?:at all times|throughout[.!]*$|(?:every|each) (?:single )?time|until further notice|(?:until|unless) i (?:say|tell|ask|approve|confirm|allow)|no matter (?:what|how|who|when|where)|by default|now or later|(?:goes|applies|holds|counts) (?:for|to) (?:the whole|every|all)|,? ever[.!]*$)";
const ANSWERS =
  "(?:answers?|responses?|replies|reply|messages?|outputs?|explanations?|summaries|summary|code(?: (?:samples|examples|blocks|snippets))?|snippets|examples|commits?|commit messages|pull requests|prs|tests|emails?|reports|documents|documentation|comments|translations|functions|files|scripts)";

const ONE_ANSWER =
  "(?:answer|response|reply|message|output|explanation|summary|code (?:sample|example|block|snippet)|snippet|example|commit(?: message)?|pull request|pr|test|email|report|document|comment|translation|function|file|script|module|class)";

const INSTRUCTIONS = [
  `^${PLEASE}(?:al{1,2}ways|never(?: ever)?|don'?t ever|do not ever|under no circumstances(?: should you)?) ${DO}`,
  `^${FROM_NOW},? ${ORDER}`,
  `^(?:(?:always|never) )?${NEGATIVE} (?:ever )?(?:${VERBS}|using|adding|writing|giving|saying|asking|calling|including|suggesting|repeating|putting|making|starting|ending|formatting|touching|changing|committing|pushing|apologizing)\\b.*\\b(?:again|any ?more|ever|${FROM_NOW})[.!]*$`,
  `^${ORDER}.*[ ,]${FROM_NOW}[.!]*$`,
  `^${YOU} (?:always|never|${FROM_NOW})\\b`,
  `^(?:i want|i need|i expect|i'd like|i would like) (?:all )?(?:of )?(?:your|the) ${ANSWERS} to always\\b`,
  `^(?:i want|i need|i expect|i'd like|i would like) (?:all|every|each)(?: of)?(?: (?:your|my|our|the))* ${ANSWERS} to\\b`,
  `^(?:when|whenever|any time|anytime|every time|each time|if) (?:i|you)(?:'re| are)? (?:ever )?(?:ask|asks|request|say|mention|type|write|send|give|share|paste|answer|reply|respond|explain|show|generate|create|suggest|recommend|write|edit|change|propose|present|describe|talk|discuss|writing|answering|explaining|giving|editing|generating)\\b[^,]*, ?(?:then )?${PLEASE}(?:${YOU} )?(?:always |never )?(?:${NEGATIVE} )?(?:ever )?(?:${VERBS})\\b`,
  `^(?:in|for|with) (?:all|every|any|each)(?: of)?(?: (?:your|my|our|the|future|new))* ${ANSWERS}\\b[^.]*?,? ?(?:${ORDER}|there (?:should|must)|i want|no )`,
  `^(?:for|in) (?:all|every|any) (?:future|further|later)\\b[^,]*, ?${ORDER}`,
  `^${PLEASE}(?:${VERBS})\\b.* (?:when(?:ever)?|every time|each time|any time) i (?:ask|request|say|mention|type|talk)\\b`,
  `^(?:all|every|each)(?: of)?(?: (?:your|my|our|the|future|new))* ${ANSWERS} (?:should|must|need to|have to|has to) (?:always |never |not |also )?(?:be|have|use|include|contain|start|begin|end|follow|come|go|stay|fit|mention|cite|state|compile|pass)\\b`,
  `^(?:all |the |your |our |my )*${ANSWERS} (?:should|must) (?:always|never)\\b`,
  `^(?:always|never),? (?:and i mean (?:always|never),? )${DO}`,
  // Bans.
  `^you(?:'re (?:not|never) (?:allowed|permitted) to| (?:may not|must not|mustn't|must never|are not allowed to|aren't allowed to|are never (?:allowed )?to|are not to|may never|should never)) (?:ever )?(?:${VERBS})\\b`,
  `^you (?:can't|cannot|can not|may only|can only|only) (?:ever )?(?:${VERBS})\\b.*\\b(?:without|unless|ever|any|anything|every|all)\\b`,
  `^i (?:don'?t|do not|never) want you to (?:ever )?(?:${VERBS})\\b.*|^i (?:don'?t|do not) ever want you to`,
  "^(?:stop|quit) (?:ending|starting|beginning|calling me|apologi[sz]ing|repeating|telling me|asking me|giving me|sending me|adding|putting|using|saying|writing)\\b(?!.*\\b(?:now|today|for a (?:moment|minute)|until|it|this|that)\\b)",
  "^no more [a-z ]{3,40} (?:in|from|for|please|when)\\b",
  `^no [a-z -]{3,40},? (?:ever|${FROM_NOW})[.!]*$`,
  `^${FROM_NOW},? (?:all|every|each|no) [a-z]+`,
  `^let'?s (?:always |never |only )?(?:${VERBS})\\b.* ${FROM_NOW}[.!]*$`,
  `^${PLEASE}${NEGATIVE} (?:ever )?(?:${VERBS})\\b.* (?:without (?:asking|telling|checking|my)|(?:unless|until) (?:i|we)(?:'ve)? (?:say|tell|ask|approve|agree|confirm|said|told|approved|agreed))\\b`,
  `^${PLEASE}(?:always )?(?:ask|consult|tell|warn|check with) me (?:first )?before (?:you )?(?:\\w+ing|${VERBS})\\b.*\\b(?:any\\w*|every\\w*|each|all)\\b`,
  `^before you (?:${VERBS})\\b[^,]*\\b(?:any\\w*|every\\w*|each|all)\\b[^,]*, ?${ORDER}`,
  "^it(?:'s| is) (?:very |really |so )?(?:important|essential|crucial|vital) (?:that you (?:always|never)|to (?:always|never))\\b",
  `^${PLEASE}(?:refer to|address) me (?:as|by)\\b`,
  "^[^.]{3,80}?\\b(?:is|are) (?:not|never) to be [a-z]+\\b.*\\b(?:ever|by you|for me|under any circumstances)\\b",
  "^[^.]{3,80}?\\bmust (?:not|never) be [a-z]+\\b.*\\bby you\\b",
  // An order for every case of a kind, or one that lasts.
  `^(?:before|after|for|in|with|on|at) (?:every|each|all|any)\\b[^,.]{2,90}, ?${ORDER}`,
  `^${PLEASE}(?:(?:don'?t|do not) use|use|avoid|prefer|stick to) (?!(?:the|this|that|these|those|what|my|its?)\\b)[^,.]{2,60} (?:in|for|with) (?:every|each|(?:all|any)(?: (?:of your|of our|your|our|my|future|new))*) (?:${ANSWERS}|${ONE_ANSWER})[.!]*$`,
  `^(?:whenever|every time|each time|any ?time)\\b[^,.]{3,100}(?:, ?|\\u00b7 ?)(?:then )?${ORDER}`,
  `^(?:when|if) (?:an?|any|some ?one|some ?body|customers?|people|users?|clients?)\\b[^,.]{3,90}, ?(?:then )?${ORDER}`,
  `^${ORDER}.*\\b(?:every|each|any|all|everything|anything)\\b[^.]{0,40}\\byou (?:${VERBS})\\b`,
  `^${ORDER}.*(?:^|[ ,])${LASTING}`,
  `^(?:by default|at all times|as a default|in general),? ${ORDER}`,
  `^(?:all|any|every|each)\\b[^.]{2,60}\\byou (?:${VERBS})\\b[^.]{0,40}\\b(?:must|has to|have to|should|needs? (?:to|an?|its))\\b`,
  "^(?:our|my|house|project)(?: \\w+)? (?:conventions?|guidelines?|polic(?:y|ies)|standards?): ?\\S",
  "^(?:let's (?:set|make|have|agree on) )?(?:an? |one |another |my |the |new |ground |house |general |simple )*rule(?: \\d+| number \\w+| for (?:you|(?:this|the|our) \\w+))?: ?\\S",
  // German, French, Spanish, Dutch: the same few forms.
  "^wenn ich (?:dir |euch )?[^,]{3,80}, (?:dann )?(?:bitte )?\\p{L}+ (?:mir |dich |bitte )?(?:k\u00fcnftig|immer|stets|ab jetzt|in zukunft|nie|niemals)(?!\\p{L})",
  "^n(?:e |')\\p{L}+ (?:\\p{L}+ )?jamais(?!\\p{L})",
  "^(?:\u00e0 )?chaque fois que [^,]{3,90}, ?\\p{L}+-(?:moi|le|la|les|nous)(?!\\p{L})",
  "^(?:de ahora en adelante|a partir de ahora|en adelante|a partir de hoy)[, ]+(?:siempre |nunca |por favor,? )*\\p{L}{3,}(?:me|nos)(?!\\p{L})",
  "^nunca (?!jam|m[\u00e1a]s|veces|antes)\\p{L}{2,}[ae]s(?!\\p{L})",
  "^(?:vanaf nu|voortaan|in het vervolg)[, ]+(?:graag |alleen |altijd |nooit )*\\p{L}+",
  "^(?!(?:ik|we|wij|hij|ze|zij|het|dat|er|u|je|jij|dit|die) )\\p{L}+ (?:me |mij |dat |dit )?(?:vanaf nu |voortaan )?(?:nooit|voortaan|altijd)(?!\\p{L})(?=.*\\b(?:een|de|het|mij|me|zonder|in|met)\\b)",
  "^(?:ab jetzt|ab sofort|von nun an|in zukunft|k\u00fcnftig|zuk\u00fcnftig)[, ]+(?:bitte )?(?:immer |nie |niemals |nur )?(?:antworte|schreibe?|verwende|nutze|benutze|nenne|gib|zeige?|f\u00fcge|mach|mache|halte|formatiere|sag|sage|erkl\u00e4re|nimm|vermeide|lass)\\b",
  "^(?:bitte )?(?:antworte|schreibe?|verwende|nutze|benutze|nenne|gib|zeige?|f\u00fcge|mache?|halte|formatiere|sage?|erkl\u00e4re|nimm|(?:ver)?\u00e4ndere|bearbeite|l\u00f6sche|entferne|frage?|pr\u00fcfe|teste|installiere|erw\u00e4hne|duze|sieze) (?:\\p{L}+ )?(?:mir |mich |bitte |dich |ab jetzt |ab sofort )*(?:immer|nie|niemals|stets|k\u00fcnftig|ab jetzt|ab sofort|in zukunft)(?!\\p{L})",
  "^(?:\u00e0 partir de maintenant|d\u00e9sormais|dor\u00e9navant|\u00e0 l'avenir)[, ]+(?:toujours |merci de )?(?:r\u00e9ponds|r\u00e9pondez|\u00e9cris|\u00e9crivez|utilise|utilisez|donne|donnez|ajoute|ajoutez|mets|mettez|fais|faites|explique|expliquez|\u00e9vite|\u00e9vitez|n'utilise|n'utilisez|ne )",
  "^(?:r\u00e9ponds|r\u00e9pondez|\u00e9cris|\u00e9crivez|utilise|utilisez|donne|donnez|ajoute|ajoutez|n'utilise|n'utilisez|n'\u00e9cris) (?:toujours|jamais|syst\u00e9matiquement)\\b",
  "^(?:de ahora en adelante|a partir de ahora|en el futuro|en adelante)[, ]+(?:siempre |nunca |no )?(?:responde|escribe|usa|utiliza|da|a\u00f1ade|agrega|incluye|muestra|explica|evita|uses|escribas)\\b",
  "^(?:responde|escribe|usa|utiliza|a\u00f1ade|agrega|incluye|muestra|explica|evita) siempre(?!\\p{L})",
  "^tutoie-moi(?!\\p{L})|^(?:rispondi|scrivi|usa|utilizza|aggiungi|mostra|spiega|evita) (?:sempre|mai)(?!\\p{L})|^(?:d'ora in poi|da ora in poi)[, ]+(?:rispondi|scrivi|usa|utilizza|evita|non)(?!\\p{L})|^non \\p{L}+[aei]re mai(?!\\p{L})",
  "^(?:sempre|nunca) (?:responda|use|escreva|inclua|pergunte|mostre|evite|apague|altere|modifique|envie)(?!\\p{L})|^(?:responda|use|escreva|inclua|pergunte|mostre) sempre(?!\\p{L})|^(?:a partir de agora|de agora em diante)[, ]+(?:responda|use|escreva|evite)(?!\\p{L})",
  // Chinese, Japanese, Russian.
  "^\u8bf7?(?:\u59cb\u7ec8|\u603b\u662f|\u4e00\u76f4|\u6c38\u8fdc|\u4ece\u73b0\u5728\u8d77|\u4ece\u73b0\u5728\u5f00\u59cb|\u4ee5\u540e|\u4eca\u540e)[\uff0c,]?(?:\u90fd|\u8bf7)*(?:\u7528|\u4f7f\u7528|\u56de\u7b54|\u4e0d\u8981|\u522b|\u907f\u514d)(?!\u653e\u5f03)",
  "^(?:\u5e38\u306b|\u3044\u3064\u3082|\u5fc5\u305a|\u4eca\u5f8c[\u306f\u3082]?|\u3053\u308c\u304b\u3089\u306f?)[^\u3002\u3001]{2,60}(?:\u3066|\u3067)\u304f\u3060\u3055\u3044[\u3002\uff01!]?$",
  "^(?:\u0432\u0441\u0435\u0433\u0434\u0430|\u043d\u0438\u043a\u043e\u0433\u0434\u0430 \u043d\u0435) \\p{L}{3,}(?:\u0439|\u0439\u0442\u0435|(?<!\u0442)\u044c|\u044c\u0442\u0435|(?<!\u043b)\u0438|\u0438\u0442\u0435)(?!\\p{L})",
  "^(?:siempre|nunca) (?:responde|escribe|usa|utiliza|a\u00f1ade|agrega|incluye|muestra|explica|evita|uses|escribas|respondas)\\b",
].map(withAnyVerbFirst);

/** `Always use HTTPS is what they taught us`, `Never give up`: no word to the assistant. */
const STATEMENT =
  /^(?:always|never) (?:be yourself|give up|say never|stop learning|look (?:back|on)|read the comments|work[a-z]* (?:with|for) (?:children|animals))|^(?:always|never) [a-z]+(?: [a-z]+){0,3} (?:is|was|are|were|sounds|seems|has been|worked|works|became)\b/i;

/** Wisdom about a person's own life: an assistant climbs no mountain and leaves no house. */
const LIFE =
  /^(?:always|never|don['\u2019]?t ever|do not ever) (?:ever )?(?:(?:visit|travel|hike|climb|swim|ski|camp|ride|marry)(?![\w-])|attend (?:an?|the|any) |drive (?:an?|the|your|any) car|go to (?:bed|sea|sleep|war)\b|leave (?:(?:the|your) )?(?:house|home)\b|start (?:an?|the|your) day\b)/i;
/** What the user has to do with it, or what an assistant can visit. */
const OWN_MATTER = /\b(?:i|me|my|mine|we|us|our|(?:web ?)?(?:sites?|pages?)|urls?|links?|domains?|\w+\.[a-z]{2,6})\b/i;

function isAdvice(sentence: string): boolean {
  return LIFE.test(sentence) && !OWN_MATTER.test(sentence.slice(0, -1));
}

/** "I'd prefer" chooses for once; "I prefer" lasts. */
const PREFER =
  "i (?:really |generally |usually |much |always |strongly |personally |definitely |still |typically |normally |also |do )*prefere?\\b";

const PREFERENCES: readonly RegExp[] = [
  `^(?:well,? |personally,? |generally,? |in general,? |usually,? |overall,? |as always,? )?${PREFER}`,
  `\\b(?:and|but|so|because|since|as|though|although) ${PREFER}`,
  "\\bi(?:'d| would) (?:much )?rather you (?:always|never|didn't)\\b",
  "\\bmy (?:strong |general |personal )?preferences? (?:is|are|for)\\b",
  "\\bi have a (?:strong |clear |slight )?preference for\\b",
  "^i (?:don't|do not) (?:like it when you|like your|want you to ever)\\b",
  `^i (?:like|love|want) (?:my|your|all my|all your) (?:\\w+ )?(?:${ANSWERS}|texts|instructions) (?:to be|short|brief|concise|detailed|without)\\b`,
  // Likes and dislikes in general; of a thing that is pointed to one likes or dislikes that thing only.
  `^(?:(?:generally|personally|honestly|overall|usually)(?: speaking)?,? )?i(?:'m| am)? (?:really |generally |usually |just |also |so )*(?:dislike|detest|can'?t stand|don'?t (?:really )?(?:like|enjoy|care for)|do not (?:like|enjoy)|not (?:really )?(?:a (?:big |huge )?fan of|keen on|fond of|into)|a (?:big |huge )?fan of|fond of)(?! (?:this|that|it|the|your|these|those|him|her|them|how|what|where|when|to|my))\\b`,
  "^i (?:really |also )?(?:love|like|enjoy|prefer|appreciate|hate|dislike)(?: it)?(?: more| best| most)? when (?:you|code|answers|explanations|people|texts?|someone|functions|tests|things)\\b",
  "^i (?:really |generally |usually |always |personally )?(?:(?:like|love|enjoy|value|trust|read) [^.]{3,80} (?:more than|better than|rather than)|(?:value|favou?r|pick|choose) [^.]{3,60} over) \\p{L}",
  "^(?:given the choice,? )?i(?:'ll| will| would|'d)? always (?:pick|choose|go for|opt for|take)\\b",
  "\\b(?:works?|work) (?:best|better) for me\\b|\\bsuits? me (?:best|better)\\b|\\b(?:is|are) (?:nicer|easier|better|clearer) (?:to|for) me than\\b",
  "^my (?:favou?rite|preferred) way (?:to|of)\\b|^my taste in\\b",
  "^i(?:'m| am) (?:more of )?an? [a-z]+ (?:learner|thinker)\\b|^i(?:'m| am) (?:someone|a person|the type) who prefers\\b",
  "^(?:and |but |so |as )?i(?:'d| would) (?:much )?(?:rather|prefer)\\b.*\\b(?:in general|generally|usually|as a rule|always|normally)\\b",
  "^i find [^.]{3,60} (?:ugly|annoying|confusing|hard to read|distracting|helpful|easier)(?: and i(?:'d| would) rather|,| and would rather)",
  "^ich (?:bevorzuge|ziehe .{2,60} vor)(?!\\p{L})|^ich \\p{L}+ [^.]{2,60}\\blieber\\b|^mir (?:ist|sind) .{2,60} lieber\\b",
  "^(?:moi,? )?(?:je pr\u00e9f\u00e8re|j'aime mieux|je n'aime pas)(?! (?:ce|cette|cela|\u00e7a) )",
  "^(?:yo )?prefiero(?!\\p{L})(?! (?:est[aeo]s?|es[aeo]s?|el primero|la primera) )|^(?:a m\u00ed )?no me gustan? (?:los|las|que|el|la) [^.]{3,60}(?:, |$)",
  "^ik (?:geef de voorkeur aan|heb .{2,60} liever|\\p{L}+ .{0,60}\\bliever\\b)",
].map((form) => new RegExp(form, "iu"));

/** For this once. */
const ONCE =
  /\b(?:for now|this time|just this once|today|tonight|tomorrow|right now|at the moment|on this one|not to (?:say|answer|be transferred)|prefer (?:the|this|that) (?:\w+ )?(?:one|option|first|second|third|former|latter|cheapest|flight|seat|date))\b/i;

/** The list of verbs takes V8 long to compile. So a form is tried with any word as its verb first; few sentences have that shape. */
function withAnyVerbFirst(form: string): Pick<RegExp, "test"> {
  const exact = new RegExp(form, "iu");
  if (!form.includes(VERBS)) return exact;
  const loose = new RegExp(form.replaceAll(VERBS, "[a-z-]+"), "iu");
  return { test: (sentence) => loose.test(sentence) && exact.test(sentence) };
}

/** Compiles the forms, one in a step: their first two uses take 0.1 s of CPU in all, too long to block other work. */
function* compileForms(): Generator<void, void> {
  for (const form of [TOLD, ...INSTRUCTIONS, STATEMENT, LIFE, ...PREFERENCES, ONCE])
    for (const text of ["a", "b"]) {
      form.test(text);
      yield;
    }
}

/*
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
function isBan(sentence: string): boolean {
  const [, never, verb, rest] = BAN.exec(sentence.charAt(0).toLowerCase() + sentence.slice(1)) ?? [];
  if (verb === undefined || rest === undefined || SAYINGS.test(sentence)) return false;
  if (NO_ORDER.has(verb) || (NO_BARE_FORM.test(verb) && !VERBS_LIKE_OTHERS.has(verb))) return false;
  if (!OBJECT.test(rest) || TOLD_OF.test(rest)) return false;
  if (never === "never" && /\b(?:again|before|ever)[.!]*$/.test(rest)) return false;
  const states = STATES.exec(rest);
  return states === null || CLAUSE.test(rest.slice(0, states.index));
}
