/**
 * The table of commands, in the order of the help. To add one: write it in the file of its subject in `commands/`, add an
 * entry here or in a part of the table (`thread-commands.ts` and others), describe its JSON in docs/cli.md. A name may have
 * two words (`config check`). `load` imports the file only when the command is called and returns an object with its `run`, so
 * a command's dependencies never slow the others down.
 */

import { type Command, command, flag, list, type OptionTable, text, whole } from "./command/command.ts";
import { gatewayCommands } from "./gateway-commands.ts";
import type { TalkOptions } from "./home/talk.ts";
import { memoryCommands } from "./memory-commands.ts";
import { shapingCommands, storeCommands, threadCommands } from "./thread-commands.ts";

const WINDOW = whole("N", { min: 1 }, "as a window of N tokens would force it; nothing is written");

const TALK = {
  thread: text("T", "the thread to go on with, made when it isn't there (default: a new one)"),
  continue: flag("go on with the newest thread, or with the newest of --agent A"),
  workspace: text("DIR", "let the agent work on the files of DIR, after you said once that it may"),
  agent: text("A", "which agent's thread a new one is (default: default)"),
  model: text("M", "a name from models: (default: the first; none configured: the offline model)"),
  window: whole("N", { min: 1000 }, "as if the model's window were N tokens: a small one shows compactions early"),
  wait: whole(
    "SECONDS",
    { min: 0 },
    "how long to wait for a thread that another run holds (default: 35; 0: not at all)",
  ),
} as const satisfies OptionTable<TalkOptions>;

export const commands: readonly Command[] = [
  command({
    name: "run",
    summary: "Ask the agent once and print its answer",
    examples: [
      'run "What is a palimpsest?"',
      'run "And then?" --continue',
      'run "What went wrong here?" - < build.log',
      'run "Add a test for the parser" --workspace .',
    ],
    positionals: ["[PROMPT]", "[-]"],
    options: TALK,
    load: async () => (await import("./commands/run.ts")).running,
  }),
  command({
    name: "chat",
    summary: "Talk with the agent; from a pipe, one prompt a line",
    withoutJson: 'chat has no --json; "palimpsest run PROMPT --json" has.',
    examples: ["chat", "chat --continue", "chat --thread notes --model main", "chat --window 4000"],
    options: TALK,
    load: () => import("./commands/chat.ts"),
  }),
  command({
    name: "import",
    summary: "Read a file of messages, an app's export, a folder or a zip archive of sessions into new threads",
    examples: [
      "import session.jsonl --thread old-session",
      "import - --thread piped < session.jsonl",
      "import ~/.codex/sessions --thread codex",
    ],
    interrupt: "at-once",
    positionals: ["FILE|DIR"],
    options: {
      thread: {
        ...text("T", "the new thread's id (required); a file of conversations makes T-1 ... T-n"),
        required: true,
      },
      learn: flag("let memory learn from the user's words in it; without this nothing is learned from an import"),
      "skip-invalid": flag("import what is valid and report the rest, instead of importing nothing"),
      agent: text("A", "which agent's thread it is (default: default)"),
    },
    load: () => import("./commands/import.ts"),
  }),
  command({
    name: "sync",
    summary: "Follow the sessions that another program writes: only what is new, any number of times",
    examples: ["sync claude-code", "sync codex --watch", "sync ~/backup/sessions --format pi"],
    positionals: ["PROGRAM|DIR"],
    options: {
      format: text("F", "what the files of DIR are (default: each says so itself)"),
      watch: flag("go on until Ctrl-C"),
      every: whole("SECONDS", { min: 1 }, "with --watch: look at least so often (default: 5)"),
      learn: flag("let memory learn from the user's words in it"),
    },
    load: async () => (await import("./commands/stores.ts")).syncing,
  }),
  ...threadCommands,
  ...shapingCommands,
  command({
    name: "view",
    summary: "Show what would be sent to the model now",
    access: "read",
    examples: ["view notes", "view notes --window 8000", "view notes --request 42 --json"],
    positionals: ["T"],
    options: {
      window: WINDOW,
      request: whole(
        "SEQ",
        { min: 1 },
        "instead the exact request that the answer at record SEQ, or the next one, was given to",
      ),
    },
    load: async () => (await import("./commands/looking.ts")).viewing,
  }),
  command({
    name: "context",
    summary: "Show what fills the window, as a bar",
    access: "read",
    examples: ["context notes", "context notes --json"],
    positionals: ["T"],
    options: { window: WINDOW },
    load: async () => (await import("./commands/looking.ts")).showingContext,
  }),
  command({
    name: "replay",
    summary: "Print everything ever said, in order, as given",
    access: "read",
    examples: ["replay notes", "replay notes --raw > notes.jsonl"],
    positionals: ["T"],
    options: {
      raw: flag("the stored messages byte for byte, one a line"),
      mask: flag("show no secrets that stand in them"),
    },
    load: async () => (await import("./commands/looking.ts")).replaying,
  }),
  command({
    name: "export",
    summary: "Write everything ever said in a thread as Markdown, a page or JSON lines",
    access: "read",
    withoutJson: "export has no --json; --as jsonl is JSON lines.",
    examples: ["export notes > notes.md", "export notes --out notes.html --full", "export notes --as jsonl"],
    positionals: ["T"],
    options: {
      as: text("FORMAT", "markdown, html or jsonl, which import reads (default: by --out, else markdown)"),
      out: text("FILE", "write a new file instead of printing"),
      full: flag("a page with the window, the requests and the compactions as well"),
      mask: flag("show no secrets that stand in them"),
    },
    load: () => import("./commands/export.ts"),
  }),
  command({
    name: "verify",
    interrupt: "at-once",
    summary: "Check the thread's hash chain, record by record",
    access: "read",
    examples: ["verify notes", "verify --all"],
    positionals: ["[T]"],
    options: { all: flag("every thread of every user; only reads") },
    load: async () => (await import("./commands/looking.ts")).verifying,
  }),
  command({
    name: "search",
    summary: "Find what was ever said, in one thread or in all",
    access: "read",
    examples: ['search notes "the harbour"', "search --all harbour -k 3"],
    positionals: ["[T]", "QUERY"],
    options: {
      limit: whole("N", { min: 1, short: "k" }, "at most so many hits (default: 10)"),
      all: flag("in all threads of the user, instead of T"),
    },
    load: async () => (await import("./commands/looking.ts")).searching,
  }),
  command({
    name: "map",
    summary: "Show what was talked about in a thread, in order",
    access: "read",
    examples: ["map notes", 'map notes "the harbour" --tokens 500'],
    positionals: ["T", "[QUERY]"],
    options: {
      tokens: whole("N", { min: 100 }, "most tokens of all lines together (default: 2000)"),
    },
    load: async () => (await import("./commands/looking.ts")).mapping,
  }),
  command({
    name: "compact",
    summary: "Hide the older part of a thread behind a summary; undo takes it back",
    examples: [
      "compact notes --dry-run",
      'compact notes --focus "the open questions"',
      "compact notes --from 4 --until 9",
    ],
    positionals: ["T"],
    options: {
      from: whole("SEQ", { min: 1 }, "only a range: its first message (default: the first that is visible)"),
      until: whole("SEQ", { min: 1 }, "its last message (default: the last before the current request)"),
      "dry-run": flag("show what would come of it, without a model, and write nothing"),
      focus: text("S", "what the summary should keep in view"),
      window: whole("N", { min: 1 }, "the model's window in tokens (default: the configured model's)"),
    },
    load: () => import("./commands/compact.ts"),
  }),
  command({
    name: "undo",
    summary: "Take back the newest compaction or prune, or the one at SEQ",
    examples: ["undo notes", "undo notes 42"],
    positionals: ["T", "[SEQ]"],
    options: { redo: flag("take back the newest undo instead") },
    load: async () => (await import("./commands/acts.ts")).takingBack,
  }),
  command({
    name: "redo",
    summary: "Take back the newest undo",
    examples: ["redo notes"],
    positionals: ["T"],
    load: async () => (await import("./commands/acts.ts")).redoing,
  }),
  command({
    name: "fork",
    summary: "Make a thread that shares this one's records up to a seq",
    examples: ["fork notes --at 12 --as notes-again"],
    positionals: ["T"],
    options: {
      at: { ...whole("SEQ", { min: 0 }, "the last record to share (required)"), required: true },
      as: text("T2", "the new thread's id (default: T-fork-SEQ, numbered if taken)"),
    },
    load: async () => (await import("./commands/acts.ts")).forking,
  }),
  command({
    name: "pin",
    summary: "Pin a message, so that every summary quotes it word for word",
    examples: ["pin notes 3", "pin notes 3 --off"],
    positionals: ["T", "SEQ"],
    options: { off: flag("take the pin off") },
    load: async () => (await import("./commands/acts.ts")).pinning,
  }),
  command({
    name: "redact",
    summary: "Erase a message's text for good; the chain stays whole and verify reports it",
    examples: ["redact notes 7"],
    positionals: ["T", "SEQ"],
    load: async () => (await import("./commands/acts.ts")).redacting,
  }),
  command({
    name: "demo",
    summary: "Play a long conversation in a small window, without a key, and prove that nothing is lost",
    examples: ["demo", "demo --seasons 1"],
    options: { seasons: whole("N", { min: 1 }, "how many of its four parts to play (default: all)") },
    load: () => import("./commands/demo.ts"),
  }),
  command({
    name: "lab",
    interrupt: "at-once",
    summary: "Replay transcripts under several policies: cost, knowledge, validity",
    examples: [
      "lab session.jsonl --window 32000",
      "lab *.jsonl --policy mine.yaml --html report.html",
      "lab --mine --html mine.html",
    ],
    positionals: ["[FILE...]"],
    options: {
      policy: list("FILE", "a summarization block to play too; may stand several times"),
      window: whole("N", { min: 1000 }, "the model's window (default: 200000)"),
      limit: whole("N", { min: 1, short: "k" }, "hits of a search that count as found (default: 5)"),
      html: text("OUT", "also write one self-contained page with plots"),
      mine: flag("your own sessions, or those in folders you name: what each cost and would have cost"),
      mask: flag("with --mine: show no secrets that stand in titles"),
    },
    load: async () => (await import("./commands/lab.ts")).playing,
  }),
  command({
    name: "eval",
    interrupt: "at-once",
    access: "read",
    summary: "Measure what a model would be sent and what a search finds, in your threads or in files, without a model",
    examples: [
      "eval",
      "eval --thread notes --window 32000",
      "eval session.jsonl locomo.json --json",
      "eval session.jsonl --window 32000 --gate gate.json",
    ],
    positionals: ["[FILE...]"],
    options: {
      thread: list("T", "a thread to measure; may stand several times (default, without a FILE: the newest 20)"),
      window: whole("N", { min: 1000 }, "the model's window in tokens (default: the configured model's)"),
      gate: text("FILE", "bounds for figures, as JSON; the exit code is 1 if one is broken"),
      "held-out": list("FILE", "files that nothing was tuned on, in tables of their own; may stand several times"),
      all: flag("measure everything, however long it takes; without this long inputs are sampled"),
    },
    load: async () => (await import("./commands/lab.ts")).evaluating,
  }),
  command({
    name: "doctor",
    interrupt: "at-once",
    summary: "Check the configuration, the home, the database and its threads",
    examples: ["doctor", "doctor --rebuild"],
    options: { rebuild: flag("make heads, search index and part files anew from the logs") },
    load: () => import("./commands/doctor.ts"),
  }),
  command({
    name: "trust",
    summary: "Allow what a configuration or home that was found would do, as it is now",
    examples: ["trust --dry-run", "trust ./config.yaml", "trust --workspace ."],
    positionals: ["[FILE|DIR]"],
    options: {
      "dry-run": flag("only show what it would be allowed to do"),
      remove: flag("trust it no longer"),
      workspace: flag("DIR is one that agents may work in with --workspace"),
    },
    load: () => import("./commands/trust.ts"),
  }),
  ...gatewayCommands,
  ...memoryCommands,
  ...storeCommands,
  command({
    name: "models",
    summary: "List the models that are configured and those that could be, with windows and prices",
    access: "read",
    examples: ["models", "models --json"],
    load: async () => (await import("./commands/models.ts")).listing,
  }),
  command({
    name: "models test",
    summary: "Make one small call to a model, to see that its address, key and name are right",
    examples: ["models test", "models test main"],
    positionals: ["[NAME]"],
    load: async () => (await import("./commands/models.ts")).testing,
  }),
  command({
    name: "models forget",
    summary:
      "Forget the limit that a provider once stated when it refused a prompt, so that the configured window counts",
    examples: ["models forget", "models forget main"],
    positionals: ["[NAME]"],
    load: async () => (await import("./commands/models.ts")).forgetting,
  }),
  command({
    name: "config init",
    summary: "Ask four questions and write a small config.yaml; with --provider nothing is asked",
    examples: [
      "config init",
      "config init --provider anthropic --model claude-sonnet-4-5",
      "config init --provider openai-compatible --base-url http://127.0.0.1:11434/v1 --model qwen3:8b",
    ],
    options: {
      provider: text("P", "openai, anthropic, google, openai-compatible or offline"),
      model: text("ID", "the provider's id for the model"),
      key: text("VARIABLE", "the environment variable that holds the key (default: the provider's usual one)"),
      "base-url": text("URL", "where the model is, for openai-compatible"),
      window: whole("N", { min: 1 }, "the input window in tokens (default: known for well-known models)"),
    },
    load: async () => (await import("./commands/config.ts")).initializing,
  }),
  command({
    name: "config check",
    summary: "Say what is wrong in a configuration file, one problem a line",
    examples: ["config check", "config check ./config.yaml"],
    positionals: ["[FILE]"],
    load: async () => (await import("./commands/config.ts")).checking,
  }),
  command({
    name: "config schema",
    summary: "Print the JSON Schema of config.yaml, for editors",
    examples: ["config schema > config.schema.json"],
    load: async () => (await import("./commands/config.ts")).printingSchema,
  }),
  command({
    name: "config upgrade",
    summary: "Bring config.yaml to the present version; the old file stays beside it",
    examples: ["config upgrade"],
    positionals: ["[FILE]"],
    load: async () => (await import("./commands/config.ts")).upgrading,
  }),
  command({
    name: "completion",
    summary: "Print a script that lets your shell complete commands and options",
    withoutJson: "completion has no --json: it prints a script.",
    examples: [
      "completion bash >> ~/.bashrc",
      "completion zsh >> ~/.zshrc",
      "completion fish > ~/.config/fish/completions/palimpsest.fish",
    ],
    positionals: ["SHELL"],
    load: async () => ({ run: (await import("./completion.ts")).printCompletion(commands) }),
  }),
];
