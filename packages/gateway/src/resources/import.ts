/** Files of messages into threads: a file's text, or a zip archive of such files, which is read while it is unpacked. */
import { type ImportOutcome, importFile, importFolder } from "palimpsest/import";
import { folderDocument, importDocument } from "palimpsest/internal/documents";
import type { Home } from "palimpsest/internal/home";
import { beginsZip } from "palimpsest/internal/import";
import { z } from "zod";
import { ProblemError } from "../http/problem.ts";
import { agent, flag, list, route, thread } from "../http/route.ts";
import { busy, newThreadId } from "./own-thread.ts";

const problems = list(z.strictObject({ place: z.string(), message: z.string() }));
const file = z.strictObject({ file: z.string(), imported: z.int(), problem: z.string().nullable() });

/** An archive that is larger is refused by what its own list says, before anything of it is unpacked. */
const MOST = { files: 10_000, bytes: 256 << 20 };

const quota = importQuota();
const unpacking = unpackingRoom();

export const importRoute = route({
  method: "POST",
  path: "/api/threads/{id}/import",
  summary:
    "Read a file of messages, or an app's export, into a new thread; several conversations make ID-1 ... ID-n, the files of a zip archive ID-FILE",
  access: "user",
  takes: "sessions",
  query: z.strictObject({
    learn: flag.optional().describe("Let memory learn from the user's words in it."),
    memory: z
      .literal("off")
      .optional()
      .describe("Memory never learns from these threads, and they are no evidence in others."),
    skipInvalid: flag.optional().describe("Import what is valid and report the rest."),
    agent: agent.optional(),
  }),
  body: z.instanceof(Buffer).describe("The file's text, or a zip archive."),
  answer: z.strictObject({
    thread,
    imported: z.int(),
    skipped: z.int(),
    dialect: z.string(),
    format: z.string().nullable(),
    threads: list(z.strictObject({ thread, messages: z.int() })),
    invalid: problems,
    warnings: problems,
    files: list(file).optional().describe("Of an archive: each file, and why nothing of it was imported."),
  }),
  async handle({ params, query, body: bytes, home, signal }) {
    const id = newThreadId(params["id"]!);
    const { title: settings, gateway } = await home.settings();
    const options = {
      threadId: id,
      bytes,
      title: settings.enabled ? { maxWords: settings.max_words } : null,
      onInvalid: query.skipInvalid === true ? "skip" : "refuse",
      memory: query.memory ?? (query.learn === true ? "learn" : "skip"),
      agentName: query.agent,
      recordsAtOnce: 2000,
      onMessages: quota.counting(home, gateway.imported_messages_per_day),
      signal,
    } as const;
    if (!beginsZip(bytes)) return importDocument(id, imported(await importFile(home, "the body", options)));
    const value = { bytes: Math.floor(gateway.body_limit_mb * 1024 * 1024), setting: "gateway.body_limit_mb" };
    const place = unpacking.place(value.bytes);
    const folder = await importFolder(home, "the body", {
      ...options,
      most: { ...MOST, value },
      onLargest: place.take,
    }).finally(place.leave);
    const document = folderDocument(id, folder);
    if (document.threads.length > 0) return document;
    // A single file of an archive fails as it would alone; of several the first says why.
    imported(folder.files[0]?.outcome ?? NO_FILE);
    return document;
  },
});

const NO_FILE: ImportOutcome = { kind: "empty", skipped: 0, seen: "The archive holds no .json or .jsonl file." };

/** Throws for whatever else it is. */
function imported(outcome: ImportOutcome): Extract<ImportOutcome, { readonly kind: "imported" }> {
  switch (outcome.kind) {
    case "imported":
      return outcome;
    case "invalid": {
      const { place, message } = outcome.problems[0]!;
      throw new ProblemError(
        422,
        "invalid-messages",
        `${place === "" ? "" : `${place}: `}${message}. Nothing was imported`,
        { details: outcome.problems.slice(0, 20) },
      );
    }
    case "empty":
      throw new ProblemError(422, "empty", `there is no message in it. ${outcome.seen}`);
    case "unreadable":
    case "bad-thread-id":
      throw new ProblemError(400, outcome.kind, outcome.problem);
    case "exists":
      throw new ProblemError(409, "exists", `there is a thread ${JSON.stringify(outcome.threadId)} already`);
    case "busy":
      throw busy(outcome.threadId);
  }
}

/* How many messages each user has imported today, by UTC. Kept in memory: every gateway counts for itself. */

interface ImportQuota {
  /**
   * For one import of the home's user: told the messages of the file that is being read, as far as they are read. Throws
   * when they are more than the user has left. `most` null: there is no limit.
   */
  counting(home: Pick<Home, "directory" | "userId" | "clock">, most: number | null): (messages: number) => void;
}

export function importQuota(): ImportQuota {
  let today = "";
  let counts = new Map<string, number>();
  return {
    counting({ directory, userId, clock }, most) {
      const key = JSON.stringify([directory, userId]);
      let before = 0;
      return (messages) => {
        const day = clock().toISOString().slice(0, 10);
        if (day !== today) [today, counts] = [day, new Map()];
        // A number that gets smaller is the next file's.
        const count = (counts.get(key) ?? 0) + (messages < before ? messages : messages - before);
        before = messages;
        // Nothing of the file is imported, so nothing of it counts: a smaller one may still come.
        if (most !== null && count > most) {
          counts.set(key, count - messages);
          throw new ProblemError(
            429,
            "import-limit",
            `a user may import ${most} messages in a day here (gateway.imported_messages_per_day); nothing of this file was imported`,
          );
        }
        counts.set(key, count);
      };
    },
  };
}

/*
 * Bounds what archives hold in memory while they are imported, all users together. An archive is read value by value, so
 * that it holds at most the longest value that is allowed, and no more than its largest file.
 */

interface UnpackingRoom {
  /** For one import; `longest`: the most bytes of one value. */
  place(longest: number): UnpackingPlace;
}

interface UnpackingPlace {
  /** Takes room for an archive whose largest file has so many bytes. Throws if there is none at the moment. */
  take(largest: number): void;
  leave(): void;
}

/** Values of the greatest length that may be in memory at once. */
const VALUES = 2;

export function unpackingRoom(): UnpackingRoom {
  let taken = 0;
  return {
    place(longest) {
      let own = 0;
      return {
        take(largest) {
          const bytes = Math.min(largest, longest);
          if (taken + bytes > VALUES * longest)
            throw new ProblemError(
              503,
              "unpacking",
              "other large archives are being imported at the moment: try again in a few seconds; nothing was imported",
              { headers: { "retry-after": "5" } },
            );
          own += bytes;
          taken += bytes;
        },
        leave() {
          taken -= own;
          own = 0;
        },
      };
    },
  };
}
