/**
 * The real binary at a terminal that a test types on and reads: keys in as bytes, and what is on the screen after all
 * redrawing out, as lines.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { BINARY, CLEAN } from "./binary.ts";
import { drawScreen } from "./draw-screen.ts";

export const AS_TERMINAL = fileURLToPath(new URL("./as-terminal.mjs", import.meta.url));

export const CTRL_C = "\u0003";
export const CTRL_D = "\u0004";
export const LEFT = "\u001b[D";

export interface Terminal {
  type(keys: string): void;
  /** Resolves when the screen shows it; throws with the screen when it doesn't for long. */
  until(shown: RegExp): Promise<void>;
  screen(): string;
  /** All that came, with its control sequences. */
  written(): string;
  /** As if the person had made its window so wide. */
  resize(columns: number): void;
  exit(): Promise<number | null>;
}

export interface Seat {
  readonly home: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** At a home, or a whole seat. Closed with the test, or whatever else ends. */
export function openTerminal(
  t: { after(close: () => void): void },
  at: string | Seat,
  ...args: readonly string[]
): Terminal {
  const { home, cwd = process.cwd(), env = {} } = typeof at === "string" ? { home: at } : at;
  const child = spawn(process.execPath, ["--conditions=palimpsest-source", "--import", AS_TERMINAL, BINARY, ...args], {
    cwd,
    env: { ...CLEAN, PALIMPSEST_HOME: home, NO_COLOR: "1", TERM: "xterm", ...env },
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  });
  t.after(() => child.kill("SIGKILL"));
  let written = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  // Not when it exits: what it said last may still be on its way then.
  let isClosed = false;
  child.once("close", () => {
    isClosed = true;
  });
  const screen = (): string => drawScreen(written);
  return {
    screen,
    written: () => written,
    resize: (columns) => void child.send({ columns, rows: 24 }),
    type: (keys) => void child.stdin!.write(keys),
    async exit() {
      if (!isClosed) await once(child, "close", { signal: AbortSignal.timeout(PATIENCE_MS) });
      return child.exitCode;
    },
    async until(shown) {
      const deadline = Date.now() + PATIENCE_MS;
      while (!shown.test(screen())) {
        if (Date.now() > deadline || isClosed)
          throw new Error(`${shown} never came (exit code ${child.exitCode}). The screen:\n${screen()}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

const PATIENCE_MS = 180_000;
