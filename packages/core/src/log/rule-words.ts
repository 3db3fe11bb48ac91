/** What the words of two rules say about each other: whether they are the same rule, and whether the newer one ends the older one. */

export function sameWords(a: string, b: string): boolean {
  return plainWords(a).join(" ") === plainWords(b).join(" ");
}

const FILLERS: ReadonlySet<string> = new Set(
  "always never please from now on going forward a an the do don't not ever again any more instead also just only should must you your i want to be rather than of anymore".split(
    " ",
  ),
);

export function plainWords(text: string): string[] {
  return (
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}'.+#-]+/gu)
      ?.map(withoutEnd) ?? []
  );
}

/** Without the full stops and apostrophes that end a word. */
function withoutEnd(word: string): string {
  let end = word.length;
  while (end > 0 && ".'".includes(word[end - 1]!)) end -= 1;
  return word.slice(0, end);
}

/**
 * Whether a new rule takes an older one's place. Narrow on purpose, since both may hold: the opposite of the same words,
 * another number in the same words, another language to answer in, or words that name what is no longer wanted. Of rules
 * that a person set by hand, and of bans, only another quantity counts: of `ticket 12` and `ticket 13` both may be meant.
 */
export function replaces(next: string, old: string, by: "hand" | "recognized"): boolean {
  const [a, b] = [plainWords(next), plainWords(old)];
  const [left, right] = [content(a), content(b)];
  if (right.length === 0) return false;
  const same = left.join(" ") === right.join(" ");
  if (same) return true;
  const numbers = (words: readonly string[]) => words.map((word) => (/^\d/.test(word) ? "#" : word)).join(" ");
  if (numbers(left) === numbers(right)) return (by === "recognized" && !BAN.test(next)) || QUANTITY.test(next);
  const [newLanguage, oldLanguage] = [answerLanguage(next), answerLanguage(old)];
  if (newLanguage !== null && oldLanguage !== null) return newLanguage !== oldLanguage;
  return namesOld(next, right, left);
}

/** Whether a sentence that lifts a rule says no more of it than "that rule". */
export function namesNewest(sentence: string): boolean {
  return aboutOf(sentence) === "";
}

/**
 * The rules that a sentence lifts, of those in force in their order: the one it names by its words, or the newest where it says no
 * more than "that rule". A permission lifts the rule whose words it repeats.
 */
export function liftedBy<R extends { readonly text: string }>(sentence: string, rules: readonly R[]): readonly R[] {
  if (namesNewest(sentence)) return rules.slice(-1);
  const language = answerLanguage(sentence);
  const about = aboutOf(sentence);
  const said = plainWords(about ?? sentence);
  return rules.filter(({ text }) => {
    const before = answerLanguage(text);
    if (about === null && language !== null && before !== null && AGAIN.test(sentence)) return language !== before;
    const words = content(plainWords(text)).filter((word) => !UNTOLD.has(word));
    const told = about === null ? words : content(said);
    const among = about === null ? said : words;
    return told.length > 0 && told.every((word) => among.some((one) => one.startsWith(stemOf(word))));
  });
}

/** What a sentence says a rule is about: `emojis` of "the rule about emojis"; empty for "that rule"; null if it names no rule. */
function aboutOf(sentence: string): string | null {
  const named = RULE_NAMED.exec(sentence);
  if (named === null) return null;
  if (named[1] === undefined) return "";
  return sentence.slice(named.index + named[0].length).split(RULE_ENDS, 1)[0] ?? "";
}

const RULE_NAMED =
  /(?<!\p{L})(?:rule|instruction|ban|regel|anweisung|r\u00e8gle|consigne|regla|instrucci\u00f3n)(?:( (?:about|on|against|for|that|\u00fcber|zu|gegen|sur|sobre|contra) )|(?= (?:no longer|does|is|gilt|ne s'|ya no)|[.!]*$))/iu;
const RULE_ENDS = / (?:no longer|does|is|gilt|ne s'|ya no)/iu;
const AGAIN = /(?<!\p{L})(?:again|wieder|from now on)(?!\p{L})/iu;
/** A permission needn't repeat these. */
const UNTOLD: ReadonlySet<string> = new Set(
  "use using to in ab jetzt immer nie niemals auf bitte toujours jamais siempre nunca".split(" "),
);

/** Endings differ: the beginning is enough. */
function stemOf(word: string): string {
  return word.slice(0, Math.max(4, word.length - 3));
}

const BAN = /(?<!\p{L})(?:never|not|no|don'?t|nie|niemals|nicht|kein\p{L}*|ne|jamais|nunca)(?!\p{L})/iu;
/** `2 spaces`, `at most 3`: a number that counts something, and no name such as `port 8080`. */
const QUANTITY =
  /\d ?%|\d (?!(?:always|as|belongs|contains|gets|goes|has|holds|hosts|is|keeps|needs|owns|requires|runs|says|serves|stays|takes|this|unless|uses|was)\b)[a-z]+s\b|(?<!\p{L})(?:above|below|least|less|max\p{L}*|min\p{L}*|most|over|than|under|up to|within|h\u00f6chstens|mindestens|\u00fcber|unter|moins|plus|menos|m\u00e1s)(?!\p{L})/iu;

function content(words: readonly string[]): string[] {
  return words.filter((word) => !FILLERS.has(word));
}

/** `Use tabs instead of spaces` ends `Always use spaces`. */
function namesOld(next: string, old: readonly string[], fresh: readonly string[]): boolean {
  const dropped =
    /\b(?:instead of|rather than|no longer|not .{2,40} any ?more|statt|au lieu de|en vez de)\s+(.{2,80})$/i.exec(next);
  if (dropped === null) return false;
  const gone = content(plainWords(dropped[1] ?? ""));
  return (
    gone.length > 0 &&
    gone.every((word) => old.includes(word)) &&
    old.every((word) => gone.includes(word) || fresh.includes(word))
  );
}

const LANGUAGES =
  "english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|japanese|korean|arabic|turkish|swedish|danish|norwegian|finnish|greek|hindi|deutsch|englisch|franz\u00f6sisch|spanisch";

/** The language that answers are to be given in, if the rule says nothing else. */
function answerLanguage(text: string): string | null {
  const said = new RegExp(
    `\\b(?:answer|reply|respond|speak|write|talk|antworte|schreib\\w*)(?: (?:me|to me|mir|all|your|always|only|immer|bitte|answers|replies))* (?:in|auf) (${LANGUAGES})\\b`,
    "iu",
  ).exec(text);
  return said?.[1]?.toLowerCase() ?? null;
}
