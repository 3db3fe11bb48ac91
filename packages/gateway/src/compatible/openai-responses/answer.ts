/** Reads an answer of the Responses API, whole or while its events pass by: the items of one turn. */
import { type ResponsesItem, type ResponsesMessage, responsesTurns } from "@palimpsest/core/message";
import type { AnswerReader, Fields, ReadAnswer } from "../vendor.ts";
import { objectReader } from "../wire/server-events.ts";
import { wholeReader } from "../wire/whole-answer.ts";
import { isOurs } from "./compaction-item.ts";

export function responsesReader(form: "stream" | "whole"): AnswerReader<ResponsesMessage> {
  return form === "stream" ? streamReader() : wholeReader(wholeAnswer);
}

function wholeAnswer(body: Fields | null): ReadAnswer<ResponsesMessage> {
  const message = turnOf(itemsIn(body));
  const usage = (body?.["usage"] ?? null) as object | null;
  return { message, usage, state: message === null ? "open" : "ended", error: null };
}

function itemsIn(response: Fields | null | undefined): readonly ResponsesItem[] {
  const output = response?.["output"];
  return Array.isArray(output) ? (output as ResponsesItem[]) : [];
}

/** All that one answer did is one turn; an item that we added stands for what is in the log anyway. */
function turnOf(output: readonly ResponsesItem[]): ResponsesMessage | null {
  const items = output.filter((item) => !isOurs(item));
  const turns = responsesTurns(items);
  return turns.length === 1 ? turns[0]! : turns.length === 0 ? null : items;
}

function streamReader(): AnswerReader<ResponsesMessage> {
  /** Items that are done, and the text of those that aren't, by their place. */
  const done = new Map<number, ResponsesItem>();
  const texts = new Map<number, string>();
  let whole: ResponsesMessage | null = null;
  let usage: object | null = null;
  let state: ReadAnswer<ResponsesMessage>["state"] = "open";
  let error: string | null = null;
  const take = (event: Fields, data: string): void => {
    const place = Number(event["output_index"] ?? 0);
    switch (event["type"]) {
      case "response.output_item.done":
        done.set(place, event["item"] as ResponsesItem);
        return;
      case "response.output_text.delta":
        texts.set(place, (texts.get(place) ?? "") + String(event["delta"] ?? ""));
        return;
      case "response.completed":
      case "response.incomplete": {
        const response = event["response"] as Fields | undefined;
        whole = turnOf(itemsIn(response));
        usage = (response?.["usage"] ?? null) as object | null;
        state = "ended";
        return;
      }
      case "response.failed":
      case "error":
        state = "failed";
        error = data;
    }
  };
  return {
    read: objectReader(take),
    state: () => state,
    answer: () => ({ message: whole ?? partOf(done, texts), usage, state, error }),
  };
}

/** What had come of an answer that was cut off. */
function partOf(done: ReadonlyMap<number, ResponsesItem>, texts: ReadonlyMap<number, string>): ResponsesMessage | null {
  const places = [...new Set([...done.keys(), ...texts.keys()])].toSorted((a, b) => a - b);
  const items = places.map((place): ResponsesItem => {
    const text = { type: "output_text", text: texts.get(place) ?? "", annotations: [] };
    return done.get(place) ?? { type: "message", role: "assistant", content: [text] };
  });
  return turnOf(items);
}
