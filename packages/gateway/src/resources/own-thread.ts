/** The caller's threads, and the answers that every route about one shares. Another user's thread is not there. */
import { checkThreadId } from "@palimpsest/core/internal/log";
import type { Home } from "palimpsest/internal/home";
import { heldText } from "palimpsest/internal/stores";
import { notFound, ProblemError } from "../http/problem.ts";

interface About {
  readonly params: Readonly<Record<string, string>>;
  readonly home: Home;
}

/** The thread of the path; 404 where the caller has none of this id, also for what can't be one. */
export async function ownThread({ params, home }: About): Promise<string> {
  const id = params["id"] ?? "";
  if (checkThreadId(id).kind === "invalid" || (await home.store.header(id)) === undefined)
    throw notFound(`thread ${JSON.stringify(id.slice(0, 140))}`);
  return id;
}

export function busy(id: string, held?: Parameters<typeof heldText>[0]): ProblemError {
  const text = `thread ${JSON.stringify(id)} is being written to by another run${heldText(held)}`;
  return new ProblemError(409, "busy", text);
}

/** An id for a thread that is to be made. */
export function newThreadId(id: string): string {
  const checked = checkThreadId(id);
  if (checked.kind === "invalid") throw new ProblemError(400, "bad-thread-id", checked.problem);
  return id;
}
