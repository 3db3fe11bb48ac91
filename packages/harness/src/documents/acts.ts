/** What acts on threads answer, as JSON. */

export function renameDocument(threadId: string, title: string) {
  return { thread: threadId, title };
}

export function deleteDocument(threadId: string) {
  return { thread: threadId, deleted: true as const };
}
