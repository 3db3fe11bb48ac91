/** The threads of a gateway, page by page. */
import type { threadDocument } from "palimpsest/internal/documents";
import type { RemoteContext } from "../command/command.ts";

type Row = ReturnType<typeof threadDocument>;

/** The most recently changed first. */
export async function remoteThreads({ server, signal }: RemoteContext, limit: number): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let after: string | null | undefined;
  while (after !== null && rows.length < limit) {
    signal.throwIfAborted();
    const page = { limit: Math.min(PAGE, limit - rows.length), after };
    const { threads, next } = await server.get<{ threads: Row[]; next: string | null }>("/api/threads", page);
    rows.push(...threads);
    after = next;
  }
  return rows;
}

const PAGE = 500;
