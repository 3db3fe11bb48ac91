/**
 * The page that a browser gets: static files that were built beside the gateway, read once and held. The names of what
 * `index.html` loads carry a hash, so a browser may keep them for good. Every address of the page gets the same document.
 */
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

export interface PageFiles {
  /** Where it is asked for, as the router writes them. */
  readonly paths: readonly string[];
  /** `status`: of the document. */
  answer(request: Request, status?: number): Response;
}

/** Beside the built gateway, also when it runs from its sources. */
export const PAGE = fileURLToPath(new URL("../../dist/page/", import.meta.url));

const PATHS = [
  "/",
  "/threads/*",
  "/window",
  "/timeline",
  "/chat",
  "/memory",
  "/requests/*",
  "/lab",
  "/map",
  "/rules",
  "/assets/*",
];

interface HeldFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly zipped: Uint8Array;
}

export function pageFiles(folder: string): PageFiles {
  let files: ReadonlyMap<string, HeldFile> | null = null;
  return {
    paths: PATHS,
    answer(request, status = 200) {
      // One that is built while the gateway runs is found, too.
      if (files === null || files.size === 0) files = heldFiles(folder);
      const { pathname } = new URL(request.url);
      const isAsset = pathname.startsWith("/assets/");
      const file = files.get(isAsset ? pathname.slice(1) : "index.html");
      if (file === undefined) return isAsset ? new Response("There is no such file.", { status: 404 }) : notBuilt();
      const zips = request.headers.get("accept-encoding")?.includes("gzip") === true;
      return new Response((zips ? file.zipped : file.bytes) as Uint8Array<ArrayBuffer>, {
        status,
        headers: {
          "content-type": file.type,
          "content-security-policy": PAGE_POLICY,
          "cache-control": isAsset ? "public, max-age=31536000, immutable" : "no-cache",
          vary: "accept-encoding",
          ...(zips && { "content-encoding": "gzip" }),
        },
      });
    },
  };
}

/** Pictures in messages come as `data:`; nothing else does, and nothing at all comes from elsewhere. */
const PAGE_POLICY =
  "default-src 'self'; img-src 'self' data:; object-src 'none'; frame-ancestors 'none'; form-action 'none'; base-uri 'none'";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

function heldFiles(folder: string): ReadonlyMap<string, HeldFile> {
  const names = namesIn(folder).filter((name) => extname(name) in TYPES);
  return new Map(
    names.map((name) => {
      const bytes = readFileSync(join(folder, name));
      return [
        name.replaceAll("\\", "/"),
        { type: TYPES[extname(name)]!, bytes, zipped: gzipSync(bytes, { level: 9 }) },
      ];
    }),
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true }).map(String);
  } catch {
    return [];
  }
}

function notBuilt(): Response {
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Palimpsest</title>
<h1>Palimpsest</h1>
<p>The gateway is running, and its page has not been built: <code>npm run page</code> in the clone builds it; then load this again.</p>
<p><a href="/openapi.json">/openapi.json</a> lists what else there is.</p>
</html>
`;
  return new Response(html, { status: 503, headers: { "content-type": TYPES[".html"]! } });
}
