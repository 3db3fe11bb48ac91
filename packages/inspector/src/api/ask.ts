/**
 * Every request of the page to its gateway. A refusal is a value that names its reason; nothing here throws. Who needs a
 * key is asked for it by the frame: this file only says that one is needed.
 */
import { signal } from "@preact/signals";
import { type Client, createClient, type Routes } from "palimpsest/client";

/** What went wrong: `code` is the gateway's own, `unreachable` where it doesn't answer. */
export interface ApiProblem {
  readonly code: string;
  readonly message: string;
  /** Null: there was no answer. */
  readonly status: number | null;
}

export type ApiOutcome<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "failed"; readonly problem: ApiProblem };

/** Where there is nothing to ask for. */
export const notAsked = async (): Promise<ApiOutcome<null>> => ({ kind: "ok", value: null });

export type AskAnswer<Name extends keyof Routes> = Routes[Name]["answer"];

/** `key-needed`: nothing more comes until one is given. `away`: the gateway doesn't answer. */
export const access = signal<"open" | "key-needed" | "away">("open");

/** For what is followed: runs and their events. */
export const client: Client = createClient();

export async function ask<Name extends keyof Routes>(
  name: Name,
  ...input: Parameters<typeof client.call<Name>> extends [Name, ...infer Rest] ? Rest : never
): Promise<ApiOutcome<AskAnswer<Name>>> {
  try {
    const value = await client.call<Name>(name, ...(input as never));
    access.value = "open";
    return { kind: "ok", value };
  } catch (error) {
    const problem = problemOf(error);
    if (problem.status === 401) access.value = "key-needed";
    else if (problem.code === "unreachable") access.value = "away";
    else if (problem.status !== null) access.value = "open";
    return { kind: "failed", problem };
  }
}

export function problemOf(error: unknown): ApiProblem {
  const { code, status, message } = error as { code?: unknown; status?: unknown; message?: unknown };
  if (code === "unreachable")
    return { code, status: null, message: "The gateway can't be reached. It is tried again." };
  return {
    code: typeof code === "string" ? code : "unexpected",
    status: typeof status === "number" ? status : null,
    message: typeof message === "string" ? message : String(error),
  };
}
