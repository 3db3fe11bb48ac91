/**
 * Ids in a request that name what an account with a provider holds: files, containers, vector stores, stored answers. An
 * account knows no users of ours, so with the operator's key they may be anybody's. Looks at the places where providers
 * read such ids, and never into arguments and schemas of the client's own tools.
 */
import { ProblemError } from "../http/problem.ts";
import type { CompatibleCall, CompatibleDeps } from "./call.ts";
import type { Target } from "./models.ts";
import type { Fields } from "./vendor.ts";
import { ownsAccount } from "./whose-key.ts";

/** By the provider's own path to them, below `/v1`. */
type Held = "files" | "vector_stores" | "containers" | "responses" | "conversations";

/** Whether the caller may name whatever the account behind the target holds. */
export function mayNameAny(call: CompatibleCall, target: Target): boolean {
  return target.way !== "raw" || ownsAccount(call, target);
}

/** Throws the refusal of a request that names what isn't its caller's. */
export function assertNamesOwn(
  call: CompatibleCall,
  { settings }: CompatibleDeps,
  { target, bytes, body }: { readonly target: Target; readonly bytes: Buffer; readonly body: Fields },
): void {
  if (mayNameAny(call, target) || !mayName(bytes)) return;
  // An item of a conversation that is named too is looked up there: `assertOwnReference` sees to the vendor's own.
  const isNamed = body["previous_response_id"] != null || body["conversation"] != null;
  const closed = heldIn(body).find(
    (held) => !(isNamed && held === "conversations") && !opens(settings.gateway.pass_through, held),
  );
  if (closed !== undefined) throw notYours(closed);
}

/** The same of a conversation that the provider is left to look up. */
export function assertOwnReference(
  call: CompatibleCall,
  { settings }: CompatibleDeps,
  { target, body }: { readonly target: Target; readonly body: Fields },
): void {
  if (mayNameAny(call, target)) return;
  const held =
    body["previous_response_id"] != null ? "responses" : body["conversation"] != null ? "conversations" : null;
  if (held !== null && !opens(settings.gateway.pass_through, held)) throw notYours(held);
}

/** False: none of the words is there, also not with one of its letters escaped. Bodies are long, and this is fast. */
export function mayName(bytes: Buffer): boolean {
  return WORDS.some((word) => bytes.includes(word));
}

const WORDS = [
  "file_id",
  "vector_store_ids",
  "container",
  "item_reference",
  "previous_response_id",
  "conversation",
].concat(["2", "3", "4", "5", "6", "7"].map((digit) => `\\u00${digit}`));

function opens(list: CompatibleDeps["settings"]["gateway"]["pass_through"], held: Held): boolean {
  return list === "all" || list.some((entry) => entry.includes(` /v1/${held}`));
}

function heldIn(body: Fields): readonly Held[] {
  const said = [body["messages"], body["input"]].flatMap((list) => (Array.isArray(list) ? list : []));
  const tools = Array.isArray(body["tools"]) ? body["tools"] : [];
  return [...said.flatMap(inPart), ...tools.flatMap(inTool), ...inContainer(body["container"])];
}

/** A message, an item, or a part of one. */
function inPart(value: unknown): readonly Held[] {
  if (typeof value !== "object" || value === null) return [];
  const { type, content, output, file, source, file_id: id } = value as Fields;
  const own: readonly Held[] =
    type === "item_reference"
      ? ["conversations"]
      : CARRIES_FILE.has(String(type)) && [id, idOf(file), idOf(source)].some((one) => one != null)
        ? ["files"]
        : [];
  const inside = [content, output].flatMap((list) => (Array.isArray(list) ? list : [list]));
  return [...own, ...inside.flatMap(inPart)];
}

/** Parts from which a provider reads a file. */
const CARRIES_FILE = new Set(["file", "input_file", "input_image", "image", "document", "container_upload"]);

function idOf(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as Fields)["file_id"] : null;
}

function inTool(tool: unknown): readonly Held[] {
  if (typeof tool !== "object" || tool === null) return [];
  const { vector_store_ids: stores, container } = tool as Fields;
  return [...(stores == null ? [] : (["vector_stores"] as const)), ...inContainer(container)];
}

/** Its id, or an object with it or with the files for a new one. */
function inContainer(container: unknown): readonly Held[] {
  if (container == null) return [];
  if (typeof container !== "object") return ["containers"];
  const { id, file_ids: files } = container as Fields;
  return [...(id == null ? [] : (["containers"] as const)), ...(files == null ? [] : (["files"] as const))];
}

function notYours(held: Held): ProblemError {
  const remedy = `send the content itself, bring the provider's own key as X-Provider-Key, or have the operator list a path of /v1/${held} in gateway.pass_through`;
  const message = `the request names something of the provider's account (${held.replace("_", " ")}), which isn't opened to your key: ${remedy}`;
  return new ProblemError(403, "provider-id", message);
}
