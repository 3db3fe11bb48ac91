/** Facts about the user by the patterns people tell them in. What it doesn't recognize it leaves out. */
export interface PatternFact {
  readonly content: string;
  readonly category: "preference" | "knowledge" | "context" | "behavior" | "goal";
  readonly confidence: number;
  /** The user's own words. */
  readonly quote: string;
}

type Rule = readonly [pattern: RegExp, category: PatternFact["category"], say: (found: string) => string];

const REST = String.raw`([^.!?;\n]{1,160})`;
const rule = (source: string, category: PatternFact["category"], say: (found: string) => string): Rule => [
  // A name is known by its capital, so where one is asked for, case matters.
  new RegExp(source, source.includes("\\p{Lu}") ? "gu" : "giu"),
  category,
  say,
];

const RULES: readonly Rule[] = [
  rule(
    String.raw`\b[Mm]y name is ([\p{L}][\p{L}'’-]*(?: \p{Lu}[\p{L}'’-]*){0,3})`,
    "context",
    (name) => `The user's name is ${name}`,
  ),
  rule(String.raw`\b[Cc]all me (\p{Lu}[\p{L}'’-]*)`, "preference", (name) => `The user wants to be called ${name}`),
  rule(String.raw`\bi (?:really |always |usually )?prefer ${REST}`, "preference", (what) => `The user prefers ${what}`),
  rule(String.raw`\bi (?:really )?(?:like|love|enjoy) ${REST}`, "preference", (what) => `The user likes ${what}`),
  rule(
    String.raw`\bi (?:really )?(?:don['’]?t like|dislike|hate) ${REST}`,
    "preference",
    (what) => `The user dislikes ${what}`,
  ),
  rule(
    String.raw`\bi(?: am|['’]m)? work(?:ing)? (?:at|for) ${REST}`,
    "context",
    (where) => `The user works at ${where}`,
  ),
  rule(String.raw`\bi work as ${REST}`, "context", (what) => `The user works as ${what}`),
  rule(String.raw`\bi(?: am|['’]m)? liv(?:e|ing) in ${REST}`, "context", (where) => `The user lives in ${where}`),
  rule(String.raw`\bi(?: am|['’]m) from ${REST}`, "context", (where) => `The user is from ${where}`),
  rule(String.raw`\bi(?: am|['’]m) allergic to ${REST}`, "context", (what) => `The user is allergic to ${what}`),
  rule(String.raw`\bmy (favou?rite [\p{L} ]{1,40}? is [^.!?;\n]{1,80})`, "preference", (what) => `The user's ${what}`),
];

const CONFIDENCE = 0.9;

export function factsIn(text: string): readonly PatternFact[] {
  const facts = new Map<string, PatternFact>();
  for (const [pattern, category, say] of RULES) {
    for (const match of text.matchAll(pattern)) {
      const value = match[1]!.replace(/,? (?:and (?:i|my)|but)\b.*$/is, "").trim();
      if (value === "") continue;
      const content = say(value);
      facts.set(content.toLowerCase(), { content, category, confidence: CONFIDENCE, quote: match[0].trim() });
    }
  }
  return [...facts.values()];
}
