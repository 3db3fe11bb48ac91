/** What our own packages use of this folder; it has no public names. No promise is made about it. */
export { analyze, normalized } from "./analyze.ts";
export { clip, flatten, isFailingLine, isLowSurrogate, oneLine, sentences } from "./lines.ts";
export { maskSecrets } from "./secrets.ts";
export { errorText, isRecord } from "./values.ts";
