/** Plain requests about files ("read notes.txt", "list files", "write X to Y") as calls of the tools that can do them. */
import { clip } from "@palimpsest/core/internal/text";
import type { PlayedAnswer } from "../played-answer.ts";
import type { OfferedTool, Situation, ToolAnswer } from "./situation.ts";

export function askFileTool({ question, tools }: Situation): PlayedAnswer | null {
  const request = requestIn(question);
  if (request === null) return null;
  const tool = NAMES[request.kind].map((name) => tools.get(name)).find((offered) => offered !== undefined);
  if (tool === undefined) return null;
  return { calls: [{ name: tool.name, input: inputFor(tool, request) }] };
}

export function tellResult({ name, text, isError }: ToolAnswer): string {
  if (isError) return `The tool ${name} failed: ${clip(text, 2_000)}`;
  return text.trim() === "" ? `The tool ${name} is done.` : `The tool ${name} answered:\n${clip(text, 2_000)}`;
}

type FileRequest =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string };

const NAMES: Readonly<Record<FileRequest["kind"], readonly string[]>> = {
  read: ["read_file", "read", "view", "cat"],
  list: ["ls", "list_files", "list_dir", "list", "glob"],
  write: ["write_file", "write", "create_file"],
};

const PATH = String.raw`["'\x60]?([\w./~-]*[\w/~-])["'\x60]?`;
const READ = new RegExp(
  String.raw`^(?:please\s+)?(?:read|open|show(?: me)?|cat|print)\s+(?:the\s+)?(?:file\s+)?${PATH}[.!?]*$`,
  "i",
);
const LIST = new RegExp(
  String.raw`^(?:please\s+)?(?:ls|(?:list|show(?: me)?)\s+(?:all\s+)?(?:the\s+|my\s+)?files)(?:\s+(?:in|of|under)\s+${PATH})?[.!?]*$`,
  "i",
);
const WRITE = new RegExp(
  String.raw`^(?:please\s+)?(?:write|save|put)\s+(?:"([^"]*)"|'([^']*)'|(\S(?:[\s\S]*?\S)?))\s+(?:to|into|in|as)\s+(?:the\s+)?(?:file\s+)?${PATH}[.!?]*$`,
  "i",
);

/** A read needs something that looks like a file, so that "open the door" stays talk. */
function requestIn(question: string): FileRequest | null {
  const text = question.trim();
  const list = LIST.exec(text);
  if (list !== null) return { kind: "list", path: list[1] ?? "." };
  const write = WRITE.exec(text);
  if (write !== null && isFile(write[4]!)) {
    return { kind: "write", content: write[1] ?? write[2] ?? write[3] ?? "", path: write[4]! };
  }
  const read = READ.exec(text);
  return read !== null && isFile(read[1]!) ? { kind: "read", path: read[1]! } : null;
}

const isFile = (path: string): boolean => /[./]/.test(path);

const PATH_ARGUMENTS = ["path", "file_path", "filePath", "filename", "file", "pattern", "directory", "dir"];
const TEXT_ARGUMENTS = ["content", "contents", "text", "data"];

function inputFor(tool: OfferedTool, request: FileRequest): Record<string, string> {
  const path = PATH_ARGUMENTS.find((name) => tool.arguments.includes(name)) ?? "path";
  const place = path === "pattern" && request.path === "." ? "*" : request.path;
  if (request.kind !== "write") return { [path]: place };
  const content = TEXT_ARGUMENTS.find((name) => tool.arguments.includes(name)) ?? "content";
  return { [path]: request.path, [content]: request.content };
}
