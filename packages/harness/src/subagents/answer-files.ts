/** Keeps children's whole answers where the parent's file tools can read them; the prompt gets what fits. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ThreadName } from "@palimpsest/core/log";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../home-folders.ts";

/** Keeps the text and returns the path the parent's model knows it by; null: there is no place for files. */
export type KeepAnswer = (parent: ThreadName, child: string, text: string) => Promise<string | null>;

export interface AnswerFolder {
  /** On the disk. */
  readonly directory: string;
  /** As the model names it. */
  readonly path: string;
}

export function answerFiles(folderOf: (parent: ThreadName) => AnswerFolder): KeepAnswer {
  return async (parent, child, text) => {
    const { directory, path } = folderOf(parent);
    await mkdir(directory, { recursive: true, mode: PRIVATE_FOLDER });
    // A child's thread id is a file name by its own rules; a continued child replaces its answer.
    await writeFile(join(directory, `${child}.md`), text, { mode: PRIVATE_FILE });
    return `${path}/${child}.md`;
  };
}
