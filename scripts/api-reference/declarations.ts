/**
 * Finds where a public name is declared, through every re-export, and what stands there for a reader: its comment and its
 * text without bodies. Reads syntax only; types that TypeScript infers are not known here.
 */
import { posix } from "node:path";
import { isNode, type Node, parse } from "../architecture/syntax.ts";
import type { Workspace } from "../architecture/workspace.ts";

export interface Declaration {
  readonly comment: string;
  /** TypeScript, as it would stand in a declaration file. */
  readonly code: string;
}

/** Undefined: no statement of the workspace declares the name. */
export function declarationOf(workspace: Workspace, path: string, name: string): Declaration | undefined {
  const file = workspace.files.find((candidate) => candidate.path === path);
  if (file === undefined) return undefined;
  const { program } = parse(file.text);
  const statements = program.body as unknown as readonly Node[];
  const own = statements.filter((statement) => namesIn(statement).includes(name));
  if (own.length > 0) return described(file.text, own, name);
  for (const statement of statements) {
    const origin = originOf(statement, name);
    if (origin === null) continue;
    const target = resolve(workspace, path, origin.specifier);
    if (target === undefined) continue;
    if (origin.name === "*") return { comment: "", code: `namespace ${name} // everything of ${origin.specifier}` };
    const found = declarationOf(workspace, target, origin.name);
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Origin {
  readonly specifier: string;
  readonly name: string;
}

/** Where a re-export or an import takes a name from. */
function originOf(statement: Node, name: string): Origin | null {
  const specifier = (statement["source"] as { value?: string } | null)?.value;
  if (specifier === undefined) return null;
  if (statement.type === "ExportAllDeclaration") {
    const as = nameOf(statement["exported"]);
    if (as === null) return { specifier, name };
    return as === name ? { specifier, name: "*" } : null;
  }
  for (const one of (statement["specifiers"] ?? []) as readonly Node[]) {
    const outer = nameOf(one["exported"]) ?? nameOf(one["local"]);
    const inner = statement.type === "ExportNamedDeclaration" ? nameOf(one["local"]) : nameOf(one["imported"]);
    if (outer === name && inner !== null) return { specifier, name: inner };
  }
  return null;
}

function resolve(workspace: Workspace, from: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return posix.join(posix.dirname(from), specifier);
  for (const { name, exports } of workspace.packages)
    if (specifier === name || specifier.startsWith(`${name}/`)) return exports.get(`.${specifier.slice(name.length)}`);
  return undefined;
}

/** What a statement declares, exported or not. */
function namesIn(statement: Node): readonly string[] {
  const declared = declaredBy(statement);
  if (declared.type !== "VariableDeclaration") return [nameOf(declared["id"])].filter((name) => name !== null);
  return (declared["declarations"] as readonly Node[]).flatMap(({ id }) => nameOf(id) ?? []);
}

function declaredBy(statement: Node): Node {
  const inner = statement.type === "ExportNamedDeclaration" ? statement["declaration"] : null;
  return isNode(inner) ? inner : statement;
}

function nameOf(value: unknown): string | null {
  const { name, value: text } = (value ?? {}) as { readonly name?: unknown; readonly value?: unknown };
  if (typeof name === "string") return name;
  return typeof text === "string" ? text : null;
}

function described(text: string, statements: readonly Node[], name: string): Declaration {
  // Of an overloaded function the signatures, not the one that carries them out.
  const signatures = statements.filter((statement) => declaredBy(statement).type === "TSDeclareFunction");
  const shown = signatures.length > 0 ? signatures : statements;
  return {
    comment: commentBefore(text, shown[0]!.start),
    code: shown.map((statement) => codeOf(text, declaredBy(statement), name)).join("\n"),
  };
}

function codeOf(text: string, node: Node, name: string): string {
  if (node.type === "VariableDeclaration") return variable(text, node, name);
  if (node.type === "ClassDeclaration") return classText(text, node);
  const body = node.type === "FunctionDeclaration" ? (node["body"] as Node) : null;
  return text
    .slice(node.start, body?.start ?? node.end)
    .replace(/^async /, "")
    .trim()
    .replace(/;$/, "");
}

const LONGEST_VALUE = 160;

function variable(text: string, node: Node, name: string): string {
  const declarator = (node["declarations"] as readonly Node[]).find(({ id }) => nameOf(id) === name)!;
  const id = declarator["id"] as Node;
  const left = `const ${text.slice(id.start, id.end)}`;
  const init = declarator["init"] as Node | null;
  if (isNode(id["typeAnnotation"]) || init === null) return left;
  if (init.type === "ArrowFunctionExpression") {
    const body = init["body"] as Node;
    return `${left} = ${text.slice(init.start, body.start).trim()} ...`;
  }
  const value = text.slice(init.start, init.end);
  return value.length <= LONGEST_VALUE ? `${left} = ${value}` : left;
}

/** Without bodies, initial values and what is private. */
function classText(text: string, node: Node): string {
  const body = node["body"] as Node;
  const members = (body["body"] as readonly Node[]).filter(isOpen).map((member) => {
    const comment = commentBefore(text, member.start);
    const inner = (member["value"] as Node | null) ?? null;
    const end =
      member.type === "MethodDefinition" ? ((inner?.["body"] as Node | null)?.start ?? member.end) : member.end;
    const code = text
      .slice(member.start, end)
      .replace(/^async /, "")
      .trim()
      .replace(/;$/, "");
    return `${comment === "" ? "" : `  /** ${comment} */\n`}  ${code};\n`;
  });
  return `${text.slice(node.start, body.start).trim()} {\n${members.join("")}}`;
}

function isOpen(member: Node): boolean {
  const key = member["key"] as Node | undefined;
  return key?.type !== "PrivateIdentifier" && member["accessibility"] !== "private" && member.type !== "StaticBlock";
}

/** The comment that ends where the statement begins. The one at the top is about the whole file. */
function commentBefore(text: string, start: number): string {
  const comment = parse(text).comments.findLast(({ end }) => end <= start);
  if (comment === undefined || comment.start === 0 || comment.type !== "Block" || !comment.value.startsWith("*"))
    return "";
  if (text.slice(comment.end, start).trim() !== "") return "";
  const lines = comment.value.slice(1).split("\n");
  return lines
    .map((line) => line.replace(/^\s*\*? ?/, ""))
    .join("\n")
    .trim();
}
