/**
 * What a sentence is about, told by the words it uses. English first, with the commonest words of other languages; a
 * sentence without a cue is a fact, so an unknown language loses the sorting and not the content.
 */

const CONSTRAINT =
  /\b(?:must|never|always|don'?t|do not|prefer|only|make sure|ensure|should(?:n'?t| not)?|avoid|requires?|required|without|at (?:least|most)|no more than|keep|stick to|important|muss|darf|nie|niemals|immer|soll|debe|nunca|siempre|doit|jamais|toujours|ne pas|deve|nunca|sempre)\b|必须|不要|务必|应该|禁止|一定|しないで|必ず|てください|하지 ?마|반드시/iu;

const DECISION =
  /\b(?:decid(?:e|ed|es|ing)|decision|because|instead|rather than|cho(?:se|ose|sen)|going with|we'?ll use|will use|switch(?:ed|ing)? to|so that|therefore|the fix|fixed|(?:problem|issue|bug|cause|reason|mistake) (?:was|is)|turns out|root cause|renamed?|replac(?:e|ed|es|ing)|agreed|approach|conclu(?:ded|sion)|weil|stattdessen|entschieden|porque|decid\w+|parce que|perché)\b|决定|因为|所以|改为|修复|问题(?:是|在)|結論|ため|修正|때문|결정/iu;

const TROUBLE =
  /\b(?:errors?|fail(?:s|ed|ing|ure)?|exception|bugs?|broken|crash(?:es|ed)?|cannot|can'?t|doesn'?t work|does not (?:exist|work)|missing|wrong|regression|fehler|erreur|fallo|errore)\b|错误|失败|异常|崩溃|エラー|失敗|오류|실패/iu;

const NEXT =
  /\b(?:next(?: step)?s?|to-?do|remain(?:s|ing)?|still (?:need|have|to)|left to|not yet|pending|afterwards|need(?:s)? to|will now|i'?ll|let me (?:now|next)|follow-?up|als nächstes|noch zu|próximo|falta|ensuite|reste)\b|\[ \]|接下来|下一步|还需要|待办|次に|残り|다음/iu;

const DONE =
  /\b(?:done|completed?|finished|all (?:tests )?pass(?:es|ed|ing)?|works now|committed|merged|erledigt|fertig)\b|\[x\]|完成|已经|完了|완료/iu;

export type Cue = "constraint" | "decision" | "trouble" | "next" | "done";

export function cuesOf(sentence: string): ReadonlySet<Cue> {
  const cues = new Set<Cue>();
  if (CONSTRAINT.test(sentence)) cues.add("constraint");
  if (DECISION.test(sentence)) cues.add("decision");
  if (TROUBLE.test(sentence)) cues.add("trouble");
  if (NEXT.test(sentence)) cues.add("next");
  if (DONE.test(sentence)) cues.add("done");
  return cues;
}
