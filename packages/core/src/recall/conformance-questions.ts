/** What `conformance.ts` asks of an index: plain questions, several scripts, and whatever an engine might take for an operator. */
import type { Scope } from "./port.ts";

export const SCOPES: readonly Scope[] = [
  { kind: "thread", threadId: "ann-1" },
  { kind: "thread", threadId: "ben-1" },
  { kind: "thread", threadId: "no-such-thread" },
  { kind: "user", userId: "ann" },
  { kind: "user", userId: "nobody" },
];

export const QUESTIONS: readonly string[] = [
  "What did Caroline say about the garden?",
  "common",
  "common words everywhere common topic",
  "getUserName",
  "why did src/pay-in/total_2.ts fail with E1234",
  "ENOENT in C:\\temp\\x.log",
  "日本語のテスト",
  "猫",
  "สวัสดี",
  "안녕하세요",
  "שָׁלוֹם and مرحبا",
  "🎉",
  "café on 2 January 2024",
  "",
  "the of and",
  "zeppelin",
  "\"garden\" AND NOT music* OR (train) NEAR/2 'x' -- ; DROP TABLE",
  "garden & music | !train <-> soup:*",
  "\u0000 \ud800 % _ \\",
  "garden music train winter soup bridge ".repeat(400),
];
