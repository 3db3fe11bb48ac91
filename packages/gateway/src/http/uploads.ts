/** Files that came with a request: as a form, or one as the body itself. Names are checked before anything is written. */
import { normalized } from "@palimpsest/core/internal/text";
import { ProblemError } from "./problem.ts";

export interface UploadedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

export async function readUploads(bytes: Buffer, type: string, name: string | null): Promise<readonly UploadedFile[]> {
  const files = /^multipart\/form-data/i.test(type) ? await formFiles(bytes, type) : rawFile(bytes, name);
  if (files.length === 0) throw new ProblemError(400, "no-file", "there is no file in it");
  if (files.length > MOST_FILES)
    throw new ProblemError(400, "too-many-files", `at most ${MOST_FILES} files come with one request`);
  const names = new Set(files.map((file) => file.name));
  if (names.size < files.length) throw new ProblemError(400, "bad-name", "two files of one request have the same name");
  return files;
}

const MOST_FILES = 100;

function rawFile(bytes: Buffer, name: string | null): UploadedFile[] {
  if (name === null)
    throw new ProblemError(400, "no-name", "a file as the body needs a name: ?name=report.pdf; or send a form");
  return [{ name: checkedName(name), bytes }];
}

async function formFiles(bytes: Buffer, type: string): Promise<UploadedFile[]> {
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData().catch(() => {
    throw new ProblemError(400, "bad-form", "the form can't be read");
  });
  const files: UploadedFile[] = [];
  for (const value of form.values())
    if (typeof value !== "string")
      files.push({ name: checkedName(value.name), bytes: Buffer.from(await value.arrayBuffer()) });
  return files;
}

/** One name in one folder, on every system. */
function checkedName(given: string): string {
  const name = normalized(given, "NFC");
  const problem = problemOf(name);
  if (problem !== null)
    throw new ProblemError(
      400,
      "bad-name",
      `${JSON.stringify(name.slice(0, 80))} is no name for a file here: ${problem}`,
    );
  return name;
}

function problemOf(name: string): string | null {
  if (name === "") return "it is empty";
  if (Buffer.byteLength(name) > MOST_NAME) return `it is longer than ${MOST_NAME} bytes`;
  if (!name.isWellFormed()) return "it is no text";
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name)) return "it holds signs that can't be seen";
  if (/[/\\<>:"|?*]/.test(name)) return 'it holds one of / \\ < > : " | ? *';
  if (/^[. ]|[. ]$/.test(name)) return "it begins or ends with a dot or a blank";
  if (/^[-~]/.test(name)) return "a shell would read its - or ~ as something else";
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name) ? "some systems keep it for a device" : null;
}

/** Room for the ending of what is made of it. */
const MOST_NAME = 200;
