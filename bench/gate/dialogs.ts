/**
 * Long dialogs with questions whose evidence is known, made up from a seed in the layout the recall bench reads. Half of the
 * questions use the words of their evidence in another form, half also need the turn beside it.
 */
import { type SeededRandom, seeded } from "../../packages/lab/src/eval/random.ts";

const PEOPLE = ["Ada", "Bruno", "Carla", "Dmitri"];
const PLACES = "harbour library orchard workshop bakery museum station terrace".split(" ");
const DEEDS = [
  ["painted", "paint"],
  ["repaired", "repair"],
  ["visited", "visit"],
  ["planted", "plant"],
  ["lost", "lose"],
  ["baked", "bake"],
  ["sold", "sell"],
  ["borrowed", "borrow"],
] as const;
const THINGS =
  "bicycle lantern guitar quilt telescope kettle canoe violin ladder camera tulip scarf radio drawer puzzle saddle".split(
    " ",
  );
const CHAT = [
  "That sounds lovely, tell me more when we meet.",
  "I had a long day and went to bed early.",
  "How is your family doing these days?",
  "The weather was awful all week.",
  "I have to go now, talk to you soon!",
  "Ha, that is exactly what I thought.",
];

export function generatedDialogs(seed: number, dialogs: number): string {
  const random = seeded(seed);
  return JSON.stringify(Array.from({ length: dialogs }, (_, index) => dialog(index, random)));
}

function dialog(index: number, random: SeededRandom): object {
  const conversation: Record<string, unknown> = {};
  const qa: object[] = [];
  for (let session = 1; session <= 24; session += 1) {
    conversation[`session_${session}_date_time`] = `${random.between(1, 11)}:15 pm on ${session + 2} May, 2026`;
    conversation[`session_${session}`] = sessionTurns(session, random, qa);
  }
  return { sample_id: `generated ${index + 1}`, conversation, qa };
}

function sessionTurns(session: number, random: SeededRandom, qa: object[]): object[] {
  const turns: { speaker: string; dia_id: string; text: string }[] = [];
  const say = (speaker: string, text: string): string => {
    const id = `D${session}:${turns.length + 1}`;
    turns.push({ speaker, dia_id: id, text });
    return id;
  };
  for (let exchange = 0; exchange < 12; exchange += 1) {
    const [one, other] = [random.pick(PEOPLE), random.pick(PEOPLE)];
    const [did, infinitive] = random.pick(DEEDS);
    const thing = random.pick(THINGS);
    const place = random.pick(PLACES);
    if (random.next() < 0.5) {
      const id = say(one, `Yesterday I ${did} the old ${thing} behind the ${place}.`);
      say(other, random.pick(CHAT));
      if (random.next() < 0.3) qa.push(question(`Where did ${one} ${infinitive} the ${thing}?`, 1, [id]));
    } else {
      const asked = say(one, `${other}, did you ever ${infinitive} a ${thing}?`);
      const id = say(other, `Yes, twice, and once near the ${place} with my cousin.`);
      if (random.next() < 0.3) qa.push(question(`Has ${other} ${did} a ${thing}?`, 2, [asked, id]));
    }
  }
  return turns;
}

function question(text: string, category: number, evidence: readonly string[]): object {
  return { question: text, category, evidence };
}
