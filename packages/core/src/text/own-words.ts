/**
 * Whose words a message of a user holds: the user's own, or code, quotations and texts that somebody else wrote and the user only
 * shows. One answer for everybody who reads what a user wants or tells. When in doubt they are not the user's. Pure, total on every
 * string, linear; the text keeps its length, so that what is found in it can be cut out of the message itself.
 */

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
    // What is introduced may stand between marks of its own, and after them the user goes on.
    const isMarked = paragraphs === "open" && plain.slice(end).trimStart().startsWith(NOT_OWN);
    if (introduces(sentence) && !isMarked) return colonEnd(plain, start, end);
    own &&= isKnown(sentence) || isOwn(sentence);
    if (!own && isParagraph(border)) return end;
  }
  return plain.length;
}

function colonEnd(plain: string, start: number, end: number): number {
  const colon = plain.slice(start, end).search(/[:\uff1a](?=\s|$)/);
  return colon < 0 ? end : start + colon + 1;
}

function isParagraph(border: string): boolean {
  return border.split("\n").length > 2;
}

/** Whether what follows may be somebody else's text. */
function introduces(raw: string): boolean {
  const sentence = raw.slice(0, MAX_SENTENCE).trim().replace(OPENERS, "");
  if (INTRODUCES.some((form) => form.test(sentence))) return true;
  const colon = /[:\uff1a](?=\s|$)/.exec(sentence);
  return colon !== null && (isParagraph(raw) || !RULES.test(sentence.slice(0, colon.index)));
}

/** What the user tells before a further paragraph, in words that leave no doubt whose that paragraph is. */
function isOwn(raw: string): boolean {
  const sentence = raw.trim();
  if (!/\p{L}/u.test(sentence)) return true;
  return TELLS.test(sentence) && !POINTS.test(sentence) && !/[?\uff1f:]["')\]]*$/.test(sentence);
}

/** What may stand before a sentence and changes nothing. */
export const OPENERS =
  /^(?:(?:oh|ok(?:ay)?|so|and|but|also|again|now|right|thanks|thank you|great|perfect|got it|sure|yes|no|hey|hi|note|reminder|important|rule|one more thing|one thing|another thing|by the way|btw|fyi|just|please|pls|kindly|remember|and remember|for the record|for future reference|bitte|s'il (?:te|vous) pla[i\u00ee]t|por favor)[,:;!.\u2014-]*\s+)+/i;

const TEXTS =
  "(?:texts?|e-?mails?|letters?|messages?|articles?|posts?|(?:web ?)?pages?|paragraphs?|sentences?|notes?|quotes?|documents?|contracts?|transcripts?|conversations?|chats?|tweets?|speech|story|poem|answer|reply|issue|ticket|snippet|web|pdf|files?)";
const INTRODUCES: readonly RegExp[] = [
  "^(?:(?:can|could|would|will) you )?(?:please )?(?:translate|summari[sz]e|sum up|rewrite|rephrase|reword|paraphrase|proofread|shorten|polish|transcribe|\u00fcbersetz\\w*|traduis\\w*|traduc\\w*|r\u00e9sume\\w*|resume)(?!\\p{L})",
  `\\b(?:this|these|that|those|following) (?:\\w+ )?${TEXTS}\\b`,
  "\\b(?:the following|below|pasted|copied|forwarded)\\b",
  "\\b(?:tool|function|command|search|shell|api)[ _-](?:results?|outputs?|responses?|returned|said|says)\\b",
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
const TELLS =
  /^(?:(?:hi|hello|hey|thanks|thank you|ok|okay|great|good|perfect|nice|cool|yes|no|sure)(?: there| so much| a lot| morning| evening)?[.!,]*$|(?:thanks|thank you|ok|okay|great|perfect|yes|no),? (?:that|it|i)\b|(?:i|i'm|i've|i'd|my|we|we're|we've|our) )/i;
const POINTS = new RegExp(
  `\\b(?:this|these|following|below|here|${TEXTS}|wrote|writes|said|says|sent|told|got|found|received|read|saw|boss|colleague|friend)\\b`,
  "i",
);

function hide(part: string): string {
  return part.replace(/[^\n]/g, NOT_OWN);
}

function masked(text: string, quotes: OwnWordsOptions["quotes"]): string {
  const rest = text
    .replace(/\r(?!\n)|[\u2028\u2029\u0085\v\f]/g, "\n")
    .replace(/(?:^|\n)[ \t]*(```|~~~)[\s\S]*?(?:\n[ \t]*\1|$)/g, hide)
    .replace(/(?:^|\n)(?:[ \t]*>| {4}|\t)[^\n]*/g, hide)
    .replace(/(?<!\w)<([a-z][\w:-]{0,40})\b[^<>\n]{0,200}>[\s\S]*?(?:<\/\1>|$)/gi, hide);
  if (quotes === "reported") return rest.replace(/(```|~~~)[\s\S]*?(?:\1|$)/g, hide).replace(REPORTED, hide);
  return rest
    .replace(/`[^`\n]+`/g, hide)
    .replace(/"[^"]*"|\u201c[^\u201c\u201d]*\u201d|\u00ab[^\u00ab\u00bb]*\u00bb|\u201e[^\u201e\u201c]*\u201c/g, hide)
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/(?<=[\s(:])'[^'\n]{1,400}[.!?,]'(?=[\s.,;)]|$)/g, hide);
}

const REPORTED =
  /\b(?:wrote|writes|said|says|told \w+|replied|answered|asked)\b[^.!?\n"]{0,30}["\u201c\u00ab\u201e][^"\u201c\u201d\u00ab\u00bb\u201e]{0,1000}["\u201c\u201d\u00bb]/gi;
