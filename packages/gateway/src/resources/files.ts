/** Files that are brought into a thread, and one of its files to be saved. How files are listed and deleted are operations. */

import { ToolFailure, type Workspace } from "palimpsest/home";
import { file, fileOf, inUploads, markdownName, openFile, workspaceOf } from "palimpsest/internal/file-operations";
import { assertRoom, writeWhole } from "palimpsest/internal/workspace";
import { z } from "zod";
import { convertApart } from "../convert/convert-apart.ts";
import type { Conversion } from "../convert/to-markdown.ts";
import { Download } from "../http/download.ts";
import { readUploads, type UploadedFile } from "../http/input.ts";
import { ProblemError } from "../http/problem.ts";
import { list, type Route, route, thread } from "../http/route.ts";
import { ownThread } from "./own-thread.ts";

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
    path: "/api/threads/{id}/artifacts/{path}",
    summary:
      "One file, to be saved: outputs/report.md, or the path as the agent calls it. Slashes may stand as they are",
    access: "user",
    gives: "*/*",
    answer: z.string(),
    async handle(call) {
      const id = await ownThread(call);
      const { name, ...opened } = await openFile(call.home, id, call.params["path"]!);
      return new Download(name, opened);
    },
  }),
];

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
