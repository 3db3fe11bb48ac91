/** A provider's address as it may be kept and shown. */
export function withoutCredentials(address: string): string {
  const url = new URL(address);
  url.username = "";
  url.password = "";
  return url.href.replace(/(?<!\/)\/+$/, "");
}
