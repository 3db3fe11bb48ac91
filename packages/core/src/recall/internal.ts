/** What our own packages use of this folder beyond its public names. No promise is made about it. */
export { cosine, PROPOSED, packVector } from "./closeness.ts";
export {
  countOf,
  formsCompiled,
  isEcho,
  place,
  type StandingSentence,
  standingSentences,
  typedSteps,
} from "./entry.ts";
export { asksForCourse, COURSE_SEARCH, holdsQuoted, type MapText, mapLineText, mapText } from "./render.ts";
export { followUps } from "./search.ts";
export { createThreadMap, type MapLine, type MapMessage, type ThreadMap } from "./thread-map.ts";
