/**
 * A file's bytes as transcripts to play: what `import` reads, with its `questions` where a conversation has them, and
 * dialogs in LoCoMo's layout, which carry questions with the turns that hold their evidence.
 */
import type { ImportedConversation, ImportedMessage } from "../import/conversation.ts";
import { readConversations } from "../import/read-conversations.ts";
import { type Dialog, dialogsIn } from "./dialogs.ts";
import { type Transcript, transcriptOf } from "./transcript.ts";

export async function readTranscripts(
  name: string,
  file: Buffer,
): Promise<{ readonly transcripts: readonly Transcript[]; readonly problems: readonly string[] }> {
  const { conversations: all, problems } = await readConversations(file);
  // What a branch shares would be charged twice.
  const conversations = all.filter(({ shared, messages }) => shared === undefined && messages.length > 0);
  const rest = conversations.length > 0 ? "; its other lines are played" : "";
  const bad = problems.slice(0, 1).map(({ place, message }) => `${place === "" ? "" : `${place}: `}${message}${rest}`);
  const readable = conversations.length > 0 || bad.length > 0 ? conversations : dialogsInText(file).map(conversationOf);
  const transcripts = readable.map((one, at) => transcriptOf(readable.length > 1 ? `${name} ${at + 1}` : name, one));
  return { transcripts, problems: readable.length + bad.length === 0 ? ["no message in it"] : bad };
}

function dialogsInText(file: Buffer): Dialog[] {
  try {
    return dialogsIn(JSON.parse(file.toString("utf8")));
  } catch {
    return [];
  }
}

/** The first to speak is the user. */
function conversationOf({ turns, questions }: Dialog): ImportedConversation {
  const messages = turns.map(({ id, at, speaker, text, caption }): ImportedMessage => {
    const role = speaker === turns[0]!.speaker ? "user" : "assistant";
    const content = caption === "" ? text : `${text} [image: ${caption}]`;
    const value = { role, ...(speaker === "" ? {} : { name: speaker }), content };
    return { place: id, body: JSON.stringify(value), value, at, model: null, usage: null };
  });
  const questionsRead = questions.map(({ text, evidence }) => ({ question: text, evidence }));
  return { place: "", messages, request: null, questions: questionsRead };
}
