/** One case in a process of its own: takes a turn whenever it is asked to, and says what it cost. */
import { timeTurn, weighTurn } from "./case.ts";
import { buildCase } from "./cases.ts";
import type { OurSetting } from "./ours.ts";
import type { Answer, Order } from "./rounds.ts";

const [name = "", store = "sqlite", messages = "100"] = process.argv.slice(2);
const built = await buildCase(name, store as OurSetting["store"], Number(messages));
const say = (answer: Answer): void => void process.send!(answer);

if (built.kind === "missing") say(built);
else {
  const { one } = built;
  process.on("message", async (order: Order) => {
    if (order === "warm-up") say(await one.warmUp().then(() => ({ kind: "ready" })));
    if (order === "time") say({ kind: "timed", turn: await timeTurn(one) });
    if (order === "weigh") say({ kind: "weighed", bytes: await weighTurn(one) });
    if (order !== "end") return;
    await one.close();
    process.disconnect();
  });
  say({ kind: "ready" });
}
