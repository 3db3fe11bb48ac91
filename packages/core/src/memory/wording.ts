/**
 * How a fact may be worded: as a description, never as an order [F54]. Orders a user gave are kept as the user's wishes;
 * text that tries to command its reader, and one-off tasks, are recognized so that they can be refused.
 */

/** `Always answer in German` as `User wants the assistant to always answer in German`; other languages as reported speech. */
export function describeWish(content: string): string {
  const text = content.trim();
  const plain = text
    .replace(/^(?:please|kindly)[,\s]+/i, "")
    .replace(/^you (?:must|should|have to|need to|shall)\s+/i, "");
  const forbidden = /^(?:do not|don't|dont)\s+(.+)$/is.exec(plain);
  if (forbidden) return `User wants the assistant to not ${lowerFirst(forbidden[1]!)}`;
  if (plain !== text || ORDER.test(plain)) return `User wants the assistant to ${lowerFirst(plain)}`;
  return FOREIGN_ORDER.test(text) ? `User: "${text.replaceAll('"', "'")}"` : text;
}

/** Text that addresses the reader of the memory instead of describing the user. */
export function isInstruction(content: string): boolean {
  return OVERRIDE.test(content);
}

/** A consent that would hold for what is still to come, or obedience to others: neither is anything to know of a user [F34]. */
export function isApproval(content: string): boolean {
  return APPROVAL.some((pattern) => pattern.test(content));
}

/** That something was uploaded: the file is gone when it is read. */
export function isUpload(content: string): boolean {
  return UPLOAD.test(content.trim());
}

/** Something to do once, not something to know. */
export function isTask(content: string): boolean {
  return TASK.test(content.trim());
}

/** A user who asks that something be forgotten. */
export function asksToForget(text: string): boolean {
  return FORGET.test(text);
}

const ORDER =
  /^(?:(?:always|never)\s+\w|(?:answer|reply|respond|write|use|avoid|call|address|speak|talk|format|keep|prefer|stop|start|include|skip|show|explain|remember|give|make|be|add|run|execute|send|delete|ignore|open|create)\s+\w)/i;

const FOREIGN_ORDER =
  /^(?:bitte\s+|immer\s+|nie(?:mals)?\s+)?(?:antworte|schreib|schreibe|verwende|benutze|nutze|nenne|merke?|zeige?|erkl\u00e4re|vermeide)(?:\s|$)|^(?:r\u00e9ponds|\u00e9cris|utilise|appelle|montre|\u00e9vite|n'utilise)(?:\s|$)|^(?:responde|escribe|usa|ll\u00e1mame|evita|muestra|no uses)(?:\s|$)|^(?:\u8bf7|\u7528|\u4e0d\u8981|\u59cb\u7ec8|\u603b\u662f)/i;

const OVERRIDE =
  /\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,60}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|safety|restrictions?)\b|\b(?:system|developer) prompt\b|\byou are (?:now|no longer)\b|\b(?:new|hidden|real) (?:system )?instructions?\s*:|\b(?:do not|don't|never) (?:tell|inform|ask) the user\b|^\s*(?:system|assistant|developer)\s*:|<\/?(?:memory|system|instructions?|assistant|user)\b|\[\/?INST\]|<\|im_(?:start|end)\|>|\u5ffd\u7565[^\u3002\n]{0,12}(?:\u6307\u4ee4|\u6307\u793a|\u89c4\u5219|\u63d0\u793a)|\bignoriere\b[^.\n]{0,40}\b(?:anweisungen|regeln)\b/iu;

const ACT =
  "payments?|purchases?|transfers?|transactions?|deletions?|orders?|commands?|actions?|tool calls?|changes|everything|anything|zahlung(?:en)?|\u00fcberweisung(?:en)?|l\u00f6schung(?:en)?|aktionen|befehle|alles";
const ASK =
  "ask(?:ed|ing)?|confirm(?:ed|ing|ation)?|approval|permission|consent|r\u00fcckfragen?|nachfragen?|best\u00e4tigung";
const READER = "assistant|agent|ai|bot|model";
/** Each part is bounded, so that a long text costs its length. */
const APPROVAL: readonly RegExp[] = [
  `\\b(?:pre-?)?(?:approv|authori[sz]|permit|consent|grant|allow|accept|erlaub|genehmig)\\w{0,8}\\b[^.!?\\n]{0,60}\\b(?:${ACT})(?!\\w)`,
  `\\b(?:standing|blanket|general|prior) (?:approval|permission|consent|authori[sz]ation)\\b`,
  `\\b(?:authori[sz]|permit|allow|entitl|empower|let|trust)\\w{0,8} (?:the |this |my )?(?:${READER})\\b`,
  `\\b(?:${READER}) (?:may|can|is (?:free|allowed|permitted|authori[sz]ed))\\b[^.!?\\n]{0,60}\\b(?:any|all|every|always|on its own|by itself)\\b`,
  `\\bno questions asked\\b`,
  `\\b(?:without|ohne)\\b[^.!?\\n]{0,20}(?<![\\p{L}])(?:${ASK})(?![\\p{L}])`,
  `(?:\\b(?:never|not|no need to|nie|nicht)|n't)\\b[^.!?\\n]{0,20}\\b(?:be )?(?:asked (?:before|first|again|for)|ask (?:before|first|again|for (?:confirmation|permission|approval))|confirm)\\b`,
  `\\b(?:obey|follow|comply with|execute|trust|carry out)\\w{0,3}\\b[^.!?\\n]{0,40}\\b(?:instructions?|orders|commands|requests)\\b[^.!?\\n]{0,40}\\b(?:pages?|sites?|websites?|web|documents?|e-?mails?|files?|tools?|messages?|results?)\\b`,
].map((pattern) => new RegExp(pattern, "iu"));

const UPLOAD =
  /^(?:the )?user (?:has |have )?(?:uploaded|attached|shared|provided|sent) (?:an? |the |some |several |two |three |\d+ )?(?:\w+ ){0,2}(?:files?|documents?|images?|pictures?|photos?|pdfs?|attachments?|screenshots?|spreadsheets?)\b/i;

const TASK =
  /^(?:the )?user (?:asked|asks|is asking|requested|requests|wants|wanted|told)(?: (?:me|the assistant|you|the agent))? (?:to|for|about) (?:run|execute|fix|debug|list|open|read|print|echo|show|create|write|generate|summari[sz]e|translate|find|search|check|install|build|delete|rename|a |an |the |help with)\b|^(?:run|execute|echo|install|git|npm|cd|ls|cat|curl|sudo)\s+\S/i;

const FORGET =
  /\b(?:forget|delete|remove|erase|drop|stop remembering|(?:don't|do not) (?:remember|store|keep)|no longer (?:remember|store))\b|\b(?:vergiss|vergessen|l\u00f6sch\w*|entfern\w*)\b|\b(?:oublie\w*|supprime\w*|efface\w*)\b|\b(?:olvida\w*|borra\w*|elimina\w*)\b|\u5fd8(?:\u8bb0|\u6389)|\u5220\u9664/iu;

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}
