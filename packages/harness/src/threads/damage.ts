/** Whether what a load brought is all that the head says there is. Hashes are `verify`'s business; a gap shows at once. */
import type { ThreadLoad } from "../stores/store.ts";

export interface Damage {
  /** The first record that is missing. */
  readonly seq: number;
  readonly message: string;
}

/** Only of what the view is made from: records hidden behind a summary aren't loaded. */
export function damageOf({ header, head, records }: ThreadLoad): Damage | null {
  const tail = records.filter(({ chained }) => chained.seq > head.hiddenThrough);
  let seq = head.hiddenThrough + 1;
  for (const { chained } of tail) {
    if (chained.seq !== seq) return missing(header.id, seq);
    seq += 1;
  }
  if (seq <= head.version) return missing(header.id, seq);
  const last = tail.at(-1)?.chained;
  return last !== undefined && last.hash !== head.hash ? missing(header.id, head.version) : null;
}

function missing(threadId: string, seq: number): Damage {
  return {
    seq,
    message:
      `thread ${threadId} is damaged: record ${seq} is missing or not what it was. \`palimpsest verify ${threadId}\` names the damage; ` +
      `restore a backup, or fork the thread at ${seq - 1}.`,
  };
}
