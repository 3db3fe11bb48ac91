/** What our own packages use of this folder; it has no public names. No promise is made about it. */
export { analyze, normalized } from "./analyze.ts";
export {
  clip,
  errorCode,
  errorText,
  flatten,
  isFailingLine,
  isLowSurrogate,
  isRecord,
  oneLine,
  sentences,
} from "./names.ts";
export { maskSecrets, secretsIn } from "./secrets.ts";
