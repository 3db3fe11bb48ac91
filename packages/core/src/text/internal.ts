/** What our own packages use of this folder; it has no public names. No promise is made about it. */
export { analyze } from "./analyze.ts";
export { clip, flatten, isLowSurrogate, oneLine } from "./clip.ts";
export { errorText } from "./error-text.ts";
export { isFailingLine } from "./failing-lines.ts";
export { isRecord } from "./is-record.ts";
export { normalized } from "./normalized.ts";
export { maskSecrets } from "./secrets.ts";
export { sentences } from "./sentences.ts";
