/**
 * Random logs in which people and the model choose cuts: compactions, rollovers, folds, hides, rules, notes, undos and redos
 * in any order. Judges every prompt (the provider's rules, the window, every rule word for word), and at the end whether
 * undoing any set of acts gives the fold of the log without them. The same seed is the same log.
 */
import { type Policy, storedSummary, type Window } from "@palimpsest/core/internal/compaction";
import {
  addRule,
  copyRules,
  endRule,
  planFold,
  planHide,
  planRedo,
  planShow,
  planUndo,
  readNotes,
  readRules,
  rulesInForce,
  type Structural,
  summaryEdits,
  view,
  writeNote,
} from "@palimpsest/core/internal/log";
import type { Dialect, Shape } from "@palimpsest/core/internal/message";
import { DIALECTS, forRequest, rulesOf, shapeOf, violations } from "@palimpsest/core/internal/message";
import { createSizer, type Prompt } from "@palimpsest/core/internal/prompt";
import { editableItems, editedState, planEdit } from "@palimpsest/core/internal/summary";
import { charsPerToken, createMeter } from "@palimpsest/core/internal/tokens";
import { type Random, random, randomConversation, render } from "@palimpsest/testing/internal/shapes";
import { type Compactor, createCompactor } from "../../src/compaction/compactor.ts";
import { FloorError } from "../../src/compaction/summarization.ts";
import { livePrompt } from "../../src/thread/thread-view.ts";
import { onEveryCore } from "./on-every-core.ts";
import { UndoableLog } from "./undoable-log.ts";

export interface ActsReport {
  readonly logs: number;
  readonly requests: number;
  readonly impossible: number;
  /** Acts that were done, by name. */
  readonly acts: Readonly<Record<string, number>>;
  readonly subsets: number;
  readonly faults: readonly string[];
}

const NO_ACTS: ActsReport = { logs: 0, requests: 0, impossible: 0, acts: {}, subsets: 0, faults: [] };
const RANGE = 100;

export async function manyRandomActs(logs: number, onProgress?: (total: ActsReport) => void): Promise<ActsReport> {
  const ranges = Array.from({ length: Math.ceil(logs / RANGE) }, (_, index) => {
    return { from: 1 + index * RANGE, to: 1 + Math.min(logs, (index + 1) * RANGE) };
  });
  let total = NO_ACTS;
  await onEveryCore({ module: import.meta.url, name: "randomActs" }, ranges, (report: ActsReport) => {
    total = sumOf(total, report);
    onProgress?.(total);
  });
  return total;
}

/** The logs of these seeds, `to` excluded. */
export async function randomActs({ from, to }: { readonly from: number; readonly to: number }): Promise<ActsReport> {
  let total = NO_ACTS;
  for (let seed = from; seed < to; seed += 1) total = sumOf(total, await playActs(seed));
  return total;
}

function sumOf(a: ActsReport, b: ActsReport): ActsReport {
  const names = Object.keys({ ...a.acts, ...b.acts });
  return {
    logs: a.logs + b.logs,
    requests: a.requests + b.requests,
    impossible: a.impossible + b.impossible,
    acts: Object.fromEntries(names.map((name) => [name, (a.acts[name] ?? 0) + (b.acts[name] ?? 0)])),
    subsets: a.subsets + b.subsets,
    faults: [...a.faults, ...b.faults].slice(0, 10),
  };
}

async function playActs(seed: number): Promise<ActsReport> {
  const draw = random(seed);
  const dialect = DIALECTS[seed % DIALECTS.length]!;
  const player = new RandomPlayer(seed, draw, shapeOf(dialect) as Shape<object>, dialect);
  await player.play();
  return player.report();
}

const ACTS = ["fold", "fold", "hide", "show", "rule", "end-rule", "note", "compact", "fresh", "undo", "redo"];

/** In half of the logs summaries are edited, rules copied, and hours pass; the others are as they were before there was that. */
function editsIn(seed: number): boolean {
  return seed % 4 < 2;
}

const FORMATS: readonly Policy["summaryFormat"][] = ["pair", "user", "system"];

class RandomPlayer {
  readonly #seed: number;
  readonly #draw: Random;
  readonly #shape: Shape<object>;
  readonly #dialect: Dialect;
  readonly #window: Window;
  readonly #log: UndoableLog;
  readonly #prompt: () => Prompt<object>;
  readonly #compactor: Compactor<object>;
  #requests = 0;
  #impossible = 0;
  #subsets = 0;
  #acts: Record<string, number> = {};
  #faults: string[] = [];

  constructor(seed: number, draw: Random, shape: Shape<object>, dialect: Dialect) {
    this.#seed = seed;
    this.#draw = draw;
    this.#shape = shape;
    this.#dialect = dialect;
    const size = draw.pick([6000, 8000, 16_000]);
    this.#window = { size, reserve: size / 8 };
    let now = 0;
    const times = () => {
      now += draw.chance(0.1) ? 30_000_000 : 60_000;
      return { at: new Date(now).toISOString() };
    };
    this.#log = new UndoableLog(shape, editsIn(seed) ? times : null);
    const meter = createMeter(shape, { counter: charsPerToken(4) });
    this.#prompt = livePrompt(this.#log, createSizer({ shape, rules: forRequest(rulesOf(dialect)), meter }));
    this.#compactor = createCompactor({
      thread: this.#log,
      prompt: this.#prompt,
      window: () => this.#window,
      policy: {
        trigger: [{ type: "fraction", value: 0.85 }],
        keep: draw.pick([null, { type: "messages", value: 8 } as const]),
        lowWater: 0.6,
        minGain: 0.1,
        maxSummaryTokens: null,
        summaryFormat: draw.pick(FORMATS),
        style: draw.pick(["summary", "summary", "rollover"] as const),
      },
      prune: null,
      writer: null,
      quotes: async (seqs) => this.#log.messages(seqs),
      archive: null,
      clock: () => new Date(this.#log.head().version * 1000),
      on: () => {},
    });
  }

  async play(): Promise<void> {
    const draw = this.#draw;
    const script = randomConversation(this.#seed, {
      messages: draw.pick([12, 24, 48]),
      longest: draw.pick([300, 2000, 6000]),
      system: 0.3,
      signer: rulesOf(this.#dialect).signer ?? "anthropic",
    });
    for (const message of render(script, this.#shape)) {
      if (this.#shape.role(message) === "assistant") await this.#request();
      await this.#log.say(message, this.#dialect);
      if (draw.chance(0.35)) await this.#act();
    }
    await this.#request();
    for (let times = 0; times < 4; times += 1) this.#undoSubset();
  }

  report(): ActsReport {
    const [requests, impossible, subsets] = [this.#requests, this.#impossible, this.#subsets];
    return { logs: 1, requests, impossible, subsets, acts: this.#acts, faults: this.#faults };
  }

  async #request(): Promise<void> {
    this.#requests += 1;
    try {
      await this.#compactor.compact({ cause: "automatic" });
    } catch (error) {
      if (!(error instanceof FloorError)) throw error;
      this.#impossible += 1;
      return;
    }
    const { messages, count } = this.#prompt();
    const broken = violations(messages, this.#shape, forRequest(rulesOf(this.#dialect)));
    if (broken.length > 0) this.#fault(`${broken[0]!.rule}: ${broken[0]!.detail}`);
    const most = this.#window.size - this.#window.reserve;
    if (count.tokens > most) this.#fault(`${count.tokens} tokens of ${most}`);
    const live = this.#log.live();
    if (live.compaction === null) return;
    const text = JSON.stringify(messages);
    for (const rule of rulesInForce(live.rules))
      if (!text.includes(rule.text)) this.#fault(`rule ${rule.id} is not shown`);
  }

  async #act(): Promise<void> {
    const name = this.#draw.pick(editsIn(this.#seed) ? [...ACTS, "edit", "edit", "add", "delete", "copy-rules"] : ACTS);
    const done = await this.#carryOut(name);
    if (done) this.#acts[name] = (this.#acts[name] ?? 0) + 1;
    const shown = this.#log.view();
    const whole = view(this.#log.folded(new Set()), { shape: this.#shape, read: this.#log.original });
    if (JSON.stringify(shown) !== JSON.stringify(whole))
      this.#fault(`after ${name} the view is not the fold of the log`);
  }

  async #carryOut(name: string): Promise<boolean> {
    const draw = this.#draw;
    const log = this.#log;
    const live = log.live();
    const options = { shape: this.#shape, read: log.original };
    const some = (): number => draw.int(1, log.head().version + 1);
    const at = new Date(log.head().version * 1000).toISOString();
    switch (name) {
      case "fold": {
        const first = some();
        const report = { words: `What came of it ${first}.`, reason: "reported" } as const;
        const cut = planFold(live, [first, first + draw.int(0, 9)], report, options);
        return cut.kind === "cut" && log.prune(cut.entries);
      }
      case "hide": {
        const cut = planHide(live, { seq: some(), part: draw.chance(0.5) ? null : 0 }, options);
        return cut.kind === "cut" && log.prune(cut.entries);
      }
      case "show": {
        const chosen = live.prunes.flatMap(({ entries }) => entries.map(({ target }) => target));
        const plan = planShow(live, { seq: draw.pick([...chosen, some()]), part: null });
        return plan.kind === "undo" && log.undo(plan.of);
      }
      case "rule":
      case "end-rule": {
        const rules = readRules(log.head().state);
        const text = `Never open the folder f${draw.int(1, 30)}.`;
        const change =
          name === "rule"
            ? addRule(rules, { text }, at)
            : endRule(rules, draw.pick([...rules.list, { id: "r9" }]).id, at);
        if (change.kind === "refused" || change.rules === rules) return false;
        await log.commit([{ kind: "state", patch: { rules: change.rules } }]);
        return true;
      }
      case "note": {
        const notes = readNotes(log.head().state);
        const note = `n${draw.int(1, 4)}`;
        const revision = notes.find((one) => one.name === note)?.revision ?? 0;
        const write = { name: note, text: "x".repeat(draw.int(0, 900)), revision };
        const change = writeNote(notes, write, { by: "model", at, last: log.head().version });
        if (change.kind === "refused") return false;
        await log.commit([{ kind: "state", patch: { notes: change.notes } }]);
        return true;
      }
      case "copy-rules": {
        const rules = readRules(log.head().state);
        const sources = { user: [`Call me u${draw.int(1, 3)}.`], agent: [`Never touch a${draw.int(1, 9)}.`] };
        const copied = copyRules(rules, sources, at);
        if (copied !== rules) await log.commit([{ kind: "state", patch: { rules: copied } }]);
        return copied !== rules;
      }
      case "edit":
      case "add":
      case "delete":
        return this.#edit(name);
      case "compact":
      case "fresh": {
        const style = name === "fresh" ? ({ style: "rollover" } as const) : {};
        const outcome = await this.#compactor.compact({ cause: "manual", ...style }).catch(() => null);
        return outcome?.kind === "compacted";
      }
      case "undo": {
        const plan = planUndo(
          log.structure,
          draw.chance(0.5) ? undefined : draw.pick([...log.structure, { seq: 1 }]).seq,
        );
        return plan.kind === "undo" && log.undo([plan.of]);
      }
      default: {
        const plan = planRedo(log.structure);
        return plan.kind === "undo" && log.undo([plan.of]);
      }
    }
  }

  async #edit(act: "edit" | "add" | "delete"): Promise<boolean> {
    const [log, draw] = [this.#log, this.#draw];
    const state = storedSummary(await log.summaryState());
    const target = log.head().compaction;
    if (state === null || target === null) return false;
    const edits = summaryEdits(log.live());
    const item = draw.pick([...editableItems(editedState(state, edits)), { id: "g999" }]).id;
    const text = `Corrected ${draw.int(1, 999)}: ${"word ".repeat(draw.int(0, 30))}`;
    const section = draw.pick(["goals", "facts", "next"] as const);
    const plan = planEdit(state, edits, act === "add" ? { act, section, text } : { act, item, text });
    if (plan.kind === "refused") return false;
    const { text: replacement, ...edit } = plan.edit;
    log.prune([{ target, part: 0, replacement, reason: "edited", edit }]);
    const shown = JSON.stringify(log.view());
    if (replacement !== "" && !shown.includes(replacement.trim()))
      this.#fault(`the ${act} of ${edit.item} is not shown`);
    const now = editableItems(editedState(state, summaryEdits(log.live()))).find(({ id }) => id === edit.item);
    if (edit.section !== "prose" && (now?.text ?? "") !== replacement)
      this.#fault(`the state has another ${edit.item}`);
    return true;
  }

  /** Undoing any set of acts is the fold of the log without them and without what builds on them. */
  #undoSubset(): void {
    const { structure } = this.#log;
    const gone = new Set<number>();
    const undos: Structural[] = [];
    let seq = this.#log.head().version;
    for (const act of structure) {
      if (act.kind === "undo" || this.#draw.chance(0.5)) continue;
      const plan = planUndo([...structure, ...undos], act.seq);
      if (plan.kind !== "undo") continue;
      for (const one of [plan.of, ...plan.dependents]) gone.add(one);
      undos.push({ kind: "undo", seq: ++seq, of: act.seq });
    }
    const options = { shape: this.#shape, read: this.#log.original };
    const undone = view(this.#log.withUndos(undos), options);
    const without = view(this.#log.folded(gone), options);
    this.#subsets += 1;
    if (JSON.stringify(undone) !== JSON.stringify(without))
      this.#fault(`undoing ${[...gone].join(", ")} is not the log without them`);
  }

  #fault(what: string): void {
    if (this.#faults.length < 3)
      this.#faults.push(`log ${this.#seed} (${this.#dialect}), record ${this.#log.head().version}: ${what}`);
  }
}
