/** What is sent of a file that was dropped or chosen: its text, or a zip archive as it is. */
export async function contentOf(file: File): Promise<string | Blob> {
  const beginning = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  return String(beginning) === "80,75,3,4" ? file : file.text();
}
