/**
 * What features add to an agent's types, each beside its own code, so that a new one edits nothing here:
 *
 *     declare module "palimpsest" {
 *       interface FeatureEvents { audit: { readonly type: "audit-report"; readonly data: Report } }
 *     }
 *
 * Keys are names of features. These interfaces are empty on purpose.
 */

/** Events. One that has its payload in `data` reaches a browser, as a part of the type `data-<type>`. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it
export interface FeatureEvents {}

/** Ways a run can end, told apart by `kind`. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it
export interface FeatureEnds {}

/** Codes of an `AgentError`, and so of a run that failed: a literal or a union of them. */
// biome-ignore lint/suspicious/noEmptyInterface: features fill it
export interface FeatureErrorCodes {}
