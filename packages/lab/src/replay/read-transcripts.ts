/**
 * A file's bytes as transcripts to play: what `import` reads, zip archives among it, with its `questions` where a
 * conversation has them, and dialogs in LoCoMo's layout, which carry questions with the turns that hold their evidence.
 */
import { jsonOr } from "@palimpsest/core/internal/message";
import { errorText } from "@palimpsest/core/internal/text";
import { type ArchiveLimits, type ImportedMessage, readConversations } from "palimpsest/import";
import { archivedFiles, type ByteSource, beginsZip } from "palimpsest/internal/import";
import { type Dialog, dialogsIn } from "./dialogs.ts";
import { type ReplayedConversation, type Transcript, transcriptOf } from "./transcript.ts";

interface ReadTranscripts {
  readonly transcripts: readonly Transcript[];
  readonly problems: readonly string[];
}

/** `most`: of an archive so many files, and so many bytes unpacked, and no more. */
export async function readTranscripts(name: string, file: Buffer, most?: ArchiveLimits): Promise<ReadTranscripts> {
  if (!beginsZip(file)) return transcriptsIn(name, file);
  const transcripts: Transcript[] = [];
  const problems: string[] = [];
  for (const { file: path, source } of await archivedFiles({ name, bytes: file }, most)) {
    const read = await readArchived(path, source);
    transcripts.push(...read.transcripts);
    problems.push(...read.problems.map((problem) => `${path}: ${problem}`));
  }
  const isEmpty = transcripts.length + problems.length === 0;
  return { transcripts, problems: isEmpty ? ["the archive holds no .json or .jsonl file"] : problems };
}

async function readArchived(path: string, source: ByteSource | string): Promise<ReadTranscripts> {
  if (typeof source === "string") return { transcripts: [], problems: [source] };
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of source.chunks()) chunks.push(chunk);
    return await transcriptsIn(path, Buffer.concat(chunks));
  } catch (error) {
    return { transcripts: [], problems: [`it can't be unpacked: ${errorText(error)}`] };
  }
}

async function transcriptsIn(name: string, file: Buffer): Promise<ReadTranscripts> {
  const { conversations: all, problems } = await readConversations(file);
  // What a branch shares would be charged twice.
  const conversations = all.filter(({ shared, messages }) => shared === null && messages.length > 0);
  const rest = conversations.length > 0 ? "; its other lines are played" : "";
  const bad = problems.slice(0, 1).map(({ place, message }) => `${place === "" ? "" : `${place}: `}${message}${rest}`);
  // Decoded without a byte order mark.
  const dialogs = () => dialogsIn(jsonOr(new TextDecoder().decode(file), null)).map(conversationOf);
  const readable = conversations.length > 0 || bad.length > 0 ? conversations : dialogs();
  const transcripts = readable.map((one, at) => transcriptOf(readable.length > 1 ? `${name} ${at + 1}` : name, one));
  return { transcripts, problems: readable.length + bad.length === 0 ? ["no message in it"] : bad };
}

/** The first to speak is the user. */
function conversationOf({ turns, questions }: Dialog): ReplayedConversation {
  const messages = turns.map(({ id, at, speaker, text, caption }): ImportedMessage => {
    const role = speaker === turns[0]!.speaker ? "user" : "assistant";
    const content = caption === "" ? text : `${text} [image: ${caption}]`;
    const value = { role, ...(speaker === "" ? {} : { name: speaker }), content };
    return { place: id, body: JSON.stringify(value), value, at, model: null, usage: null };
  });
  const questionsRead = questions.map(({ text, evidence }) => ({ question: text, evidence }));
  return { messages, questions: questionsRead };
}
