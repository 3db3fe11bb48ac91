/** What the chat shows of memory; changing it is `palimpsest memory`. */
import { checkScope, memoryService } from "palimpsest/internal/memory";
import { printable } from "../terminal/terminal-text.ts";
import type { ChatSession } from "./session.ts";

export async function memory({ assistant, screen, context, agentName }: ChatSession, words: string): Promise<void> {
  if (assistant.memory === null) return screen.aside("Memory is turned off in the configuration.");
  const checked = checkScope(context.userId, agentName ?? null);
  if (checked.kind === "invalid") return screen.aside(`Nothing is remembered: ${checked.problem}.`);
  const { repository } = assistant.memory;
  const service = memoryService({ repository, clock: () => new Date(), ids: () => crypto.randomUUID() });
  const { facts, userContext, history } = await service.show(checked.scope);
  const matches = words === "" ? facts : (await service.search(checked.scope, words)).map(({ fact }) => fact);
  const sections = words === "" ? [...Object.entries(userContext), ...Object.entries(history)] : [];
  const lines = [
    ...sections.flatMap(([name, text]) => (text === "" ? [] : [`${name}: ${text}`])),
    ...matches.filter(({ validTo }) => validTo === undefined).map(({ id, content }) => `${id}  ${content}`),
  ];
  if (lines.length === 0) return screen.aside(words === "" ? "Nothing is remembered yet." : "Nothing found.");
  for (const line of lines) await screen.aside(printable(line));
}
