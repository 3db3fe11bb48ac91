/** What our own packages and the benches use of this folder. No promise is made about it. */
export { type EvalReport, evaluate } from "./evaluate.ts";
export { gateFailures, parseGate } from "./gate.ts";
export { readable } from "./probes.ts";
export { type FigureCount, type PromptFigures, promptFigures, sessionOf } from "./prompt-figures.ts";
export { type EvalInput, readEvalFile } from "./read-file.ts";
export { readThreads } from "./read-threads.ts";
export { remembering } from "./remembering.ts";
export { BOUNDS, UNBOUNDED } from "./sample.ts";
export type { Figure, Summary } from "./search-figures.ts";
export { byPolicy, type NamedSender, ourThread } from "./senders.ts";
