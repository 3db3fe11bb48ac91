/** No address that comes with a request is ever contacted: files and images come with their content, or not at all. */
import { ProblemError } from "../http/problem.ts";

/** Throws where a file or an image is given by its address. `messages` are as they came. */
export function refuseAddresses(messages: readonly object[]): void {
  for (const [index, message] of messages.entries())
    for (const part of partsOf(message)) {
      const address = addressIn(part);
      if (address === null) continue;
      throw new ProblemError(
        400,
        "no-addresses",
        `message ${index + 1} has a file by its address (${address.slice(0, 100)}): send its content, as a data: URL`,
      );
    }
}

function partsOf(message: object): readonly unknown[] {
  return ["content", "parts"].flatMap((name) => {
    const parts: unknown = Reflect.get(message, name);
    return Array.isArray(parts) ? parts : [];
  });
}

/** Parts that say something in words may name addresses; parts that are a file may not be one. */
function addressIn(part: unknown): string | null {
  if (typeof part !== "object" || part === null) return null;
  const type: unknown = Reflect.get(part, "type");
  if (typeof type !== "string" || !FILES.has(type)) return resultAddress(part, type);
  return firstAddress(["url", "data", "image"].map((name) => Reflect.get(part, name)));
}

const FILES: ReadonlySet<string> = new Set(["file", "image", "image-url", "file-url", "media", "reasoning-file"]);

/** A tool's result may hold files too. */
function resultAddress(part: object, type: unknown): string | null {
  if (type !== "tool-result") return null;
  const value: unknown = Reflect.get(Object(Reflect.get(part, "output")), "value");
  if (!Array.isArray(value)) return null;
  for (const inner of value) {
    const address = addressIn(inner);
    if (address !== null) return address;
  }
  return null;
}

function firstAddress(values: readonly unknown[]): string | null {
  for (const value of values) {
    if (typeof value === "string" && /^(?!data:)[a-z][a-z0-9+.-]*:/i.test(value.trim())) return value;
    if (typeof value !== "object" || value === null) continue;
    const inner = firstAddress(Object.values(value));
    if (inner !== null) return inner;
  }
  return null;
}
