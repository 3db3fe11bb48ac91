/** Files of a thread as its messages name them: where the gateway has them, and which a message brought in. Pure. */

const ROOT = "/mnt/user-data/";

/** Null: the path is not one of the thread's files. */
export function artifactAddress(threadId: string, path: string): string | null {
  const inside = path.startsWith(ROOT) ? path.slice(ROOT.length) : "";
  const segments = inside.split("/");
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) return null;
  return `/api/threads/${encodeURIComponent(threadId)}/artifacts/${segments.map(encodeURIComponent).join("/")}`;
}

export function isPicture(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp)$/i.test(path);
}

interface UploadedText {
  /** Without the line that names the files. */
  readonly text: string;
  readonly paths: readonly string[];
}

/** Of a message that the composer wrote; any other has no files. */
export function uploadedIn(text: string): UploadedText {
  const match = /(?:^|\n\n)\(Uploaded: (\/mnt\/user-data\/uploads\/[^\n]{1,8000})\)$/.exec(text);
  if (match === null) return { text, paths: [] };
  const paths = (match[1] ?? "").split(", ");
  if (!paths.every((path) => path.startsWith(`${ROOT}uploads/`))) return { text, paths: [] };
  return { text: text.slice(0, match.index), paths };
}

/** The line that names them to the agent. */
export function withUploads(text: string, paths: readonly string[]): string {
  return paths.length === 0 ? text : `${text}\n\n(Uploaded: ${paths.join(", ")})`.trim();
}
