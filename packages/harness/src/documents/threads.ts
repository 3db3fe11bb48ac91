/** What an import has brought, as JSON. */
import type { Problem } from "../import/conversation.ts";
import type { ImportOutcome } from "../import/import-file.ts";
import type { FileOutcome, FolderOutcome } from "../import/import-folder.ts";

export function importDocument(threadId: string, outcome: Extract<ImportOutcome, { readonly kind: "imported" }>) {
  const { kind: _, ...told } = outcome;
  return { thread: threadId, ...told };
}

/** Of an archive or a folder: as of one file, and what became of each. */
export function folderDocument(threadId: string, { files }: FolderOutcome) {
  const done = files.flatMap(({ file, outcome }) => (outcome.kind === "imported" ? [{ file, ...outcome }] : []));
  const formats = new Set(done.map(({ format }) => format));
  const placed = (file: string, problems: readonly Problem[]): readonly Problem[] =>
    problems.map(({ place, message }) => ({ place: place === "" ? file : `${file}, ${place}`, message }));
  return {
    thread: threadId,
    imported: done.reduce((sum, { imported }) => sum + imported, 0),
    skipped: done.reduce((sum, { skipped }) => sum + skipped, 0),
    dialect: done[0]?.dialect ?? "",
    format: formats.size === 1 ? done[0]!.format : null,
    threads: done.flatMap(({ threads }) => threads),
    invalid: done.flatMap(({ file, invalid }) => placed(file, invalid)),
    warnings: done.flatMap(({ file, warnings }) => placed(file, warnings)),
    files: files.map(fileDocument),
  };
}

function fileDocument({ file, outcome }: FileOutcome) {
  const imported = outcome.kind === "imported" ? outcome.imported : 0;
  return { file, imported, problem: problemOf(outcome) };
}

/** Null: it is imported. */
function problemOf(outcome: ImportOutcome): string | null {
  switch (outcome.kind) {
    case "imported":
      return null;
    case "exists":
      return `thread "${outcome.threadId}" exists already`;
    case "invalid": {
      const { place, message } = outcome.problems[0]!;
      return place === "" ? message : `${place}: ${message}`;
    }
    case "empty":
      return `it holds no message. ${outcome.seen}`;
    case "busy":
      return `thread "${outcome.threadId}" is being written by somebody else`;
    case "bad-thread-id":
    case "unreadable":
      return outcome.problem;
  }
}
