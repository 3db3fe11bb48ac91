/** Reads an answer that comes whole: its bytes are kept, and read once they are all there. */
import type { AnswerReader, Fields, ReadAnswer } from "../vendor.ts";
import { dataOf } from "./server-events.ts";

export function wholeReader<M>(answerIn: (body: Fields | null) => ReadAnswer<M>): AnswerReader<M> {
  const pieces: Uint8Array[] = [];
  const answer = () => answerIn(dataOf({ data: Buffer.concat(pieces).toString() }));
  return {
    read: (bytes) => void pieces.push(bytes),
    state: () => answer().state,
    answer,
  };
}
