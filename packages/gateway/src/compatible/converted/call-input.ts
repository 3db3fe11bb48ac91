/** The input of a call as an object, which is all that some vendors take. */

/** Text that is no JSON object stands under the name that Anthropic gives it for being handed back to a model. */
export function callInput(text: string): object {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // No JSON at all: kept as text, like any value that is no object.
  }
  return { INVALID_JSON: text };
}
