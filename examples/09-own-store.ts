// A store of your own: the log on a Map. It passes the suite that SQLite and PostgreSQL pass (@palimpsest/testing/conformance).
import { createDeepAgent } from "palimpsest";
import { offlineModel } from "palimpsest/models";
import type { AppendBatch, AppendResult, ChainedRecord, Head, Lease, Store, ThreadHeader } from "palimpsest/stores";
import { driver } from "palimpsest/stores";

interface Thread {
  readonly num: number;
  header: ThreadHeader;
  head: Head;
  /** A fork holds its parent's own rows, so that an erasure finds every thread that shares one. */
  readonly rows: ReturnType<typeof newRow>[];
  lease: { readonly owner: string; readonly epoch: number; renewed: number; expires: number } | null;
}

let created = 0;

export function mapStore(users = new Map<string, Map<string, Thread>>(), userId = "default"): Store {
  const threads = users.get(userId) ?? new Map<string, Thread>();
  users.set(userId, threads);
  const create = (header: ThreadHeader, head: Head, rows: Thread["rows"]) => {
    if (threads.has(header.id)) return "exists";
    threads.set(header.id, { num: ++created, header, head, rows, lease: null });
    return "created";
  };
  /** An expired lease that no other process has taken still counts: no other process can have written. */
  const held = ({ threadId, owner, epoch }: Lease) => {
    const lease = threads.get(threadId)?.lease;
    return lease?.owner === owner && lease.epoch === epoch ? lease : undefined;
  };
  const refusal = (id: string, { expect, lease }: AppendBatch): AppendResult | null => {
    const thread = threads.get(id);
    if (thread === undefined) return { kind: "missing" };
    if (lease.threadId !== id || !held(lease)) return { kind: "lease-lost" };
    return thread.head.version === expect ? null : { kind: "conflict", version: thread.head.version };
  };
  const write = (id: string, batch: AppendBatch): AppendResult => {
    driver.assertInOrder(batch);
    const thread = threads.get(id)!;
    thread.rows.push(...batch.records.map(newRow));
    thread.head = batch.head;
    return { kind: "appended", version: batch.head.version };
  };
  const erase = (id: string, seq: number, text: Partial<ChainedRecord>): void => {
    const row = threads.get(id)!.rows[seq - 1]!;
    const erased = driver.storedRecord({ ...row.chained, ...text, redacted: true });
    for (const { rows } of threads.values()) if (rows[seq - 1] === row) rows[seq - 1] = erased;
  };
  return {
    userId,
    forUser: (other) => mapStore(users, driver.assertUser(other)),
    users: async (after = "") => [...users.keys()].filter((one) => one > after && users.get(one)!.size > 0).sort(),
    createThread: async (header, head, records = []) =>
      create(driver.ownHeader(userId, header), head, records.map(newRow)),
    header: async (id) => threads.get(id)?.header,
    head: async (id) => threads.get(id)?.head,
    append: async (id, batch) => refusal(id, batch) ?? write(id, batch),
    async *records(id, { range: [first, last] = [1, Number.MAX_SAFE_INTEGER], kinds, seqs, order, bodies } = {}) {
      const rows = threads.get(id)?.rows ?? [];
      const step = order === "descending" ? -1 : 1;
      const start = step > 0 ? first : Math.min(last, rows.length);
      for (let seq = start; seq >= first && seq <= Math.min(last, rows.length); seq += step) {
        const row = rows[seq - 1]!;
        const wanted = (kinds?.includes(row.chained.kind) ?? true) && (seqs?.includes(seq) ?? true);
        if (wanted) yield bodies === "none" ? driver.withoutBody(row) : row;
      }
    },
    async load(id) {
      const thread = threads.get(id);
      if (thread === undefined) return undefined;
      const tail = thread.rows.slice(thread.head.hiddenThrough);
      const hidden = driver.hiddenButShown(thread.head, tail).map((seq) => thread.rows[seq - 1]!);
      return { header: thread.header, head: thread.head, records: [...hidden, ...tail] };
    },
    async threads({ kind, after, limit = 50, order = "recent" } = {}) {
      const compare = driver.PAGE_ORDERS[order];
      const mark = after === undefined ? null : driver.readMark(after);
      const found = [...threads.values()]
        .filter((one) => kind === undefined || one.header.kind === kind)
        .filter((one) => mark === null || compare(mark, markOf(one)) < 0)
        .sort((a, b) => compare(markOf(a), markOf(b)));
      const page = found.slice(0, limit).map(driver.summaryOf);
      return { threads: page, next: found.length > limit ? driver.writeMark(markOf(found[limit - 1]!)) : null };
    },
    async fork({ from, at, header, head, records = [] }) {
      const parent = threads.get(from);
      if (parent === undefined) return "missing";
      if (at > parent.head.version) return "beyond-end";
      return create(driver.ownHeader(userId, header), head, [...parent.rows.slice(0, at), ...records.map(newRow)]);
    },
    async sharers(id, seq) {
      const row = threads.get(id)?.rows[seq - 1];
      return [...threads.values()].filter((one) => row && one.rows[seq - 1] === row).map(({ header }) => header.id);
    },
    async deleteThread(id, lease) {
      const thread = threads.get(id);
      if (thread === undefined) return "missing";
      if (isLeased(thread) && !(lease && held(lease))) return "busy";
      threads.delete(id);
      for (const one of threads.values())
        if (one.header.parent === id && one.header.forkedAt !== null) one.header = driver.orphaned(one.header);
      return "deleted";
    },
    async redact({ bodies, headers = [], batches }) {
      const refused = batches.map(({ threadId, batch }) => refusal(threadId, batch)).find((one) => one !== null);
      if (refused) return refused;
      const [first] = batches.map(({ threadId, batch }) => write(threadId, batch));
      for (const { threadId, seq, body } of bodies) erase(threadId, seq, { body });
      for (const { threadId, seq, header } of headers) erase(threadId, seq, { header });
      return first ?? { kind: "appended", version: 0 };
    },
    async acquireLease(id, owner, ttlMs) {
      const thread = threads.get(id);
      if (thread === undefined) return { kind: "missing" };
      const { lease } = thread;
      if (lease && isLeased(thread) && lease.owner !== owner)
        return { kind: "busy", owner: lease.owner, renewedAt: iso(lease.renewed), expiresAt: iso(lease.expires) };
      const epoch = (lease?.epoch ?? 0) + 1;
      thread.lease = { owner, epoch, renewed: Date.now(), expires: Date.now() + ttlMs };
      return { kind: "acquired", lease: { threadId: id, owner, epoch } };
    },
    async renewLease(lease, ttlMs) {
      const own = held(lease);
      // One that was given back has no end any more.
      if (!own?.expires) return "lost";
      Object.assign(own, { renewed: Date.now(), expires: Date.now() + ttlMs });
      return "renewed";
    },
    releaseLease: async (lease) => void Object.assign(held(lease) ?? {}, { expires: 0 }),
    async writeHead(id, head) {
      const thread = threads.get(id);
      if (thread?.rows.length !== head.version) return thread ? "conflict" : "missing";
      thread.head = head;
      return "written";
    },
    close: async () => {},
  };
}

const iso = (ms: number) => new Date(ms).toISOString();
const newRow = (chained: ChainedRecord) => driver.storedRecord({ ...chained, redacted: false });
const isLeased = ({ lease }: Thread) => lease !== null && lease.expires > Date.now();
const markOf = ({ num, head }: Thread): driver.PageMark => ({ num, updated: head.updatedAt });

const agent = createDeepAgent({ model: offlineModel(), store: mapStore() });
await agent.generate({ threadId: "t", prompt: "The cargo is forty barrels of cider." });
for await (const { seq, body } of agent.thread("t").replay()) console.log(`${seq}: ${body}`);
await agent.close();
