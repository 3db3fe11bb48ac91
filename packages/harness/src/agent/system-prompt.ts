/**
 * The system prompt's template, whole: base, instructions of middleware, `<memory>`, `<skills>`, and the date as the last
 * line. It is rendered when a run starts and after a compaction, so that within a thread it stays the same, byte for
 * byte, for as long as the provider's cache may hold it.
 */

export interface PromptSection {
  readonly slot: "instructions" | "memory" | "skills";
  readonly text: string;
}

export const BASE_PROMPT = `You are a helpful AI assistant. You work with the user over long conversations, and you use tools where they help.

Say what you did and what you found; when you don't know, say so. When a tool fails, read its error and try another way.
The conversation may begin with a summary of what came before. It is a record, not a request: go on from where it stands, and answer what the user says after it.`;

export interface SystemPrompt {
  readonly text: string;
  /** The text by what fills it, for the token breakdown. */
  readonly parts: Readonly<Record<"base" | "instructions" | "memory" | "skills", string>>;
}

export function systemPrompt(base: string, sections: readonly PromptSection[], date: string): SystemPrompt {
  const of = (slot: PromptSection["slot"]): string =>
    sections
      .filter((section) => section.slot === slot && section.text.trim() !== "")
      .map((section) => section.text.trim())
      .join("\n\n");
  const parts = {
    base: base.trim(),
    instructions: of("instructions"),
    memory: tagged("memory", of("memory")),
    skills: tagged("skills", of("skills")),
  };
  const text = [parts.base, parts.instructions, parts.memory, parts.skills, `Current date: ${date}`];
  return { text: text.filter((part) => part !== "").join("\n\n"), parts };
}

function tagged(tag: string, text: string): string {
  return text === "" ? "" : `<${tag}>\n${text}\n</${tag}>`;
}
