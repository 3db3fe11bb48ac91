/**
 * The `<skills>` block: which skills there are, and the text of those whose loading a compaction has hidden. Pure. It
 * changes only with the folder and with a compaction, so that the provider's cache holds in between.
 */
import { clip } from "@palimpsest/core/internal/text";
import type { Skill } from "./skill.ts";

/** A skill the agent has loaded, and where in the log. */
export interface LoadedSkill {
  readonly name: string;
  readonly seq: number;
}

export interface SkillsView {
  readonly skills: readonly Skill[];
  readonly loaded: readonly LoadedSkill[];
  /** The last message that a summary stands for. */
  readonly hiddenThrough: number;
  /** Most characters of loaded skills' texts in the prompt. */
  readonly maxChars: number;
}

export function renderSkills({ skills, loaded, hiddenThrough, maxChars }: SkillsView): string {
  if (skills.length === 0) return "";
  const list = skills.map(({ name, description }) => `- ${name}: ${escaped(clip(description, 300))}`);
  const hidden = loaded.filter(({ seq }) => seq <= hiddenThrough).map(({ name }) => name);
  const lines = ["Instructions for certain kinds of work. Load one with load_skill before such work:", ...list];
  let room = maxChars;
  for (const { name, body } of skills.filter((skill) => hidden.includes(skill.name))) {
    if (body.length <= room) lines.push(`\nLoaded earlier: ${name}\n${escaped(body)}`);
    else lines.push(`\nLoaded earlier: ${name}; load it again to read it.`);
    room -= Math.min(room, body.length);
  }
  return lines.join("\n");
}

/** A skill's text can't close the block it stands in. */
function escaped(text: string): string {
  return text.replaceAll(/<(?=\/?(?:skills|memory)\b)/gi, "&lt;");
}
