/** The words that carry no subject: dropped from the index, or weak in a question. Tables about English, nothing else. */

/** Never indexed: they stand in every text. Left-overs of contractions (`don't` gives `don`) are among them. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against ain all also am an and any are aren as at be because been before being below between both but by
  can cannot could couldn d did didn do does doesn doing don down during each either else ever few for from further had hadn has hasn
  have haven having he her here hers herself him himself his how i if in into is isn it its itself just let ll m ma me might mightn
  more most much must mustn my myself no nor not now o of off on once only or other our ours ourselves out over own re s
  same shall shan she should shouldn so some such t than that the their theirs them themselves then there these they this those
  through to too under until up us ve very was wasn we were weren what when where whether which while who whom whose why will with
  would wouldn y yes yeah oh hey hi hello wow ok okay you your yours yourself yourselves dont im ive
  `
    .trim()
    .split(/\s+/),
);

/**
 * Words of a question that say which kind of answer is wanted rather than what it is about: `what kind of`, `how long`,
 * `would be likely`. They match, at a fraction of the weight of the others.
 */
export const QUESTION_WORDS: ReadonlySet<string> = new Set(
  `kind type sort name many long often time date day year month week likely consider considered describe described according mention
  mentioned discuss discussed say said tell told talk talked ask asked use used using thing things get got way specific
  happen happened might recently currently current new first last able various different certain say give gave go went do make made
  `
    .trim()
    .split(/\s+/),
);
