/**
 * Words of a text. First English stems, by the published rules of the Porter2 (Snowball English) algorithm, plus a table of
 * irregular forms so that `went` meets `go`. Pure and total: any lower-case string goes in, a non-empty one comes out. Words
 * with anything but a-z in them come back as they are. Below: which of a message's words are its author's own.
 */

export function stem(word: string): string {
  const known = recent.get(word);
  if (known !== undefined) return known;
  if (word.length < 3 || word.length > LONGEST || !/^[a-z]+$/.test(word)) return word;
  const stemmed = earlier.get(word) ?? porter2(IRREGULAR.get(word) ?? word);
  if (recent.size >= CACHE_LIMIT) [earlier, recent] = [recent, new Map()];
  recent.set(word, stemmed);
  return stemmed;
}

/** No English word is longer; the rules are not meant for encoded data. */
const LONGEST = 40;
/** A pure function's memo: dropping it changes nothing but the time. What is used stays when the rest goes. */
let recent = new Map<string, string>();
let earlier: ReadonlyMap<string, string> = new Map();
const CACHE_LIMIT = 50_000;

function porter2(input: string): string {
  const special = SPECIAL.get(input);
  if (special !== undefined) return special;
  let word = input.replace(/^y/, "Y").replace(/([aeiouy])y/g, "$1Y");
  const [r1, r2] = regions(word);
  word = plural(word);
  if (KEPT_AFTER_PLURAL.has(word)) return word;
  word = pastAndGerund(word, r1);
  word = word.replace(/(?<=.[^aeiouy])[yY]$/, "i");
  word = replaceSuffix(word, STEP2, r1);
  word = replaceSuffix(word, STEP3, r1, r2);
  word = removeSuffix(word, r2);
  word = finalLetters(word, r1, r2);
  return word.replaceAll("Y", "y");
}

const DOUBLE = /(bb|dd|ff|gg|mm|nn|pp|rr|tt)$/;

const SPECIAL = new Map([
  ["skis", "ski"],
  ["skies", "sky"],
  ["dying", "die"],
  ["lying", "lie"],
  ["tying", "tie"],
  ["idly", "idl"],
  ["gently", "gentl"],
  ["ugly", "ugli"],
  ["early", "earli"],
  ["only", "onli"],
  ["singly", "singl"],
  ["sky", "sky"],
  ["news", "news"],
  ["howe", "howe"],
  ["atlas", "atlas"],
  ["cosmos", "cosmos"],
  ["bias", "bias"],
  ["andes", "andes"],
]);
const KEPT_AFTER_PLURAL = new Set([
  "inning",
  "outing",
  "canning",
  "herring",
  "earring",
  "proceed",
  "exceed",
  "succeed",
]);

/** R1 begins after the first non-vowel that follows a vowel, R2 likewise inside R1. */
function regions(word: string): [number, number] {
  const prefix = /^(gener|commun|arsen)/.exec(word);
  const r1 = prefix ? prefix[0].length : regionFrom(word, 0);
  return [r1, regionFrom(word, r1)];
}

function regionFrom(word: string, start: number): number {
  const offset = word.slice(start).search(/[aeiouy][^aeiouy]/);
  return offset < 0 ? word.length : start + offset + 2;
}

function plural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (/(ied|ies)$/.test(word)) return word.length > 4 ? word.slice(0, -2) : word.slice(0, -1);
  if (/(us|ss)$/.test(word)) return word;
  return /^[^aeiouy]*[aeiouy].+s$/.test(word) ? word.slice(0, -1) : word;
}

function pastAndGerund(word: string, r1: number): string {
  const eed = /(eedly|eed)$/.exec(word);
  if (eed) return eed.index >= r1 ? `${word.slice(0, eed.index)}ee` : word;
  const suffix = /(ingly|edly|ing|ed)$/.exec(word);
  if (!suffix || !/[aeiouy]/.test(word.slice(0, suffix.index))) return word;
  const rest = word.slice(0, suffix.index);
  if (/(at|bl|iz)$/.test(rest)) return `${rest}e`;
  if (DOUBLE.test(rest)) return rest.slice(0, -1);
  return isShort(rest, r1) ? `${rest}e` : rest;
}

function isShort(word: string, r1: number): boolean {
  return r1 >= word.length && endsInShortSyllable(word);
}

function endsInShortSyllable(word: string): boolean {
  return /(^[aeiouy][^aeiouy]|[^aeiouy][aeiouy][^aeiouywxY])$/.test(word);
}

const STEP2: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["fulness", "ful"],
  ["iveness", "ive"],
  ["ization", "ize"],
  ["ousness", "ous"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["tional", "tion"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ation", "ate"],
  ["entli", "ent"],
  ["fulli", "ful"],
  ["iviti", "ive"],
  ["ousli", "ous"],
  ["abli", "able"],
  ["alli", "al"],
  ["anci", "ance"],
  ["ator", "ate"],
  ["enci", "ence"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["ogi", "og"],
  ["li", ""],
];
const STEP3: readonly (readonly [string, string])[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["ative", ""],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];

/** Longest suffix first; what it needs before it or around it is Porter2's own list of conditions. */
function replaceSuffix(word: string, table: typeof STEP2, r1: number, r2 = 0): string {
  for (const [suffix, replacement] of table) {
    if (!word.endsWith(suffix)) continue;
    const at = word.length - suffix.length;
    if (at < r1) return word;
    if (suffix === "ogi" && word[at - 1] !== "l") return word;
    if (suffix === "li" && !/[cdeghkmnrt]$/.test(word.slice(0, at))) return word;
    if (suffix === "ative" && at < r2) return word;
    return word.slice(0, at) + replacement;
  }
  return word;
}

function removeSuffix(word: string, r2: number): string {
  const suffix = /(ement|ance|ence|able|ible|ment|ant|ent|ism|ate|iti|ous|ive|ize|ion|al|er|ic)$/.exec(word);
  if (!suffix || suffix.index < r2) return word;
  if (suffix[0] === "ion" && !/[st]$/.test(word.slice(0, suffix.index))) return word;
  return word.slice(0, suffix.index);
}

function finalLetters(word: string, r1: number, r2: number): string {
  const at = word.length - 1;
  if (word.endsWith("e")) {
    const rest = word.slice(0, -1);
    return at >= r2 || (at >= r1 && !endsInShortSyllable(rest)) ? rest : word;
  }
  return word.endsWith("ll") && at >= r2 ? word.slice(0, -1) : word;
}

/** Irregular English forms and the form they are indexed as. A table about the language, not about any data set. */

const FORMS = `
go went gone goes; be been; do did done does; have had has; see saw seen; take took taken; give gave given; get got gotten;
make made; come came; become became; run ran; begin began begun; buy bought; bring brought; think thought; teach taught;
catch caught; fight fought; seek sought; find found; feel felt; keep kept; leave left; lose lost; mean meant; meet met;
sleep slept; sweep swept; weep wept; creep crept; deal dealt; dream dreamt; learn learnt; burn burnt; spell spelt; spend spent;
send sent; lend lent; bend bent; build built; tell told; sell sold; say said; pay paid; hear heard; hold held; stand stood;
understand understood; win won; sit sat; speak spoke spoken; break broke broken; choose chose chosen; freeze froze frozen;
steal stole stolen; wake woke woken; wear wore worn; tear tore torn; swear swore sworn; bear bore borne; drive drove driven;
ride rode ridden; rise rose risen; write wrote written; hide hid hidden; bite bit bitten; eat ate eaten; fall fell fallen;
forget forgot forgotten; forgive forgave forgiven; know knew known; grow grew grown; throw threw thrown; fly flew flown flies;
draw drew drawn; show shown; blow blew blown; sing sang sung; ring rang rung; drink drank drunk; swim swam swum; sink sank sunk;
shrink shrank shrunk; stick stuck; strike struck; swing swung; hang hung; dig dug; spin spun; sting stung; shoot shot; shine shone;
light lit; lead led; feed fed; breed bred; bleed bled; speed sped; flee fled; slide slid; lay laid; lie lain; grind ground;
wind wound; bind bound; overcome overcame; undergo underwent undergone; undertake undertook undertaken; withdraw withdrew withdrawn;
mistake mistook mistaken; shake shook shaken; arise arose arisen; weave wove woven; sew sewn; sow sown; mow mown; prove proven;
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; goose geese; wife wives;
knife knives; leaf leaves; shelf shelves; half halves; wolf wolves; thief thieves; loaf loaves; self selves; calf calves;
good better best; bad worse worst; analysis analyzes; crisis crises; hypothesis hypotheses; criterion criteria;
phenomenon phenomena; index indices indexes; vertex vertices; matrix matrices; schema schemata; photo photograph photos;
mom mother mum mommy; dad father daddy; bike bicycle; television tv; picture pic pics; movie film films movies;
1 one; 2 two; 3 three; 4 four; 5 five; 6 six; 7 seven; 8 eight; 9 nine; 10 ten
`;

/** From every form to the first of its row. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  FORMS.split(";").flatMap((row) => {
    const [base, ...forms] = row.trim().split(/\s+/);
    return forms.map((form): [string, string] => [form, base!]);
  }),
);

// Whose words a message of a user holds: the user's own, or code, quotations and texts that somebody else wrote and
// the user only shows. One answer for everybody who reads what a user wants or tells. When in doubt they are not the
// user's. Pure, total on every string, linear; the text keeps its length, so that what is found in it can be cut out
// of the message itself.

export interface OwnWordsOptions {
  /** `all`: nothing in quotation marks or inline code counts. `reported`: only what somebody is reported to have said doesn't. */
  readonly quotes: "all" | "reported";
  /** `strict`: of a message with over 500 characters only the first paragraph is sure to be the user's. `open`: all that tells in the first person. */
  readonly paragraphs: "strict" | "open";
  /** Sentences that are known to be the user's for another reason. */
  readonly isKnown?: (sentence: string) => boolean;
}

/** Stands for each character that is not the user's own. */
export const NOT_OWN = "\u00b7";

/** The same length, with `NOT_OWN` for all that isn't the user's own. */
export function ownWords(text: string, options: OwnWordsOptions): string {
  const plain = masked(text, options.quotes);
  const end = endOfOwn(plain, options);
  return plain.slice(0, end) + hide(plain.slice(end));
}

/** Sentences and lines of a text, without gaps between them. */
export function* sentencesIn(
  text: string,
): Generator<{ readonly start: number; readonly end: number; readonly border: string }> {
  let start = 0;
  for (const border of [...text.matchAll(BORDER), null]) {
    const end = border === null ? text.length : border.index + border[0].length;
    yield { start, end, border: border?.[0] ?? "" };
    start = end;
  }
}

const BORDER = /\n\s*|(?<![.!?])[.!?]+["')\]]*\s+|[\u3002\uff01\uff1f]/g;
/** Of a longer message only the first paragraph is sure to be the user's. */
const SHORT_MESSAGE = 500;
/** No longer sentence is looked at whole. */
const MAX_SENTENCE = 400;

/** Where somebody else's text begins. */
function endOfOwn(plain: string, { paragraphs, isKnown = () => false }: OwnWordsOptions): number {
  let own = paragraphs === "open" || plain.length <= SHORT_MESSAGE;
  for (const { start, end, border } of sentencesIn(plain)) {
    const sentence = plain.slice(start, end);
    if (start > 0 && OPENS_LETTER.test(sentence)) return start;
    if (isTitle(sentence.trim(), plain.slice(end, end + 8))) return end;
    // What is introduced may stand between marks of its own, and after them the user goes on.
    const isMarked = paragraphs === "open" && plain.slice(end).trimStart().startsWith(NOT_OWN);
    if (introduces(sentence) && !isMarked) {
      const colon = sentence.search(/[:\uff1a](?=\s|$)/);
      return colon < 0 ? end : start + colon + 1;
    }
    own &&= isKnown(sentence) || isOwn(sentence);
    if (!own && isParagraph(border)) return end;
  }
  return plain.length;
}

/** The name of a file over its text, or a heading over a list that does not address the assistant. Greetings and words such as "Rules" are the user's own. */
function isTitle(line: string, next: string): boolean {
  if (RULES.test(line) || TELLS.test(line) || next.trim() === "") return false;
  return (
    FILE_NAME.test(line) || (HEADING.test(line) && !ADDRESSES.test(line) && /^(?:[-*+\u2022]|\d{1,2}[.)])\s/.test(next))
  );
}

const FILE_NAME = /^[\w./-]{1,80}\.[a-z]{1,5}$/i;
const HEADING = /^[\p{L}\p{N}][^.!?:\uff1a\n]{0,80}$/u;
const ADDRESSES = /(?<!\p{L})(?:you|your|please|me|my|our|we|us|always|never|don't|bitte|immer|nie)(?!\p{L})/iu;

function isParagraph(border: string): boolean {
  return border.split("\n").length > 2;
}

/** Whether what follows may be somebody else's text. */
function introduces(raw: string): boolean {
  const whole = raw.slice(0, MAX_SENTENCE).trim();
  const sentence = whole.replace(OPENERS, "");
  if (INTRODUCES.some((form) => form.test(sentence))) return true;
  const colon = /[:\uff1a](?=\s|$)/.exec(sentence);
  if (colon === null) return false;
  const before = sentence.slice(0, colon.index);
  return isParagraph(raw) || !(RULES.test(before) || KEEPS.test(whole.slice(0, before.length - sentence.length)));
}

/** What the user tells before a further paragraph, in words that leave no doubt whose that paragraph is. */
function isOwn(raw: string): boolean {
  const sentence = raw.trim();
  if (!/\p{L}/u.test(sentence)) return true;
  return TELLS.test(sentence) && !POINTS.test(sentence) && !/[?\uff1f:]["')\]]*$/.test(sentence);
}

/** With these words and a colon or comma a person asks to keep in mind what comes next in the line. */
const KEEP = [
  "(?:i (?:want|need|would like|'d like) you to )?(?:remember|note|memori[sz]e|don['\u2019]?t forget|do not forget|take note of)(?: (?:this|that|it|one thing|my rules?))?(?: well)?",
  "(?:i (?:want|need|would like|'d like) you to )?(?:keep|bear)(?: (?:this|that|it|one thing))? in mind",
  "(?:let me|to|i want to) be (?:very |perfectly |absolutely )?clear|(?:i|let me|to) repeat(?: myself)?|one (?:more |last |other )?rule",
  "merk(?:e)? dir(?: bitte)?(?: das)?|denk(?:e)? bitte daran|retiens(?: bien)?(?: ceci| \u00e7a)?|n'oublie pas(?: ceci)?|recuerda(?: esto)?|ten en cuenta(?: esto)?|onthoud?(?: dit)?|ricorda(?:ti)?(?: questo)?",
].join("|");

const TAKES_BACK = "(?:forget|ignore|disregard|scrap|never mind) [^,;:.!?]{2,60}|i(?:'ve| have)? changed my mind";

/** What may stand before a sentence and changes nothing. */
export const OPENERS = new RegExp(
  `^(?:(?:(?:${TAKES_BACK})[,;:\u2014]|(?:${KEEP})(?:\\s?[,:;!.\u2014-]+| that(?= you\\b))|from now on:|(?:oh|ok(?:ay)?|so|and|but|also|again|now|right|thanks|thank you|great|perfect|got it|sure|yes|no(?=[,:;!.])|hey|hi|note|reminder|important|rule(?! for)|one more thing|one thing|another thing|by the way|btw|fyi|just|please|pls|kindly|remember|and remember|for the record|for future reference|bitte|s'il (?:te|vous) pla[i\u00ee]t|por favor)[,:;!.\u2014-]*)\\s+)+`,
  "i",
);

const TEXTS =
  "(?:texts?|e-?mails?|letters?|messages?|articles?|posts?|(?:web ?)?pages?|paragraphs?|sentences?|notes?|quotes?|documents?|contracts?|transcripts?|conversations?|chats?|tweets?|speech|story|poem|answer|reply|issue|ticket|snippet|web|pdf|files?)";
const INTRODUCES: readonly RegExp[] = [
  "^(?:(?:can|could|would|will) you )?(?:please )?(?:translate|summari[sz]e|sum up|rewrite|rephrase|reword|paraphrase|proofread|shorten|polish|transcribe|\u00fcbersetz\\w*|traduis\\w*|traduc\\w*|r\u00e9sume\\w*|resume)(?!\\p{L})",
  `\\b(?:this|these|that|those|following) (?:\\w+ )?${TEXTS}\\b`,
  "\\b(?:the following|below|pasted|copied|forwarded|posted by)\\b",
  "\\b(?:tool|function|command|search|shell|api)[ _-](?:results?|outputs?|responses?|returned|said|says)\\b",
  "\\b(?:linter|compiler|build|ci|console|terminal|log|script|program|server) (?:printed|prints|says|said|shows|showed|reports?|reported|logged|gave|returned)\\b",
  "^\\[[^\\]\\n]{1,80}\\]$",
  `\\bhere(?:'s| is| are| comes?) (?:the|a|an|my|what|some|his|her|their|our)\\b`,
  "\\b(?:found|got|received|saw|read|sent|gave|wrote)(?: \\w+)? (?:this|these)\\b",
  "\\b(?:wrote|writes|said|says|told \\w+|replied|answered|asked)\\s*[:\u00b7]",
  "-{3}|={3}|_{3}|\\*{3}",
  "^(?:dear|sehr geehrte\\w*|liebe[rs]?|cher|ch\u00e8re|estimad\\w+) ",
].map((form) => new RegExp(form, "iu"));
/** A salutation or the head of a mail that doesn't begin the message begins somebody's letter. */
const OPENS_LETTER = /^\s*(?:dear\b|hi \p{L}+,|hello \p{L}+,|from:|to:|subject:|on .{4,60} wrote:)/iu;
/** After such words and a colon come the user's own. */
const RULES =
  /\b(?:rules?|instructions?|preferences?|guidelines?|conventions?|remember|note|reminder|important|for you|from now on)\b/i;
const KEEPS = new RegExp(`^(?:(?:and|but|so|also|just|ok|please|bitte),? )*(?:${KEEP})\\s?$`, "i");
const TELLS =
  /^(?:(?:hi|hello|hey|thanks|thank you|ok|okay|great|good|perfect|nice|cool|yes|no|sure)(?: there| so much| a lot| morning| evening)?[.!,]*$|(?:thanks|thank you|ok|okay|great|perfect|yes|no),? (?:that|it|i)\b|(?:i|i'm|i've|i'd|my|we|we're|we've|our) )/i;
const POINTS = new RegExp(
  `\\b(?:this|these|following|below|here|${TEXTS}|wrote|writes|said|says|sent|told|got|found|received|read|saw|boss|colleague|friend)\\b`,
  "i",
);

function hide(part: string): string {
  return part.replace(/[^\n]/g, NOT_OWN);
}

/** From the salutation of somebody by name to the words and the name that end a letter. */
function hideLetter(text: string): string {
  const from = SALUTATION.exec(text)?.index ?? text.length;
  const end = CLOSING.exec(text.slice(from));
  if (end === null) return text;
  const to = from + end.index + end[0].length;
  return text.slice(0, from) + hide(text.slice(from, to)) + text.slice(to);
}

const SALUTATION =
  /^[ \t]*(?:hi|hello|hey|dear|hallo|liebe[rs]?|salut|bonjour|hola|ciao) \p{L}[\p{L}.' -]{0,40}[,!:][ \t]*$/imu;
const CLOSING =
  /^[ \t]*(?:best(?: regards| wishes)?|(?:kind |warm |with )?regards|cheers|sincerely|yours(?: \p{L}{1,12})?|thanks|love|lg|vg|mfg|viele gr\u00fc\u00dfe|cordialement|saludos)[,.!]?[ \t]*(?:\n[ \t]*)?\p{Lu}[\p{L}.' -]{0,40}$/imu;

function masked(text: string, quotes: OwnWordsOptions["quotes"]): string {
  const read = hideLetter(text.replace(/\r(?!\n)|[\u2028\u2029\u0085\v\f]/g, "\n"))
    .replace(/(?:^|\n)[ \t]*(```|~~~)[\s\S]*?(?:\n[ \t]*\1|$)/g, hide)
    .replace(/(?:^|\n)(?:[ \t]*>| {4}|\t)[^\n]*/g, hide)
    .replace(SHELL, hide)
    .replace(LOGGED, hide)
    .replace(CHAT, hide)
    .replace(/(?<!\w)<([a-z][\w:-]{0,40})\b[^<>\n]{0,200}>[\s\S]*?(?:<\/\1>|$)/gi, hide);
  // A change has lines with both signs, a list marks of one kind.
  const rest = /^\+/m.test(read) && /^-/m.test(read) ? read.replace(/^[+-][^\n]*/gm, hide) : read;
  if (quotes === "reported") return rest.replace(/(```|~~~)[\s\S]*?(?:\1|$)/g, hide).replace(REPORTED, hide);
  return rest
    .replace(/`[^`\n]+`/g, hide)
    .replace(/"[^"]*"|\u201c[^\u201c\u201d]*\u201d|\u00ab[^\u00ab\u00bb]*\u00bb|\u201e[^\u201e\u201c]*\u201c/g, hide)
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/(?<=[\s(:])'[^'\n]{1,400}[.!?,]'(?=[\s.,;)]|$)/g, hide);
}

/** A command behind a shell's prompt, and all that follows: where its output ends is unknown. */
const SHELL =
  /(?:^|\n)[ \t]*(?:[\w.[-]{1,40}@[^\s$#%]{1,80} ?[^\s$#%]{0,80}[$#%]|\$|PS [^\n>]{1,100}>) (?=[\p{L}./~])[\s\S]*/u;

/** A line that a program wrote: it begins with a time, or with a program's mark. */
const LOGGED =
  /(?:^|\n)[ \t]*(?:(?:npm|pnpm|yarn) (?:ERR!|WARN|error|warn|notice)|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d(?::\d\d)?\]? <)[^\n]*/gi;
/** A line of a chat that says who spoke and when, and the lines below it. */
const CHAT =
  /(?:^|\n)[ \t]*[\p{L}\p{N}_.@'-][\p{L}\p{N}_.@' -]{0,40}[ \t\u00b7\u2014([-]{1,4}(?:(?:today|yesterday) at |(?<!(?<!\p{L})(?:at|by|until|till|from|around|before|after|is|um|bis|ab|gegen|\u00e0|vers|las) ))\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?[\])]?[ \t]*\n[^\n]+(?:\n[^\n]+)*/giu;
const REPORTED =
  /\b(?:wrote|writes|said|says|told \w+|replied|answered|asked)\b[^.!?\n"]{0,30}["\u201c\u00ab\u201e][^"\u201c\u201d\u00ab\u00bb\u201e]{0,1000}["\u201c\u201d\u00bb]/gi;
