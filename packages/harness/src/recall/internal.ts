/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { findText, hitsText, readText } from "./answers.ts";
