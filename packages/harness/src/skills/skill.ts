/** A skill's file: front matter with a name and a description, then what to do. Pure. */

import { errorText } from "@palimpsest/core/internal/text";
import { z } from "zod/v4";
import { yaml } from "../yaml.ts";

export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly body: string;
}

export type ParsedSkill =
  | { readonly kind: "skill"; readonly skill: Skill }
  | { readonly kind: "bad"; readonly problem: string };

const frontMatter = z.object({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "letters, digits, . _ - only, at most 64"),
  description: z.string().trim().min(1).max(1024),
});

export function parseSkill(text: string): ParsedSkill {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]{0,8192}?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (match === null) return bad("it must begin with front matter between two lines of ---");
  let fields: unknown;
  try {
    fields = yaml().parse(match[1]!, { logLevel: "error" });
  } catch (error) {
    return bad(`its front matter is not valid YAML: ${firstLine(error)}`);
  }
  const checked = frontMatter.safeParse(fields);
  if (!checked.success) {
    const { path, message } = checked.error.issues[0]!;
    return bad(`its front matter has no usable ${path.join(".") || "fields"}: ${message}`);
  }
  const description = checked.data.description.split(/\s+/).join(" ");
  return { kind: "skill", skill: { name: checked.data.name, description, body: text.slice(match[0].length).trim() } };
}

function bad(problem: string): ParsedSkill {
  return { kind: "bad", problem };
}

function firstLine(error: unknown): string {
  return errorText(error).split("\n", 1)[0]!;
}
