/** The page's subject about what stands between a client and a provider. */
import { ms, type Row, type Subject, times, whole } from "./write.ts";

interface Through {
  readonly messages: number;
  readonly through: string;
  readonly addedP50Ms?: number;
  readonly addedP99Ms?: number;
  readonly addedFirstTokenMs?: number;
  readonly timesBare?: number | null;
  readonly cpuMs?: number | null;
}

const PEER = "Portkey";
const LIMIT = "bare node:http";

export const gatewayProxy: Subject = {
  id: "gateway-proxy",
  title: "A gateway between client and provider",
  about:
    "What it adds to a request straight to the provider, which streams 64 deltas at once: half of the time and in the worst of a hundred, to the first token, and CPU of its process. The history is sent whole each time, one turn longer; all are asked in turn within a round. `off`, `observe` and `on` are our modes; beside them Portkey's gateway, which keeps nothing (its package as published, with the two versions pinned under which it streams). The bare proxy of 20 lines is the limit. Client, provider and gateway share the machine's cores, so CPU is what compares best. With 10,000 messages most of our CPU is garbage collection, which the buffers of long bodies set off.",
  data: "generated for the run; nothing was tuned on it.",
  rows({ rows }: { rows: readonly Through[] }) {
    return rows
      .filter(({ through }) => through !== "direct" && through !== PEER)
      .flatMap((row): Row[] => {
        const peer = rows.find(({ messages, through }) => messages === row.messages && through === PEER);
        const what = `${whole(row.messages)} messages, ${row.through}`;
        if (peer === undefined || row.through === LIMIT) return figures(what, row, undefined);
        return figures(`${what}; ${PEER}`, row, peer);
      });
  },
};

const MEASURES = {
  "added, p50": "addedP50Ms",
  "added, p99": "addedP99Ms",
  "added to the first token": "addedFirstTokenMs",
  CPU: "cpuMs",
} as const;

function figures(what: string, own: Through, peer: Through | undefined): Row[] {
  return Object.entries(MEASURES).flatMap(([measure, name]) => {
    const [ours, theirs] = [own[name], peer?.[name]];
    if (ours == null) return [];
    if (theirs == null) return [{ what, measure, ours: ms(ours) }];
    return [{ what, measure, ours: ms(ours), theirs: ms(theirs), ratio: times(theirs / ours) }];
  });
}
