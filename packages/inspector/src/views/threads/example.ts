/** A small conversation for an empty store, as a session file that `import` reads: with calls, results and reported tokens. Pure. */

interface ExampleTurn {
  readonly asked: string;
  /** The file that is looked at before the answer. */
  readonly file: string;
  readonly answer: string;
}

const TURNS: readonly ExampleTurn[] = [
  {
    asked: "The checkout fails for some customers. Never change the database without asking me. Where do we start?",
    file: "checkout/total.ts",
    answer: "With the totals: the failing carts all have a voucher.",
  },
  {
    asked: "Is the voucher taken off before or after tax?",
    file: "checkout/voucher.ts",
    answer: "Before tax in the cart and after tax in the invoice.",
  },
  {
    asked: "We decided: a voucher is taken off after tax, everywhere. Change the cart.",
    file: "checkout/cart.ts",
    answer: "Changed. The cart now calls `afterTax(total, voucher)`, as the invoice does.",
  },
  {
    asked: "Does a test cover that?",
    file: "checkout/cart.test.ts",
    answer: "None did. I added one.",
  },
  {
    asked: "And rounding?",
    file: "money/round.ts",
    answer: "Each line was rounded by itself. Now the sum is, once.",
  },
  {
    asked: "Support says that refunds are wrong as well.",
    file: "refunds/refund.ts",
    answer: "A refund used the price without the voucher. It now refunds what was paid.",
  },
  {
    asked: "Which customers were charged too much?",
    file: "reports/charged.sql",
    answer: "214 orders since March. I changed nothing in the database.",
  },
  {
    asked: "What did we decide about vouchers and tax?",
    file: "docs/decisions.md",
    answer: "A voucher is taken off **after** tax, in the cart and in the invoice. It stands in `docs/decisions.md`.",
  },
];

/** Lines of what a look at a file brings: enough for a window to fill. */
const LINES = 46;

export function exampleSession(now: Date): string {
  const lines: object[] = [];
  let input = 2_400;
  const start = now.getTime() - TURNS.length * 300_000;
  const add = (type: "user" | "assistant", message: object) => {
    const place = lines.length;
    const timestamp = new Date(start + place * 60_000).toISOString();
    const ids = { uuid: `example-${place}`, parentUuid: place === 0 ? null : `example-${place - 1}` };
    lines.push({ type, ...ids, sessionId: "example", timestamp, message });
  };
  for (const [turn, { asked, file, answer }] of TURNS.entries()) {
    const reply = (id: string, content: readonly object[], output: number) => {
      const usage = { input_tokens: input, output_tokens: output };
      add("assistant", { id: `${id}-${turn}`, role: "assistant", model: "claude-sonnet-4-5", content, usage });
    };
    add("user", { role: "user", content: asked });
    input += 40;
    reply("look", [{ type: "tool_use", id: `call-${turn}`, name: "read_file", input: { path: file } }], 40);
    const text = Array.from({ length: LINES }, (_, line) => `${line + 1}  // ${file}: step ${line + 1} of ${LINES}`);
    const result = { type: "tool_result", tool_use_id: `call-${turn}`, content: text.join("\n") };
    add("user", { role: "user", content: [result] });
    input += 900;
    reply("say", [{ type: "text", text: answer }], 60);
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}
