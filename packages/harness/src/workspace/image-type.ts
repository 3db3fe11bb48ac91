/** What kind of image a file is, by its first bytes; its name proves nothing. */

export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

export function imageType(head: Uint8Array): ImageType | null {
  const ascii = Buffer.from(head.subarray(0, 16)).toString("latin1");
  if (ascii.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (ascii.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(ascii)) return "image/gif";
  if (ascii.startsWith("RIFF") && ascii.slice(8, 12) === "WEBP") return "image/webp";
  return null;
}
