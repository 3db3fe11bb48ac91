/**
 * A `fetch` that never follows a redirect: an address that is not configured gets neither words nor keys. Every request to
 * a provider or to a server of the configuration goes through it.
 */
import { PalimpsestError } from "@palimpsest/core/internal/errors";

export class RedirectedError extends PalimpsestError<"redirected"> {
  static override readonly kind = "RedirectedError";
}

type DirectFetch = typeof globalThis.fetch;

export function directFetch(inner?: DirectFetch): DirectFetch {
  return async (input, init) => {
    const response = await (inner ?? globalThis.fetch)(input, { ...init, redirect: "manual" });
    if (!isRedirect(response)) return response;
    await response.body?.cancel().catch(() => {});
    throw new RedirectedError(
      "redirected",
      sentenceFor(input instanceof Request ? input.url : String(input), response),
    );
  };
}

/** A browser hides the status and the address of a redirect that it didn't follow. */
function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304);
}

function sentenceFor(asked: string, { status, headers }: Response): string {
  const location = headers.get("location");
  const to = location === null ? null : shown(location, asked);
  return `${shown(asked) ?? "the address"} redirects (${status}) to ${to ?? "no address"}, which is not followed: ${REMEDY}`;
}

const REMEDY = "if that address is right, configure it (`base_url` of a model or embedder, `url` of an MCP server)";

/** Without credentials and query, which may hold a key; null: it is no URL. */
function shown(address: string, base?: string): string | null {
  const url = URL.parse(address, base);
  return url === null ? null : `${url.origin}${url.pathname}`;
}
