/**
 * A thread's files: listed, deleted, read piece by piece. They are the folders that its agent works in. Every file is opened
 * through the workspace, which opens each folder from its parent and follows no link.
 */
import { type FileHandle, rm } from "node:fs/promises";
import { z } from "zod";
import {
  type Place,
  resolveVirtual,
  VIRTUAL_ROOT,
  virtualPath,
  withFile,
  withFolder,
} from "../features/workspace/inside.ts";
import { listFolder, walk } from "../features/workspace/search-files.ts";
import { ToolFailure } from "../features/workspace/tool-failure.ts";
import { threadWorkspace, type Workspace } from "../features/workspace/workspace.ts";
import { workspaceQuota } from "../home/config.ts";
import type { Home } from "../home/open-home.ts";
import { list, missingThread, OperationError, operation, thread } from "./operation.ts";

export const file = z.strictObject({
  filename: z.string(),
  size: z.int(),
  path: z.string().describe("As the agent calls it."),
  url: z.string().describe("Where it can be fetched."),
});

export const uploads = operation({
  name: "uploads",
  summary: "The files that were brought in",
  method: "GET",
  path: "/api/threads/{id}/uploads",
  input: z.strictObject({ thread }),
  output: z.strictObject({ thread, files: list(file) }),
  async run(home, { thread: id }) {
    const workspace = await workspaceOf(home, id);
    const entries = await listFolder(workspace, UPLOADS).catch(() => []);
    const places = entries.filter(({ kind }) => kind === "file").map(({ name }) => inUploads(name));
    return { thread: id, files: await filesAt(workspace, id, places) };
  },
});

export const deleteUpload = operation({
  name: "uploads-delete",
  summary: "Delete a file that was brought in, with what was made of it",
  method: "DELETE",
  path: "/api/threads/{id}/uploads/{name}",
  input: z.strictObject({ thread, name: z.string().describe("As the list of uploads has it.") }),
  output: z.strictObject({ thread, filename: z.string(), deleted: z.literal(true) }),
  async run(home, { thread: id, name }) {
    const workspace = await workspaceOf(home, id);
    const entries = await listFolder(workspace, UPLOADS).catch(() => []);
    // Only what is listed has a name here, whatever the input says.
    if (!entries.some((entry) => entry.name === name && entry.kind !== "folder")) throw noFile(name);
    await withFolder(workspace, UPLOADS, async (folder) => {
      await rm(folder.at(name));
      await rm(folder.at(markdownName(name)), { force: true });
    });
    return { thread: id, filename: name, deleted: true as const };
  },
});

export const artifacts = operation({
  name: "artifacts",
  summary: "All files of the thread: its workspace, what was brought in, what its agent made",
  method: "GET",
  path: "/api/threads/{id}/artifacts",
  input: z.strictObject({
    thread,
    limit: z.int().min(1).max(1000).optional().describe("How many at most; 200 unless told."),
  }),
  output: z.strictObject({ thread, files: list(file), complete: z.boolean() }),
  async run(home, { thread: id, limit = 200 }, { signal }) {
    const workspace = await workspaceOf(home, id);
    const places: Place[] = [];
    for await (const place of everyFile(workspace, signal)) if (places.push(place) > limit) break;
    const complete = places.length <= limit;
    return { thread: id, files: await filesAt(workspace, id, places.slice(0, limit)), complete };
  },
});

const UPLOADS: Place = { root: "uploads", segments: [] };

export function inUploads(name: string): Place {
  return { root: "uploads", segments: [name] };
}

/** Beside it, and never in another's place: `plan.docx` and `plan.html` have one each. */
export function markdownName(name: string): string {
  return `${name}.md`;
}

export async function workspaceOf(home: Home, id: string): Promise<Workspace> {
  const workspace = threadWorkspace(home.directory, { user: home.userId, id });
  return { ...workspace, quota: workspaceQuota(await home.settings()) };
}

/** What a person brought in and an agent made; not what was made of the log. */
async function* everyFile(workspace: Workspace, signal: AbortSignal): AsyncGenerator<Place> {
  for (const root of ["workspace", "uploads", "outputs"] as const) {
    const limits = { maxEntries: 100_000, maxDepth: 32, signal };
    try {
      for await (const { place, kind } of walk(workspace, { root, segments: [] }, limits))
        if (kind === "file") yield place;
    } catch (error) {
      // A folder that was never written to isn't there.
      if (!(error instanceof ToolFailure)) throw error;
    }
  }
}

/** Every file of a thread in pieces, for an export. */
export async function* exportedFiles(home: Home, id: string): AsyncGenerator<object> {
  const workspace = await workspaceOf(home, id);
  for await (const place of everyFile(workspace, new AbortController().signal)) {
    const { size, body } = await openPlace(workspace, place);
    const path = virtualPath(place);
    let offset = 0;
    for await (const piece of body) {
      yield { kind: "file", thread: id, path, size, offset, base64: Buffer.from(piece).toString("base64") };
      offset += piece.length;
    }
    if (size === 0) yield { kind: "file", thread: id, path, size, offset, base64: "" };
  }
}

export function fileOf(id: string, place: Place, size: number): z.output<typeof file> {
  const { root, segments } = place;
  const url = `/api/threads/${encodeURIComponent(id)}/artifacts/${[root, ...segments].map(encodeURIComponent).join("/")}`;
  return { filename: segments.at(-1) ?? "", size, path: virtualPath(place), url };
}

/** Those that are still there. */
async function filesAt(workspace: Workspace, id: string, places: readonly Place[]) {
  const files = await Promise.all(
    places.map((place) => withFile(workspace, place, async (_, size) => fileOf(id, place, size)).catch(() => null)),
  );
  return files.filter((one) => one !== null);
}

export interface OpenFile {
  readonly name: string;
  readonly size: number;
  readonly body: ReadableStream<Uint8Array>;
}

/** `outputs/report.md`, or the path as the agent calls it. The file stays open until its body is read or canceled. */
export async function openFile(home: Home, id: string, path: string): Promise<OpenFile> {
  if ((await home.store.header(id)) === undefined) throw missingThread(id);
  const place = placeOf(path);
  if (place === null) throw noFile(path);
  return openPlace(await workspaceOf(home, id), place).catch((error: unknown) => {
    throw error instanceof ToolFailure ? noFile(path) : error;
  });
}

/** Null if it can't be inside. */
function placeOf(path: string): Place | null {
  if (path.split("/").includes("..")) return null;
  const virtual = path.startsWith("mnt/user-data/") ? `/${path}` : `${VIRTUAL_ROOT}/${path}`;
  const resolved = resolveVirtual(virtual);
  return resolved.kind === "place" && resolved.place.segments.length > 0 ? resolved.place : null;
}

function openPlace(workspace: Workspace, place: Place): Promise<OpenFile> {
  const name = place.segments.at(-1)!;
  return new Promise((resolve, reject) => {
    withFile(workspace, place, (handle, size) => {
      const { promise: read, resolve: done } = Promise.withResolvers<void>();
      resolve({ name, size, body: fileBody(handle, size, done) });
      return read;
    }).catch(reject);
  });
}

const PIECE = 65_536;

/** At most `size` bytes of it: what is written to it meanwhile isn't announced. `done` is called once. */
function fileBody(handle: FileHandle, size: number, done: () => void): ReadableStream<Uint8Array> {
  let left = size;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(PIECE, left)), 0);
          left -= bytesRead;
          if (bytesRead > 0) controller.enqueue(buffer.subarray(0, bytesRead));
          if (left > 0 && bytesRead > 0) return;
          done();
          // One that got shorter can't be finished as it was announced.
          if (left > 0) controller.error(new Error("the file got shorter while it was read"));
          else controller.close();
        } catch (error) {
          done();
          controller.error(error);
        }
      },
      cancel: done,
    },
    { highWaterMark: 0 },
  );
}

function noFile(path: string): OperationError {
  return new OperationError("missing", `there is no file ${JSON.stringify(path.slice(0, 140))}`);
}
