/**
 * Whether words only tell something and ask for nothing, so that nothing has to be looked up for them. Sure or no: what might ask
 * is taken to ask. English; words of another language always count as asking. Pure.
 */

/** A question mark of any script, a request, or a word that points back to what was said or done before. */
const ASKS =
  /[?\uff1f\u061f\u055e\u037e\u1367\u2e2e\ua60f]|\b(?:please|can|could|would|should|shall|tell|show|give|find|remind|recall|remember|explain|help|need|want|wonder(?:ing)?|like you to|let's|what|which|who|when|where|why|how|whether|again|earlier|before|previous(?:ly)?|last time|the same|usual|forgot(?:ten)?|lost track|still|continue|go on)\b/i;

/** How a sentence begins that tells something about somebody, or answers, greets or thanks. */
const TELLS =
  /^(?:(?:by the way|also|and|so|well|oh|btw|fyi|today|yesterday),? )?(?:i|i'm|i've|i'd|my|mine|we|we're|we've|our|he|she|they|it|it's|this|that|that's|there|the|yes|no|ok|okay|thanks|thank you|hello|hi|hey|great|good|nice|cool|perfect)\b/i;

export function asksNothing(text: string): boolean {
  const plain = text.replace(/[\u2018\u2019]/g, "'").trim();
  if (plain.length > LONGEST || ASKS.test(plain)) return false;
  const sentences = plain.split(/(?<=[.!])\s+|\n+/).filter((sentence) => /\p{L}/u.test(sentence));
  return sentences.every((sentence) => TELLS.test(sentence.trim()));
}

/** A longer text is a document or a task, and what it asks for may stand anywhere in it. */
const LONGEST = 500;
