/**
 * Cleans a summarizer's answer of what is not answer: reasoning tags, fences around the whole. Shared by the reading of
 * patches and the validation of prose.
 */

const REASONING = /<(think|thinking|reasoning|thought|reflection|analysis|scratchpad)\b[^<>]*>/gi;

/** The answer without its reasoning. An unclosed opening tag swallows the rest; a lone closing tag ends the reasoning. */
export function withoutReasoning(text: string): string {
  let rest = text;
  const loneEnd = /^[\s\S]*?<\/(?:think|thinking|reasoning|thought)>/i.exec(rest);
  if (loneEnd !== null && !new RegExp(REASONING.source, "i").test(loneEnd[0])) rest = rest.slice(loneEnd[0].length);
  const lower = rest.toLowerCase();
  const outside: string[] = [];
  let at = 0;
  for (const match of rest.matchAll(REASONING)) {
    if (match.index < at) continue;
    outside.push(rest.slice(at, match.index));
    const close = lower.indexOf(`</${match[1]!.toLowerCase()}>`, match.index);
    at = close === -1 ? rest.length : close + match[1]!.length + 3;
  }
  outside.push(rest.slice(at));
  return outside.join("").trim();
}

/** A fence around the whole answer is packaging. */
export function withoutFence(text: string): string {
  const match = /^```[\w-]*[ \t]*\n([\s\S]*?)\n?```\s*$/.exec(text.trim());
  return match === null ? text.trim() : match[1]!.trim();
}
