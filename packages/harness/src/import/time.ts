/** ISO 8601, or seconds or milliseconds since 1970. */
export function timeOf(value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const date = new Date(typeof value === "number" && value < 1e11 ? value * 1000 : value);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
