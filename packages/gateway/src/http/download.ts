/** A file as an answer: always something to be saved, never something a browser would run or show as ours. */

export class Download {
  readonly name: string;
  readonly size: number;
  readonly body: ReadableStream<Uint8Array>;

  constructor(name: string, { size, body }: Pick<Download, "size" | "body">) {
    this.name = name;
    this.size = size;
    this.body = body;
  }

  headers(): Record<string, string> {
    return {
      "content-type": typeOf(this.name),
      "content-length": String(this.size),
      "content-disposition": dispositionOf(this.name),
      "content-security-policy": "default-src 'none'; sandbox",
    };
  }
}

/** Types that a program may act on and a browser, told not to guess, can't run. The rest are bytes. */
const TYPES: Readonly<Record<string, string>> = {
  txt: "text/plain; charset=utf-8",
  md: "text/markdown; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  json: "application/json",
  pdf: "application/pdf",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  zip: "application/zip",
};

function typeOf(name: string): string {
  const ending = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(TYPES, ending) ? TYPES[ending]! : "application/octet-stream";
}

/** The plain form for old clients, the other for names of any script; neither can end the header. */
function dispositionOf(name: string): string {
  const plain = name.replaceAll(/[^\w.() -]/g, "_");
  const whole = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${whole}`;
}
