/**
 * A thread's files: brought in, listed, fetched, deleted. They are the same folders its agent works in. Every way to one goes
 * through the workspace, which opens each folder from its parent and follows no link.
 */
import { rm } from "node:fs/promises";
import { workspaceQuota } from "palimpsest/internal/config";
import type { Home } from "palimpsest/internal/home";
import {
  assertRoom,
  listFolder,
  type Place,
  resolveVirtual,
  virtualPath,
  walk,
  withFile,
  withFolder,
  writeWhole,
} from "palimpsest/internal/workspace";
import { ToolFailure, threadWorkspace, VIRTUAL_ROOT, type Workspace } from "palimpsest/workspace";
import { z } from "zod";
import { convertApart } from "../convert/convert-apart.ts";
import type { Conversion } from "../convert/to-markdown.ts";
import { Download, fileBody } from "../http/download.ts";
import { notFound, ProblemError } from "../http/problem.ts";
import { type Route, route } from "../http/route.ts";
import { list, noBody, thread, whole } from "../http/schemas.ts";
import { readUploads, type UploadedFile } from "../http/uploads.ts";
import { ownThread } from "./own-thread.ts";

const file = z.strictObject({
  filename: z.string(),
  size: z.int(),
  path: z.string().describe("As the agent calls it."),
  url: z.string().describe("Where it can be fetched."),
});
const upload = file.extend({
  markdown: file.nullable().describe("What was made of it for the model, where that helps."),
  problem: z.string().nullable().describe("Why nothing could be made of it, where that was tried."),
  code: z
    .enum(["unreadable", "no-text", "too-costly", "missing-package"])
    .nullable()
    .describe("The problem's code. too-costly: it takes more time or memory than a file may."),
});

export const fileRoutes: readonly Route[] = [
  route({
    method: "POST",
    path: "/api/threads/{id}/uploads",
    summary:
      "Bring in files: a form, or one file as the body with ?name=. Web pages, office files, PDFs and notebooks also become Markdown",
    access: "user",
    status: 201,
    takes: "files",
    query: z.strictObject({ name: z.string().max(1000).optional().describe("Of a file that is the whole body.") }),
    body: z.instanceof(Uint8Array).describe("The files."),
    answer: z.strictObject({ thread, files: list(upload) }),
    async handle(call) {
      const id = await ownThread(call);
      const { body, contentType, query, signal } = call;
      const files = await readUploads(Buffer.from(body), contentType ?? "", query.name ?? null);
      const conversions = await convertApart(files, { userId: call.home.userId, signal });
      const made = files.map((one, index) => ({ ...one, conversion: conversions[index]! }));
      const workspace = await workspaceOf(call.home, id);
      return failing(async () => ({ thread: id, files: await written(workspace, id, made) }));
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/uploads",
    summary: "The files that were brought in",
    access: "user",
    answer: z.strictObject({ thread, files: list(file) }),
    async handle(call) {
      const id = await ownThread(call);
      const workspace = await workspaceOf(call.home, id);
      const entries = await listFolder(workspace, UPLOADS).catch(() => []);
      const places = entries.filter(({ kind }) => kind === "file").map(({ name }) => inUploads(name));
      return { thread: id, files: await filesAt(workspace, id, places) };
    },
  }),
  route({
    method: "DELETE",
    path: "/api/threads/{id}/uploads/{name}",
    summary: "Delete a file that was brought in, with what was made of it",
    access: "user",
    body: noBody,
    answer: z.strictObject({ thread, filename: z.string(), deleted: z.literal(true) }),
    async handle(call) {
      const id = await ownThread(call);
      const name = call.params["name"]!;
      const workspace = await workspaceOf(call.home, id);
      const entries = await listFolder(workspace, UPLOADS).catch(() => []);
      // Only what is listed has a name here, whatever the path says.
      if (!entries.some((entry) => entry.name === name && entry.kind !== "folder")) throw noFile(name);
      await withFolder(workspace, UPLOADS, async (folder) => {
        await rm(folder.at(name));
        await rm(folder.at(markdownName(name)), { force: true });
      });
      return { thread: id, filename: name, deleted: true as const };
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/artifacts",
    summary: "All files of the thread: its workspace, what was brought in, what its agent made",
    access: "user",
    query: z.strictObject({ limit: whole(1, 1000).optional().describe("How many at most; 200 unless told.") }),
    answer: z.strictObject({ thread, files: list(file), complete: z.boolean() }),
    async handle(call) {
      const id = await ownThread(call);
      const { signal, query } = call;
      const { limit = 200 } = query;
      const workspace = await workspaceOf(call.home, id);
      const places: Place[] = [];
      for await (const place of everyFile(workspace, signal)) if (places.push(place) > limit) break;
      const complete = places.length <= limit;
      return { thread: id, files: await filesAt(workspace, id, places.slice(0, limit)), complete };
    },
  }),
  route({
    method: "GET",
    path: "/api/threads/{id}/artifacts/{path}",
    summary:
      "One file, to be saved: outputs/report.md, or the path as the agent calls it. Slashes may stand as they are",
    access: "user",
    gives: "*/*",
    answer: z.string(),
    async handle(call) {
      const id = await ownThread(call);
      const path = call.params["path"]!;
      const place = placeOf(path);
      if (place === null) throw noFile(path);
      const workspace = await workspaceOf(call.home, id);
      return opened(workspace, place).catch((error: unknown) => {
        throw error instanceof ToolFailure ? noFile(path) : error;
      });
    },
  }),
];

const UPLOADS: Place = { root: "uploads", segments: [] };

function inUploads(name: string): Place {
  return { root: "uploads", segments: [name] };
}

/** Beside it, and never in another's place: `plan.docx` and `plan.html` have one each. */
function markdownName(name: string): string {
  return `${name}.md`;
}

async function workspaceOf(home: Home, id: string): Promise<Workspace> {
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
      // A folder that nobody has written to isn't there.
      if (!(error instanceof ToolFailure)) throw error;
    }
  }
}

/** Every file of a thread in pieces, for whoever takes everything along. */
export async function* exportedFiles(home: Home, id: string): AsyncGenerator<object> {
  const workspace = await workspaceOf(home, id);
  for await (const place of everyFile(workspace, new AbortController().signal)) {
    const { size, body } = await opened(workspace, place);
    const path = virtualPath(place);
    let offset = 0;
    for await (const piece of body) {
      yield { kind: "file", thread: id, path, size, offset, base64: Buffer.from(piece).toString("base64") };
      offset += piece.length;
    }
    if (size === 0) yield { kind: "file", thread: id, path, size, offset, base64: "" };
  }
}

type MadeFile = UploadedFile & { readonly conversion: Conversion };

async function written(workspace: Workspace, id: string, made: readonly MadeFile[]) {
  const texts = made.map(({ conversion }) =>
    conversion.kind === "converted" ? Buffer.byteLength(conversion.text) : 0,
  );
  const bytes = made.reduce((sum, one) => sum + one.bytes.length, 0) + texts.reduce((sum, size) => sum + size, 0);
  // All of them or none: half of an upload would have to be found out about.
  await assertRoom(workspace, { bytes, entries: made.length + texts.filter((size) => size > 0).length });
  const listed = [];
  for (const { name, bytes: content, conversion } of made) {
    await writeWhole(workspace, inUploads(name), content);
    const text = conversion.kind === "converted" ? conversion.text : null;
    const twin = inUploads(markdownName(name));
    if (text !== null) await writeWhole(workspace, twin, text);
    listed.push({
      ...fileOf(id, inUploads(name), content.length),
      markdown: text === null ? null : fileOf(id, twin, Buffer.byteLength(text)),
      problem: conversion.kind === "failed" ? conversion.problem : null,
      code: conversion.kind === "failed" ? conversion.code : null,
    });
  }
  return listed;
}

/** What the workspace refuses. */
async function failing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ToolFailure ? new ProblemError(507, "workspace-full", error.message) : error;
  }
}

function fileOf(id: string, place: Place, size: number) {
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

/** Null: it can't be inside. */
function placeOf(path: string): Place | null {
  if (path.split("/").includes("..")) return null;
  const virtual = path.startsWith("mnt/user-data/") ? `/${path}` : `${VIRTUAL_ROOT}/${path}`;
  const resolved = resolveVirtual(virtual);
  return resolved.kind === "place" && resolved.place.segments.length > 0 ? resolved.place : null;
}

/** The file stays open until the last byte was read, or nobody reads any more. */
function opened(workspace: Workspace, place: Place): Promise<Download> {
  const name = place.segments.at(-1)!;
  return new Promise((resolve, reject) => {
    withFile(workspace, place, (handle, size) => {
      const { promise: read, resolve: done } = Promise.withResolvers<void>();
      resolve(new Download(name, { size, body: fileBody(handle, size, done) }));
      return read;
    }).catch(reject);
  });
}

function noFile(path: string): ProblemError {
  return notFound(`file ${JSON.stringify(path.slice(0, 140))}`);
}
