/** The two things people ask a model that can't think: what it can do, and what was said so far. */
import { oneLine } from "@palimpsest/core/internal/text";
import type { Situation } from "./situation.ts";
import { spokenBefore } from "./transcript.ts";

/** Null when the question is about something else. */
export function aboutItself({ question, earlier }: Situation): string | null {
  const words = question.trim();
  if (HELP.test(words)) return ABILITIES;
  if (!SUMMARY.test(words)) return null;
  const userTurns = spokenBefore(earlier).filter(({ role }) => role === "user");
  if (userTurns.length === 0) return "Nothing was said yet.";
  const left = userTurns.length - SHOWN;
  const lines = userTurns.slice(-SHOWN).map(({ text }) => `- ${oneLine(text, 120)}`);
  const before = left <= 0 ? [] : [`- (${left} before these; ask about any of them)`];
  return [`I can't judge what matters, but this is what you said (${userTurns.length}):`, ...before, ...lines].join(
    "\n",
  );
}

const SHOWN = 10;

const HELP = /^(?:help(?: me)?|what can you do|who are you|what are you|how does this work)[\s.!?]*$/i;

/** "Summarize our conversation", "what have we talked about?", and the word for it in some languages. */
const SUMMARY =
  /^(?:(?:please|can you|could you)\s+)*(?:summari[sz]e|recap|sum up|tl;?dr|résume|resume|resumir|zusammenfass|fasse?\b.{0,60}\bzusammen|riassumi|総括|要約|总结|總結|요약)|^(?:what (?:have|did) we (?:talk|discuss|say)\w*(?: about)?(?: so far)?)[\s.!?]*$/iu;

const ABILITIES = [
  "I am the offline model: no key, no network, no thinking. I can",
  '- find what was said: tell me something, then ask about it ("Where does Rex live?")',
  '- keep files: `write "milk, eggs" to list.md`, `read list.md`, `list files`',
  "- list what you said: `summarize our conversation`",
  "Name a model in config.yaml for real answers; in a chat, /help lists the commands.",
].join("\n");
