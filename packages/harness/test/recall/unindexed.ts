/** Messages that get into a log past everything that would index them, and what an index holds of them. */
import { createHash } from "node:crypto";
import { type Random, random } from "@palimpsest/testing/internal/shapes";
import type { Store } from "../../src/stores/store.ts";
import type { RecordInput } from "../../src/thread/writer.ts";
import { prepare, type Writer } from "../../src/thread/writer.ts";

const COMMON = ["harbor", "lantern", "tulip", "falcon", "orchard"];

/** Message n says `word<n>`; with `draw` some are calls of tools and their results, a few of them far apart. */
export async function appendUnindexed(writer: Writer, count: number, draw: Random | null = null): Promise<void> {
  const { store, lease } = writer;
  for (let done = 0; done < count; ) {
    const head = (await store.head(lease.threadId))!;
    const size = Math.min(3000, count - done);
    const inputs = Array.from({ length: size }, (_, index) => message(head.messages + index, draw ?? random(index)));
    const said = draw === null ? inputs : withTools(inputs, draw, head.messages);
    const result = await store.append(lease.threadId, await prepare(writer, head, said));
    if (result.kind !== "appended") throw new Error(`the test's own append: ${result.kind}`);
    done += size;
  }
}

function message(n: number, draw: Random): RecordInput {
  const role = n % 2 === 0 ? "user" : "assistant";
  return input(`m${n}`, role, { role, content: `word${n} ${draw.pick(COMMON)} ${draw.pick(COMMON)}` });
}

function withTools(said: readonly RecordInput[], draw: Random, from: number): RecordInput[] {
  const all = [...said];
  for (let pair = 0; pair < Math.ceil(said.length / 40); pair += 1) {
    const [call, result] = [draw.int(0, all.length - 1), draw.int(0, all.length - 1)].sort((a, b) => a - b);
    if (call === result) continue;
    const id = `call-${from}-${pair}`;
    const name = draw.pick(["recall", "read_file"]);
    const calls = [{ id, type: "function", function: { name, arguments: '{"query":"harbor"}' } }];
    all[call!] = input(`${id}-asks`, "assistant", { role: "assistant", content: "", tool_calls: calls });
    all[result!] = input(`${id}-told`, "tool", {
      role: "tool",
      tool_call_id: id,
      content: `echo ${draw.pick(COMMON)}`,
    });
  }
  return all;
}

function input(id: string, role: "user" | "assistant" | "tool", body: object): RecordInput {
  const origin = role === "assistant" ? "model" : role;
  return { kind: "message", id, dialect: "openai", origin, body: JSON.stringify(body) };
}

/** The hash of all of it, as far as the common words and the positions go. */
export async function indexOf({ search }: Pick<Store, "search">, threadId: string): Promise<string> {
  const { indexed, newest, length, ...segment } = (await search!.lineage(threadId)).at(-1)!;
  const entries = await search!.entries([{ threadId, first: 0, last: 1_000_000 }]);
  const before = Math.floor((newest?.ordinal ?? 0) / search!.blockSize) + 1;
  const terms = [...COMMON, "echo", "word5", "word77", "word901"];
  const postings = await search!.postings([{ threadId, before }], terms);
  const rows = postings.map(({ term, block, count, list }) => [block, term, count, list].join(" ")).sort();
  const sorted = entries.toSorted((a, b) => a.ordinal - b.ordinal);
  const all = [indexed, newest, length, segment.entries, sorted, rows];
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
}
