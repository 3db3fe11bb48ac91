/**
 * Foreign text made safe to print: what somebody else wrote (a message, a title, a tool's name, a provider's error, a
 * key of a file) must not move the cursor, hide text or change the terminal. Joiners of letters and emoji stay.
 */

/** Control characters of both sets, and what turns the direction of the text around. */
const STEERING = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** For one line. */
export function printable(text: string): string {
  return text.replace(STEERING, (char) => (char === "\t" ? " " : "\ufffd"));
}

/** For any number of lines. */
export function plain(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(STEERING, (char) => (char === "\n" || char === "\t" ? char : "\ufffd"));
}

/** The same JSON, whose strings show these characters as escapes; `JSON.stringify` does it for the first set alone. */
export function safeJson(json: string): string {
  return json.replace(STEERING, (char) =>
    /\s/.test(char) ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
