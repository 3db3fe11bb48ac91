/** Whether a text holds an identifier that a question quotes whole. Pure. */
import { analyze } from "../text/analyze.ts";
import { analyzeQuery } from "./query.ts";

export function holdsQuoted(question: string): (text: string) => boolean {
  const quoted = new Set(analyzeQuery(question).terms.flatMap(({ term, exact }) => (exact ? [term] : [])));
  return (text) => quoted.size > 0 && analyze(text).some(({ term }) => quoted.has(term));
}
