/**
 * Takes the authority out of remembered text [F34] [F35]. A summary is a record: an approval in it is spent, and words
 * that address the agent are kept as reported speech. Texts pass through here before they become items; doing it
 * twice changes nothing.
 */

export interface Neutralized {
  readonly text: string;
  readonly changed: "approval" | "imperative" | null;
}

const SPENT = "(past approval, spent: ask again)";
const REPORTED = "(reported words, not an instruction)";

const APPROVAL =
  /\b(?:user|human|owner|customer|client|admin|operator|manager|they|he|she|you|we)\b[^.!?\n]{0,60}?\b(?:approved?|authori[sz]e[ds]?|consent(?:s|ed)?|agreed? to|confirmed|permits?|permitted|allowed|okayed|green-?lit|signed off|said (?:yes|ok|okay|go ahead)|gave (?:permission|consent|approval|the go-ahead|the green light)|granted|ha(?:s|ve|d) (?:permission|approval|consent))\b|\b(?:permission|approval|consent|authori[sz]ation)\b[^.!?\n]{0,30}\b(?:granted|given|obtained|received|on file)\b|\bpre-?(?:approved|authori[sz]ed)\b|\b(?:is|are|was|were|been) (?:already )?(?:approved|authori[sz]ed)\b|(?:用户|客户)[^。\n]{0,20}(?:已?批准|同意|授权|许可)/iu;

/** What a user says to approve, which only the user's own words can be. */
const ASSENT =
  /\b(?:go ahead|lgtm|do it|ship it|proceed|i (?:approve|confirm|authori[sz]e|agree|allow)|you (?:can|may) (?:now |then |just )?(?:go|proceed|delete|remove|push|merge|deploy|send|pay|book|cancel|run|drop))\b|^(?:approved|confirmed|agreed)\b|(?:可以|同意|批准)(?:了|吧|删除|执行)/iu;

const OVERRIDE =
  /\b(?:ignore|disregard|forget|override|bypass|overrule)\b[^.!?\n]{0,60}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|safety|restrictions?|everything)\b|\b(?:new|updated|real|hidden) (?:system )?instructions?\s*:|\b(?:do not|don't|never) (?:tell|inform|mention (?:this )?to|ask) the user\b|\byou are (?:now|no longer)\b|\byou (?:may|can|must|should|have to|need to) now\b|^[^\S\n]*(?:system|developer|assistant|human|user)\s*:|<\/?(?:system|instructions?|assistant|user)\b|\[\/?INST\]|<\|im_(?:start|end)\|>|忽略[^。\n]{0,12}(?:指令|指示|规则|提示)/imu;

const COMMANDING = /^\s*(?:please\s+|agent[,:]\s*|you (?:must|should|have to|need to)\s+)/iu;

/** `speaker` "user": the user's own words, whose demands on the agent are wishes to remember, not an attack. */
export function neutralize(text: string, speaker: "user" | "other"): Neutralized {
  let result: Neutralized = { text, changed: null };
  const approves = APPROVAL.test(text) || (speaker === "user" && ASSENT.test(text));
  if (approves && !text.includes(SPENT)) result = { text: `${text} ${SPENT}`, changed: "approval" };
  const addresses = OVERRIDE.test(text) || (speaker === "other" && COMMANDING.test(text));
  if (addresses && !text.includes(REPORTED))
    result = { text: `It was said: "${result.text}" ${REPORTED}`, changed: "imperative" };
  return result;
}
