/**
 * What may be stored: the gates every proposal of the model passes before it touches the document. Each says yes with the
 * proposal made storable, or no with the reason. Pure; applying what passed is `merge.ts`.
 */
import { redactSecrets } from "../text/secrets.ts";
import { carriers, findSource, saysStrangeNames, userSaid } from "./bindings.ts";
import { type MemoryDocument, sectionText } from "./document.ts";
import { statesFact, supportedPart } from "./grounds.ts";
import { meaning } from "./likeness.ts";
import { visible } from "./render.ts";
import type { Addition, SectionRewrite, SourceTurn } from "./update.ts";

export interface Gates {
  /** At least this sure, or it is not stored. */
  readonly threshold: number;
  readonly turns: readonly SourceTurn[];
  /** Text that is remembered already: its names may be used without being said again. */
  readonly known: string;
}

export type RefusalReason =
  | "empty"
  | "too-long"
  | "below-threshold"
  | "not-durable"
  | "not-about-user"
  | "instruction"
  | "approval"
  | "only-a-secret"
  | "no-user-source"
  | "not-said-by-user"
  | "too-many"
  | "unknown-id"
  | "different-subject"
  | "no-replacement"
  | "loses-too-much"
  | "over-max-facts";

/** One proposal that was not taken, for the log. */
export interface Refusal {
  readonly what: "addition" | "update" | "removal" | "section";
  readonly reason: RefusalReason;
  /** The beginning of the text, secrets taken out. */
  readonly text: string;
}

/** Longest content of one fact, and text of one section, in characters. */
export const MAX_FACT_CHARACTERS = 500;
const MAX_SECTION_CHARACTERS = 4_000;

type CheckedProposal<T> =
  | { readonly kind: "passed"; readonly value: T }
  | { readonly kind: "refused"; readonly reason: RefusalReason };

export interface Storable {
  readonly content: string;
  readonly category: string;
  readonly confidence: number;
  readonly refs: readonly string[];
}

export function checkFact(fact: Addition, gates: Gates): CheckedProposal<Storable> {
  const said = checkWords(fact.content);
  if (said.kind === "refused") return said;
  if (!(fact.confidence >= gates.threshold)) return refused("below-threshold");
  if (!fact.aboutUser) return refused("not-about-user");
  if (!fact.durable) return refused("not-durable");
  const words = supportedPart(visible(fact.content).replace(/\s+/g, " "), userWords(gates), gates.known);
  const kept = checkWords(words);
  if (kept.kind === "refused") return refused(words === "" ? "no-user-source" : kept.reason);
  const source = findSource({ ...fact, content: words }, gates.turns, gates.known);
  if (source.kind === "unsourced") return refused(source.reason);
  const { confidence } = fact;
  const category = CATEGORY.test(fact.category) ? fact.category : "context";
  return { kind: "passed", value: { content: kept.value, category, confidence, refs: source.refs } };
}

/** One word: more would be a text that no gate has read. */
const CATEGORY = /^[\p{L}-]{1,20}$/u;

/** The gates that look at the words alone: what a program states without a conversation to quote passes these. */
export function checkWords(content: string): CheckedProposal<string> {
  if (content.length > MAX_FACT_CHARACTERS) return refused("too-long");
  const words = visible(content).replace(/\s+/g, " ");
  if (meaning(words).size === 0) return refused("empty");
  if (isTask(words) || isUpload(words)) return refused("not-durable");
  if (isInstruction(words) || isInstruction(content)) return refused("instruction");
  if (isApproval(words)) return refused("approval");
  const clean = redactSecrets(words);
  if (clean.found.length > 0 && meaning(clean.text.replace(/\[redacted [\w-]+\]/g, "")).size < 2)
    return refused("only-a-secret");
  return { kind: "passed", value: describeWish(clean.text) };
}

/** Whether a sentence that binds later turns may become a rule by itself: no consent in advance, no order to ignore rules, no secret. */
export function mayBecomeRule(sentence: string): boolean {
  if (isInstruction(sentence) || UNASKED.test(sentence) || AUTOMATIC.test(sentence)) return false;
  if (YIELDING.test(sentence) && !FORBIDDING.test(sentence)) return false;
  if (isApproval(sentence) && !isBan(sentence)) return false;
  return redactSecrets(sentence).found.length === 0;
}

/** A ban on acting without being asked is no consent. */
function isBan(sentence: string): boolean {
  const ban = BANNING.exec(sentence);
  return ban !== null && CONDITION.test(sentence.slice(ban.index));
}
const BANNING = /\b(?:never|don'?t|do not|must not|may not|not allowed|cannot|can'?t|no|nie|niemals|nicht|ne|nunca)\b/i;
const CONDITION = /\b(?:without|unless|until|ohne|sans|sin)\b/i;
/** Not to be asked is a consent, too. */
const UNASKED =
  /\b(?:never|don'?t|do not|stop|no need to)\b[^.!?]{0,12}\b(?:ask(?:ing)?|confirm(?:ing)?|check(?:ing)? with|warn(?:ing)?) (?:me|us|for|again|before|first)\b|\bfragt?e? (?:mich|uns)\b[^.!?]{0,30}\b(?:nie|niemals|nicht)\b|\bne me (?:re)?demande\w* (?:plus|jamais|pas)\b|\bno me (?:vuelvas a )?(?:pregunt|pid)\w+/i;
/** Acts that can't be undone or bind others, to be done by themselves from then on. */
const GRAVE =
  "merg(?:e|es|ed|ing)|approv(?:e|es|ed|ing)|pay|pays|paid|paying|purchas\\w{1,3}|buy|buying|bought|transfer\\w{0,4}|delet(?:e|es|ed|ing)|deploy\\w{0,3}|publish\\w{0,3}|accept\\w{0,3}";
const BY_ITSELF = "automatically|auto(?!\\p{L})|on your own|by yourself|with no|no review|without(?: any)? review";
const AUTOMATIC = new RegExp(
  `(?<!\\p{L})(?<!(?:never|not|n.t) )(?:(?:${GRAVE})(?!\\p{L})[^.!?\\n]{0,40}(?<!\\p{L})(?:${BY_ITSELF})|(?:${BY_ITSELF})[ -](?:${GRAVE}))(?!\\p{L})`,
  "iu",
);

/** A rule that lets something pass: an order to go on, an option of a command that answers its question, trust. */
const YIELDING = new RegExp(
  [
    `\\bgo ahead\\b|\\bI trust you\\b|\\bfree hand\\b|\\bcarte blanche\\b`,
    `\\b(?:hold|refus|block|delay|hesitat|wait|withhold|declin|stop)\\w{0,3}\\b[^.!?\\n]{0,40}\\b(?:for|until) (?:my|our|an?) (?:ok(?:ay)?|yes|approval|consent|confirmation|permission)\\b`,
    `(?<![\\w-])(?:--(?:yes|assume-yes|no-verify|no-confirm|auto-approve)|-y)(?![\\w-])`,
    `\\b(?:answer|reply|respond)\\w{0,3}\\b[^.!?\\n]{0,40}\\b(?:with|by) (?:y|yes|ok|okay)\\b|\\bclick\\w{0,3} (?:on )?(?:accept|allow|approve|ok|yes)\\b`,
  ].join("|"),
  "iu",
);
const FORBIDDING =
  /\b(?:never|don'?t|do not|must not|may not|(?<!-)no)\b(?! (?:hold|refus|block|delay|hesitat|wait|withhold|declin|stop))/i;

interface StorableSection {
  readonly text: string;
  readonly refs: readonly string[];
}

/**
 * A rewrite keeps what stood there: shorter by more than a quarter, it lost something [F58]. What is new in it rests on the
 * user's words, as a fact does.
 */
export function checkSection(
  rewrite: SectionRewrite,
  document: MemoryDocument,
  gates: Gates,
): CheckedProposal<StorableSection> {
  if (rewrite.text.length > MAX_SECTION_CHARACTERS) return refused("too-long");
  const before = meaning(sectionText(document, rewrite.path));
  const text = sectionWords(redactSecrets(visible(rewrite.text)).text.replace(/\s+/g, " "), before, gates);
  if (meaning(text).size === 0) return refused(meaning(rewrite.text).size === 0 ? "empty" : "no-user-source");
  if (!(rewrite.confidence >= gates.threshold)) return refused("below-threshold");
  if (isInstruction(text) || isInstruction(rewrite.text)) return refused("instruction");
  if (isApproval(text)) return refused("approval");
  if (meaning(text).size < before.size * 0.75) return refused("loses-too-much");
  if (saysStrangeNames(text, `${gates.known}\n${userWords(gates)}`)) return refused("not-said-by-user");
  const refs =
    rewrite.quote === "" || userSaid(rewrite.quote, gates.turns) ? carriers(text, gates.known, gates.turns) : null;
  return refs === null ? refused("no-user-source") : { kind: "passed", value: { text, refs } };
}

/** Without sentences on uploads. Of each other one what rests on the user's words, if it stood there before or the user stated it. */
function sectionWords(text: string, before: ReadonlySet<string>, gates: Gates): string {
  const words = userWords(gates);
  const isStated = (sentence: string): boolean =>
    [...meaning(sentence)].every((term) => before.has(term)) ||
    gates.turns.some(({ role, text: said }) => role === "user" && statesFact(said, "", asFact(sentence)));
  return text
    .split(/(?<=[.!?])\s/)
    .filter((sentence) => !isUpload(sentence))
    .map((sentence) => describeWish(supportedPart(sentence, words, gates.known)))
    .filter((sentence) => sentence !== "" && isStated(sentence))
    .join(" ");
}

/** "Works for Hydro." says of the user what "User works for Hydro" says. */
function asFact(sentence: string): string {
  return `User ${lowerFirst(sentence.replace(/^(?:the )?user\s/i, ""))}`;
}

function userWords({ turns }: Gates): string {
  return turns.flatMap(({ role, text }) => (role === "user" ? [text] : [])).join("\n");
}

export function refusal(what: Refusal["what"], text: string, reason: RefusalReason): Refusal {
  return { what, reason, text: redactSecrets(visible(text.slice(0, 200))).text.slice(0, 120) };
}

function refused(reason: RefusalReason): { readonly kind: "refused"; readonly reason: RefusalReason } {
  return { kind: "refused", reason };
}

/**
 * How a fact may be worded: as a description, never as an order [F54]. Orders a user gave are kept as the user's wishes;
 * text that tries to command its reader, and one-off tasks, are recognized so that they can be refused.
 */

/** `Always answer in German` as `User wants the assistant to always answer in German`; other languages as reported speech. */
function describeWish(content: string): string {
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
function isInstruction(content: string): boolean {
  return OVERRIDE.test(content);
}

/** A consent that would hold for what is still to come, or obedience to others: neither is anything to know of a user [F34]. */
function isApproval(content: string): boolean {
  return APPROVAL.some((pattern) => pattern.test(content)) || (WISHES.test(content) && AUTOMATIC.test(content));
}

/** A user who wishes it consents; that a program does it is a fact like others. */
const WISHES = /\b(?:wants?|wishes|prefers?|likes?|expects?|happy|fine|okay)\b/i;

/** That something was uploaded: the file is gone when it is read. */
function isUpload(content: string): boolean {
  return UPLOAD.test(content.trim());
}

/** Something to do once, not something to know. */
function isTask(content: string): boolean {
  return TASK.test(content.trim());
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
  "ask(?:ed|ing)?|confirm(?:ed|ing|ation)?|approval|permission|consent|fragen|r\u00fcckfragen?|nachfragen?|best\u00e4tigung";
const READER = "assistant|agent|ai|bot|model";
const SOURCE = "pages?|sites?|websites?|web|documents?|e-?mails?|files?|tools?|messages?|results?";
/** The same in other languages: acting unasked, a consent to all acts of a kind, obedience to what others wrote. */
const FOREIGN_APPROVAL = [
  // French
  "(?<!\\p{L})sans (?:me |nous |lui |aucune? )?(?:demander|confirm|validation|approbation|autorisation|permission|consulter)",
  "(?<!\\p{L})(?:autoris|approuv|accept)\\p{L}{0,6} (?:tous|toutes|chaque|n'importe)[^.!?\\n]{0,20} (?:paiement|achat|virement|suppression|commande|action|transaction)",
  "(?<!\\p{L})(?:suiv|suit|suis|ob\u00e9|ex\u00e9cut)\\p{L}{0,6}[^.!?\\n]{0,30} (?:instructions|ordres|consignes)[^.!?\\n]{0,30} (?:pages?|sites?|courriels?|e-?mails?|documents?|fichiers?|web)(?!\\p{L})",
  // Spanish
  "(?<!\\p{L})sin (?:que |me |ninguna )?(?:pregunt|confirm|permiso|aprobaci\u00f3n|autorizaci\u00f3n|consult)",
  "(?<!\\p{L})(?:aprueb|aprob|autori[zc]|permit|acept)\\p{L}{0,6} (?:todos|todas|cada|cualquier)[^.!?\\n]{0,20} (?:pago|compra|transferencia|comando|orden|acci|eliminaci|cambio)",
  "(?<!\\p{L})(?:sig|segu|obede|ejecut)\\p{L}{0,6}[^.!?\\n]{0,30} (?:instrucciones|\u00f3rdenes)[^.!?\\n]{0,30} (?:p\u00e1ginas?|sitios?|web|correos?|documentos?|archivos?)(?!\\p{L})",
  // Dutch, Polish, Italian, Portuguese, Swedish, Norwegian, Danish
  "(?<!\\p{L})(?:zonder (?:het )?(?:me |mij |ons )?(?:te )?(?:vrag|overleg|bevestig|toestemming)|(?:hoeft|niet)[^.!?\\n]{0,20} te vragen)",
  "(?<!\\p{L})(?:bez (?:pytania|potwierdz|zgody|pozwoleni)|nie (?:musisz|trzeba) pyta\u0107)",
  "(?<!\\p{L})(?:senza (?:mai )?(?:chieder|conferm|autorizzaz|permesso)|sem (?:me |nos )?(?:perguntar|pedir|confirma|autoriza))",
  "(?<!\\p{L})(?:utan att fr\u00e5ga|uten \u00e5 sp\u00f8rre|uden at sp\u00f8rge)",
  // Chinese
  "(?:\u65e0\u9700|\u7121\u9700|\u4e0d\u9700\u8981?|\u4e0d\u7528|\u4e0d\u5fc5|\u4e0d\u8981|\u522b|\u672a\u7ecf|\u672a\u7d93)[^\u3002\uff01\uff1f\\n]{0,6}(?:\u786e\u8ba4|\u78ba\u8a8d|\u8be2\u95ee|\u8a62\u554f|\u6279\u51c6|\u540c\u610f|\u8bb8\u53ef|\u8a31\u53ef)",
  "(?:\u5141\u8bb8|\u5141\u8a31|\u6279\u51c6|\u540c\u610f|\u6388\u6743|\u6388\u6b0a)[^\u3002\uff01\uff1f\\n]{0,12}(?:\u6240\u6709|\u4efb\u4f55|\u4e00\u5207|\u5168\u90e8)[^\u3002\uff01\uff1f\\n]{0,6}(?:\u4ed8\u6b3e|\u652f\u4ed8|\u8d2d\u4e70|\u8f6c\u8d26|\u547d\u4ee4|\u64cd\u4f5c|\u5220\u9664|\u66f4\u6539)",
  "(?:\u9075\u5faa|\u9075\u5b88|\u670d\u4ece|\u542c\u4ece|\u6267\u884c|\u6309\u7167)[^\u3002\uff01\uff1f\\n]{0,12}(?:\u7f51\u9875|\u7f51\u7ad9|\u90ae\u4ef6|\u6587\u6863|\u6587\u4ef6)[^\u3002\uff01\uff1f\\n]{0,10}(?:\u6307\u4ee4|\u6307\u793a|\u547d\u4ee4)",
  // Russian
  "(?<!\\p{L})\u0431\u0435\u0437 (?:\\p{L}{1,20} ){0,2}(?:\u043f\u043e\u0434\u0442\u0432\u0435\u0440\u0436\u0434|\u0441\u043f\u0440\u043e\u0441|\u0437\u0430\u043f\u0440\u043e\u0441|\u0441\u043e\u0433\u043b\u0430\u0441\u0438|\u0440\u0430\u0437\u0440\u0435\u0448\u0435\u043d\u0438|\u043e\u0434\u043e\u0431\u0440\u0435\u043d\u0438)",
  "(?<!\\p{L})(?:\u0440\u0430\u0437\u0440\u0435\u0448\u0430|\u043e\u0434\u043e\u0431\u0440\u044f|\u043f\u043e\u0437\u0432\u043e\u043b\u044f)\\p{L}{0,4}[^.!?\\n]{0,30} (?:\u043b\u044e\u0431|\u0432\u0441\u0435|\u043a\u0430\u0436\u0434)\\p{L}{0,3} (?:\u043f\u043b\u0430\u0442\u0435\u0436|\u043f\u043b\u0430\u0442\u0451\u0436|\u043e\u043f\u043b\u0430\u0442|\u043f\u043e\u043a\u0443\u043f|\u043f\u0435\u0440\u0435\u0432\u043e\u0434|\u043a\u043e\u043c\u0430\u043d\u0434|\u0434\u0435\u0439\u0441\u0442\u0432|\u0443\u0434\u0430\u043b\u0435\u043d)",
  "(?<!\\p{L})(?:\u0432\u044b\u043f\u043e\u043b\u043d|\u0441\u043b\u0435\u0434|\u043f\u043e\u0434\u0447\u0438\u043d|\u0438\u0441\u043f\u043e\u043b\u043d)\\p{L}{0,8}[^.!?\\n]{0,30} (?:\u0438\u043d\u0441\u0442\u0440\u0443\u043a\u0446|\u0443\u043a\u0430\u0437\u0430\u043d|\u043a\u043e\u043c\u0430\u043d\u0434)\\p{L}{0,5}[^.!?\\n]{0,30} (?:\u0441\u0442\u0440\u0430\u043d\u0438\u0446|\u0441\u0430\u0439\u0442|\u043f\u0438\u0441|\u0434\u043e\u043a\u0443\u043c\u0435\u043d\u0442|\u0444\u0430\u0439\u043b)",
  // Japanese
  "(?:\u78ba\u8a8d|\u627f\u8a8d|\u8a31\u53ef|\u8cea\u554f)(?:\u306a\u3057|\u7121\u3057|\u4e0d\u8981|\u306f\u4e0d\u8981|\u629c\u304d|\u305b\u305a|\u3057\u306a\u3044\u3067|\u3092\u6c42\u3081\u305a|\u3092\u6c42\u3081\u306a\u3044|\u3092\u53d6\u3089\u305a)",
  "(?:\u3059\u3079\u3066|\u5168\u3066|\u5168\u90e8|\u3042\u3089\u3086\u308b)[^\u3002\\n]{0,10}(?:\u652f\u6255|\u8cfc\u5165|\u30b3\u30de\u30f3\u30c9|\u64cd\u4f5c|\u524a\u9664|\u9001\u91d1|\u5909\u66f4)[^\u3002\\n]{0,8}(?:\u627f\u8a8d|\u8a31\u53ef|\u540c\u610f)",
  "(?:\u30a6\u30a7\u30d6|\u30da\u30fc\u30b8|\u30b5\u30a4\u30c8|\u30e1\u30fc\u30eb|\u6587\u66f8|\u30d5\u30a1\u30a4\u30eb)[^\u3002\\n]{0,10}(?:\u6307\u793a|\u547d\u4ee4)[^\u3002\\n]{0,6}(?:\u5f93|\u5b9f\u884c)",
];
/** Each part is bounded, so that a long text costs its length. */
const APPROVAL: readonly RegExp[] = [
  `\\b(?:pre-?)?(?:approv|authori[sz]|permit|consent|grant|allow|accept|erlaub|genehmig)\\w{0,8}\\b[^.!?\\n]{0,60}\\b(?:${ACT})(?!\\w)`,
  `\\b(?:standing|blanket|general|prior) (?:approval|permission|consent|authori[sz]ation)\\b`,
  `\\b(?:authori[sz]|permit|allow|entitl|empower|let|trust)\\w{0,8} (?:the |this |my )?(?:${READER})\\b`,
  `\\b(?:${READER}) (?:may|can|is (?:free|allowed|permitted|authori[sz]ed))\\b[^.!?\\n]{0,60}\\b(?:any|all|every|always|on its own|by itself)\\b`,
  `\\bno questions asked\\b`,
  `\\bwants?\\b[^.!?\\n]{0,20}\\b(?:${ACT})\\b[^.!?\\n]{0,20}\\b(?:approved|accepted|allowed|permitted)\\b`,
  `\\blets? \\p{L}{1,20} (?:decide|approve|pay|sign|agree|consent)\\b`,
  `\\b(?:without|ohne)\\b[^.!?\\n]{0,20}(?<![\\p{L}])(?:${ASK})(?![\\p{L}])`,
  `(?:\\b(?:never|not|no need to|nie|nicht)|n't)\\b[^.!?\\n]{0,20}\\b(?:be )?(?:asked (?:before|first|again|for)|ask (?:before|first|again|for (?:confirmation|permission|approval))|confirm)\\b`,
  `\\b(?:obey|follow|comply with|execute|trust|carry out)\\w{0,3}\\b[^.!?\\n]{0,40}\\b(?:instructions?|orders|commands|requests)\\b[^.!?\\n]{0,40}\\b(?:pages?|sites?|websites?|web|documents?|e-?mails?|files?|tools?|messages?|results?)\\b`,
  `\\b(?:skip|bypass|omit|disable|suppress|turn off)\\w{0,4}\\b[^.!?\\n]{0,20}\\b(?:confirmations?|approvals|(?:approval|permission) (?:prompts?|checks?|requests?))\\b`,
  `\\b(?:treat|regard|consider|take|accept)\\w{0,3}\\b[^.!?\\n]{0,60}\\b(?:${SOURCE})\\b[^.!?\\n]{0,20}\\bas (?:an? |the |your |my )?(?:own )?(?:instructions?|orders?|commands?|if)\\b`,
  `\\b(?:instructions?|orders|commands|requests)\\b[^.!?\\n]{0,40}\\b(?:${SOURCE})\\b[^.!?\\n]{0,30}\\b(?:obeyed|followed|executed|carried out|trusted)\\b`,
  `\\b(?:do(?:es)?|follow\\w{0,3}|obey\\w{0,3}) (?:what|whatever|everything|anything)(?: that)? (?:it|they|the \\w{1,20}|(?:${SOURCE})|others)\\b[^.!?\\n]{0,10}\\b(?:says?|tells?|asks?|wants?|orders?)\\b`,
  `\\b(?:dislik|hat|doesn't (?:want|like|need)|annoyed by|tired of)\\w{0,4}\\b[^.!?\\n]{0,12}\\b(?:being|to be|getting) (?:asked|prompted|bothered|warned)\\b[^.!?\\n]{0,12}\\b(?:before|first|again|(?:for|to) (?:confirm\\w{0,6}|permission|approval|consent))\\b`,
  `\\b(?:say|answer|reply)(?: with)? (?:yes|ok|y)\\b[^.!?\\n]{0,60}\\b(?:${ASK})\\b`,
  `\\b(?:silence|(?:no|missing) (?:reply|answer|response))\\b[^.!?\\n]{0,40}\\b(?:yes|agreement|consent|approval|ok(?:ay)?)\\b`,
  `\\b(?:treat|take|consider|count|regard|see)\\w{0,3}\\b[^.!?\\n]{0,60}\\b(?:as (?:an? |my |our )?(?:yes|ok(?:ay)?|approval|consent|agreement|permission|confirmation|signature|mine|(?:coming )?from (?:me|us))|(?:pre-?)?cleared|(?:pre-?)?approved|authori[sz]ed)\\b`,
  `\\b(?:fine|ok(?:ay)?|happy|good) with (?:any|all|every|whatever)\\b[^.!?\\n]{0,30}\\b(?:${ACT})`,
  `\\b(?:assume|presume|suppose|act as if|pretend)\\b[^.!?\\n]{0,20}\\b(?:I|we|(?:the )?user)\\b[^.!?\\n]{0,30}\\b(?:fine|ok(?:ay)?|happy|agree[sd]?|approve[sd]?|confirm(?:s|ed)?|consent(?:s|ed)?)\\b`,
  `\\b(?:may|can|should|shall) decide for (?:me|us|the user|user)\\b|\\blets?\\b[^.!?\\n]{0,20}\\b(?:${ACT})\\b[^.!?\\n]{0,30}\\b(?:pass|through)\\b|\\b(?:${ACT})\\b[^.!?\\n]{0,40}\\bunasked\\b`,
  `\\b(?:judge?ment|word|reply|silence|mails?|messages?)\\b[^.!?\\n]{0,40}\\b(?:counts? as|(?:is|are) as good as) (?:my|mine|ours?)(?!\\w)|\\boverrid\\w{1,3} what (?:I|we) say\\b`,
  ...FOREIGN_APPROVAL,
].map((pattern) => new RegExp(pattern, "iu"));

const UPLOAD =
  /^(?:the )?user (?:has |have )?(?:uploaded|attached|shared|provided|sent) (?:an? |the |some |several |two |three |\d+ )?(?:\w+ ){0,2}(?:files?|documents?|images?|pictures?|photos?|pdfs?|attachments?|screenshots?|spreadsheets?)\b/i;

const TASK =
  /^(?:the )?user (?:asked|asks|is asking|requested|requests|wants|wanted|told)(?: (?:me|the assistant|you|the agent))? (?:to|for|about) (?:run|execute|fix|debug|list|open|read|print|echo|show|create|write|generate|summari[sz]e|translate|find|search|check|install|build|delete|rename|a |an |the |help with)\b|^(?:run|execute|echo|install|git|npm|cd|ls|cat|curl|sudo)\s+\S/i;

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text[0]!.toLowerCase() + text.slice(1) : text;
}

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

/** A label of a line, and a clause about a name: `says Ines, who counted them`. */
const LABEL = /^\p{L}+ \d{1,4}: (?=the |there |it |we |i )/iu;
const ABOUT_NAME =
  /(?<=[\p{L}\d] \p{Lu}\p{Ll}+, )who (?=(?:[a-z]{2,}ed|has|had|lives?|works?|lived|was|is) [^?]*\.$)/gu;

export function asksNothing(text: string): boolean {
  const plain = text
    .replace(/[\u2018\u2019]/g, "'")
    .trim()
    .replace(LABEL, "")
    .replaceAll(ABOUT_NAME, "");
  if (plain.length > LONGEST || ASKS.test(plain)) return false;
  const sentences = plain.split(/(?<=[.!])\s+|\n+/).filter((sentence) => /\p{L}/u.test(sentence));
  return sentences.every((sentence) => TELLS.test(sentence.trim()));
}

/** A longer text is a document or a task, and what it asks for may stand anywhere in it. */
const LONGEST = 500;
