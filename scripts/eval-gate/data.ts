/** Small data for the evaluation's gate, made up and the same on every machine: a chat with an assistant and exact values. */
import { type SeededRandom, seeded } from "../../packages/lab/src/eval/random.ts";

const TOPICS = [
  "garden",
  "kitchen",
  "harbor",
  "library",
  "workshop",
  "orchard",
  "museum",
  "stable",
  "observatory",
  "bakery",
];
const THINGS = ["fence", "lamp", "ledger", "ladder", "window", "kettle", "map", "wheel", "basket", "bell"];
const VERBS = ["repair", "paint", "measure", "order", "move", "insure", "photograph", "lend"];
const FILLER = [
  "plan",
  "careful",
  "first",
  "later",
  "budget",
  "weather",
  "team",
  "order",
  "step",
  "result",
  "check",
  "again",
];

/** In BEAM's form: short requests of a person, long answers that repeat their words, a question for each of some requests. */
export function generatedChat(seed: number, turns: number): string {
  const random = seeded(seed);
  const messages: object[] = [];
  const questions: object[] = [];
  const add = (role: string, text: string): number => {
    const session = 1 + Math.floor(messages.length / 20);
    messages.push({ id: messages.length, role, session, date: null, text });
    return messages.length - 1;
  };
  for (let turn = 0; turn < turns; turn++) {
    const [topic, thing, verb] = [TOPICS[turn % TOPICS.length]!, random.pick(THINGS), random.pick(VERBS)];
    const price = random.between(100, 999);
    const id = add("user", `I want to ${verb} the ${thing} of the ${topic} for ${price} crowns. ${words(random, 6)}`);
    add("assistant", `About the ${topic}: ${words(random, 60)} the ${random.pick(THINGS)} ${words(random, 60)}`);
    if (turn % 3 === 0) {
      const question = `How much did I want to pay to ${verb} the ${thing} of the ${topic}?`;
      questions.push({ kind: "information_extraction", question, evidence: [id], answer: `${price} crowns` });
    }
  }
  return JSON.stringify([{ id: "generated", messages, questions }]);
}

/** In the form of exact values: records in tool results, and questions for single ones. */
export function generatedValues(seed: number, records: number): string {
  const random = seeded(seed);
  const messages: object[] = [];
  const questions: object[] = [];
  const add = (message: object): void => {
    messages.push({ ...message, timestamp: Date.UTC(2026, 0, 1) + messages.length * 60_000 });
  };
  for (let at = 1; at <= records; at++) {
    const [name, value] = [`record-${at}-${random.between(10, 99)}`, `VAL-${random.between(100_000, 999_999)}`];
    const call = { type: "toolCall", id: `call-${at}`, name: "look_up", arguments: { name } };
    add({ role: "user", content: `Look up the next one, ${name}. ${words(random, 10)}` });
    add({ role: "assistant", content: [call] });
    const text = `${name} has the receipt ${value}. ${words(random, 80)}`;
    add({ role: "toolResult", toolCallId: `call-${at}`, content: [{ type: "text", text }] });
    add({ role: "assistant", content: [{ type: "text", text: `Done: ${words(random, 12)}` }] });
    if (at % 4 === 0)
      questions.push({ category: "receipt", question: `What is the receipt of ${name}?`, expected: value });
  }
  return JSON.stringify([{ id: "generated", authoritativeRecords: [], messages, questions }]);
}

function words(random: SeededRandom, count: number): string {
  return Array.from({ length: count }, () => random.pick(FILLER)).join(" ");
}
