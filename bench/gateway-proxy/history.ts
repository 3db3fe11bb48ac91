/** A conversation as a client keeps it: sent whole each time, one turn longer than the time before. */

/** What the provider says, piece by piece. */
export const DELTAS: readonly string[] = Array.from({ length: 64 }, (_, index) => `word${index} `);

const ANSWER = DELTAS.join("");
const FILLER = "The tide turns at six, and the sand is dry until then; nobody has measured it. ";

export interface History {
  /** The body of the next request. */
  next(): Buffer;
}

/** Begins with so many messages; each request has two more. `label` makes it a conversation of its own. */
export function history(messages: number, label: string): History {
  const texts = Array.from({ length: messages - 1 }, (_, index) => messageText(label, index));
  let listed = texts.join(",");
  let count = messages - 1;
  return {
    next() {
      const comma = listed === "" ? "" : ",";
      listed += `${comma}${JSON.stringify({ role: "user", content: question(label, count) })}`;
      const body = `{"model":"m","messages":[${listed}],"stream":true,"stream_options":{"include_usage":true}}`;
      listed += `,${JSON.stringify({ role: "assistant", content: ANSWER })}`;
      count += 2;
      return Buffer.from(body);
    },
  };
}

/** About 450 bytes each. */
function messageText(label: string, index: number): string {
  if (index % 2 === 0) return JSON.stringify({ role: "user", content: question(label, index) });
  return JSON.stringify({ role: "assistant", content: `Answer ${index}. ${FILLER.repeat(5)}` });
}

function question(label: string, index: number): string {
  return `Question ${index} of ${label}: ${FILLER.repeat(5)}`;
}
