/**
 * The heads of one thread at many places, for callers that fork it many times: each record that isn't a message is read
 * once, where `headAt` reads all of them for every place.
 */
import { advance, type Head } from "@palimpsest/core/internal/log";
import type { Store } from "../stores/store.ts";
import { headAt, OTHER_KINDS } from "../thread/acts.ts";
import { readStructure } from "../thread/structure.ts";

export class HeadTrail {
  readonly #store: Store;
  readonly #threadId: string;
  /** Its first records are that one's, up to there. */
  readonly #base: { readonly trail: HeadTrail; readonly seq: number } | null;
  /** The head after each record that isn't a message, in order; the first is the one it starts with. */
  readonly #heads: Head[] = [];
  #read = 0;
  #isRedacted = false;

  constructor(store: Store, threadId: string, base: { readonly trail: HeadTrail; readonly seq: number } | null = null) {
    this.#store = store;
    this.#threadId = threadId;
    this.#base = base;
  }

  /** The head as it was at `seq`, if the thread has `version` records by now; null: only the log can tell. */
  async at(seq: number, version: number): Promise<{ readonly head: Head; readonly readThrough: number } | null> {
    await this.#readTo(version);
    const owners = this.#owners(seq);
    if (owners.some((owner) => owner.#isRedacted)) return null;
    return { head: await owners.at(-1)!.#headAt(seq), readThrough: this.#read };
  }

  /** From this thread down to the one whose own record it is. */
  #owners(seq: number): readonly HeadTrail[] {
    const owners: HeadTrail[] = [this];
    for (let base = this.#base; base !== null && seq <= base.seq; base = base.trail.#base) owners.push(base.trail);
    return owners;
  }

  async #readTo(version: number): Promise<void> {
    if (this.#heads.length === 0) await this.#begin();
    if (version <= this.#read) return;
    const range = [this.#read + 1, version] as const;
    for await (const { chained, record } of this.#store.records(this.#threadId, { range, kinds: OTHER_KINDS })) {
      const last = this.#heads.at(-1)!;
      const before = { ...last, messages: last.messages + record.seq - last.version - 1 };
      const structure = record.kind === "undo" ? await readStructure(this.#store, this.#threadId) : [];
      const earlier = structure.filter((act) => act.seq < record.seq);
      this.#heads.push(advance(before, chained, record, earlier));
      this.#isRedacted ||= record.kind === "event" && record.event.type === "redacted";
    }
    this.#read = version;
  }

  /** From the nearest thread below whose start is known: they may stand on each other by the thousand. */
  async #begin(): Promise<void> {
    const above: HeadTrail[] = [];
    let trail: HeadTrail = this;
    for (; trail.#heads.length === 0 && trail.#base !== null; trail = trail.#base.trail) above.push(trail);
    if (trail.#heads.length === 0) trail.#start(await headAt({ store: trail.#store }, trail.#threadId, 0));
    for (const one of above.toReversed()) {
      const { trail: below, seq } = one.#base!;
      await below.#readTo(seq);
      one.#start(await below.#owners(seq).at(-1)!.#headAt(seq));
    }
  }

  #start(head: Head): void {
    this.#heads.push(head);
    this.#read = head.version;
  }

  async #headAt(seq: number): Promise<Head> {
    const last = this.#heads[this.#lastBefore(seq)]!;
    if (last.version === seq) return last;
    for await (const { chained } of this.#store.records(this.#threadId, { range: [seq, seq] }))
      return {
        ...last,
        version: seq,
        hash: chained.hash,
        updatedAt: chained.at,
        messages: last.messages + seq - last.version,
      };
    return headAt({ store: this.#store }, this.#threadId, seq);
  }

  /** The index of the last head that isn't later. */
  #lastBefore(seq: number): number {
    let [low, high] = [0, this.#heads.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#heads[middle]!.version <= seq) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
