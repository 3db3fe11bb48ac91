import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { drawScreen } from "../../test/draw-screen.ts";
import { Display, type LiveRows } from "./display.ts";

function setUp(width = 20) {
  const state = { written: "", width, live: { rows: ["> "], cursor: { row: 0, column: 2 } } as LiveRows };
  const display = new Display({
    write: async (text) => {
      state.written += text;
    },
    size: () => ({ width: state.width, height: 10 }),
    live: () => state.live,
  });
  return { state, display, screen: () => drawScreen(state.written) };
}

test("what is printed stands above the live rows, also a line that isn't ended yet", async () => {
  const { display, screen } = setUp();
  await display.print("one\ntwo ");
  assert.equal(screen(), "one\ntwo \n> ");
  await display.print("goes on\nthree");
  assert.equal(screen(), "one\ntwo goes on\nthree\n> ");
  await display.above("a note");
  assert.equal(screen(), "one\ntwo goes on\na note\nthree\n> ");
});

test("a screen emptied right before another program gets it is not drawn on while that has it", async () => {
  const { display, state } = setUp();
  await display.print("one\n");
  const cleared = display.clear();
  await display.suspend();
  const before = state.written;
  await cleared;
  assert.equal(state.written, before);
  await display.clear();
  assert.equal(state.written, before);
});

test("while another program has the terminal nothing is written, and nothing is lost", async () => {
  const { display, screen, state } = setUp();
  await display.print("one\n");
  await display.suspend();
  const before = state.written;
  await display.print("two\n");
  await display.above("three");
  assert.equal(state.written, before);
  await display.resume();
  assert.equal(screen(), "one\ntwo\nthree\n> ");
  await display.close();
  await display.print("end\n");
  assert.equal(screen(), "one\ntwo\nthree\nend\n");
});

test("however text is cut into pieces and the live rows change, each line is on the screen once, in order", async () => {
  const rows = fc.array(fc.stringMatching(/^[a-z]{0,19}$/), { minLength: 1, maxLength: 4 });
  const steps = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{0,8}\n?$/), rows, fc.nat(3)), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(steps, async (played) => {
      const { display, screen, state } = setUp(200);
      let said = "";
      for (const [text, live, row] of played) {
        const at = Math.min(row, live.length - 1);
        state.live = { rows: live, cursor: { row: at, column: live[at]!.length } };
        said += text;
        await display.print(text);
        const open = said === "" || said.endsWith("\n") ? said : `${said}\n`;
        assert.equal(screen(), open + live.join("\n"));
      }
    }),
    { numRuns: 100 },
  );
});
