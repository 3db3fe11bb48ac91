/** Whether a value that came from outside has fields: an object that is no list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What was thrown, in words; anything can be. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
