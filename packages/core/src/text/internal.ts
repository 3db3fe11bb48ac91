/** What our own packages use of this folder; it has no public names. No promise is made about it. */
export { analyze } from "./analyze.ts";
export { isFailingLine } from "./failing-lines.ts";
