/**
 * Lets a model that sees look at images of the workspace, and notes in the thread's state which ones it has seen. In the
 * log an image stands in its tool's result; in the request it stands in a user turn behind it, because not every
 * provider takes images in results, and some would send them as text.
 */
import type { AiSdkMessage, AiSdkPart } from "@palimpsest/core/message";
import type { Middleware } from "../agent/middleware.ts";
import type { Run } from "../agent/run.ts";
import { stateList } from "../agent/tools.ts";
import type { SeenImage } from "./tools/view-image.ts";
import type { Workspace } from "./workspace.ts";
import { imageTools } from "./workspace-tools.ts";

export interface ViewImageOptions {
  readonly workspace: (run: Run) => Workspace;
}

export function viewImage({ workspace }: ViewImageOptions): Middleware {
  const viewed = stateList<SeenImage>("viewedImages", ({ path }) => path);
  return {
    name: "view-image",
    tools: (run) => ({ ...imageTools(workspace(run), (image) => viewed.add(run, image)) }),
    wrapModel: (request, next) => next({ ...request, messages: request.messages.flatMap(withImagesBehind) }),
  };
}

type ResultBlock = Extract<AiSdkPart, { type: "tool-result" }>;

function withImagesBehind(message: AiSdkMessage): AiSdkMessage[] {
  if (message.role !== "tool" || typeof message.content === "string") return [message];
  const images: AiSdkPart[] = [];
  const content = message.content.map((block) => {
    if (block.type !== "tool-result" || block.output.type !== "content") return block;
    const files = block.output.value.filter((part) => part.type === "file");
    if (files.length === 0) return block;
    images.push(...(files as AiSdkPart[]));
    return withoutFiles(block);
  });
  if (images.length === 0) return [message];
  return [
    { ...message, content },
    { role: "user", content: [{ type: "text", text: "The images of these results:" }, ...images] },
  ];
}

function withoutFiles(block: ResultBlock): ResultBlock {
  if (block.output.type !== "content") return block;
  const texts = block.output.value.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return { ...block, output: { type: "text", value: [...texts, "[The image follows.]"].join("\n") } };
}
