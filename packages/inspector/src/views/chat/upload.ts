/** A file for a thread's agent. Its bytes go as they are, so not through the client, which speaks JSON and text. */

/** Where the agent finds it. Throws what the gateway refused it with. */
export async function uploadFile(threadId: string, file: File): Promise<string> {
  const query = new URLSearchParams({ name: file.name });
  const response = await fetch(`/api/threads/${encodeURIComponent(threadId)}/uploads?${query}`, {
    method: "POST",
    headers: { "content-type": "application/octet-stream", "x-palimpsest-upload": "1" },
    body: file,
  }).catch(() => {
    throw { code: "unreachable" };
  });
  const answer = (await response.json().catch(() => ({}))) as {
    readonly files?: readonly { readonly path: string }[];
    readonly error?: { readonly code: string; readonly message: string };
  };
  const path = answer.files?.[0]?.path;
  if (response.ok && path !== undefined) return path;
  throw {
    code: answer.error?.code ?? "failed",
    status: response.status,
    message: answer.error?.message ?? "It was not taken",
  };
}
