/** The commands that serve (gateway, worker, MCP, ACP, the page), and the gateway's keys. A part of the table in `commands.ts`. */

import { type Command, command, flag, text, whole } from "./command/command.ts";

export const gatewayCommands: readonly Command[] = [
  command({
    name: "serve",
    interrupt: "at-once",
    summary: "Serve threads, memory and models over HTTP, to this machine unless there are keys",
    examples: ["serve", "serve --port 8080", "serve --port 0 --json"],
    options: {
      host: text("ADDRESS", "where to listen (default: 127.0.0.1); another needs keys"),
      port: whole("N", { min: 0 }, "the port; 0: any that is free (default: 8790)"),
    },
    load: async () => (await import("./commands/serve.ts")).serving,
  }),
  command({
    name: "worker",
    interrupt: "at-once",
    summary:
      "Learn from turns, build search indexes and delete old threads, beside gateways that leave it to others (gateway.jobs: false)",
    examples: ["worker", "worker --json"],
    load: async () => (await import("./commands/serve.ts")).working,
  }),
  command({
    name: "mcp",
    summary: "Answer the Model Context Protocol on stdin and stdout: recall, memory and threads for another assistant",
    examples: ["mcp", "mcp --user ada"],
    withoutJson: "mcp speaks a protocol of its own on stdout: leave --json out.",
    load: async () => (await import("./commands/serve.ts")).speakingMcp,
  }),
  command({
    name: "acp",
    summary: "Answer the Agent Client Protocol on stdin and stdout: the agent in Zed, JetBrains or Neovim",
    examples: ["acp", "acp --user ada"],
    withoutJson: "acp speaks a protocol of its own on stdout: leave --json out.",
    load: () => import("./commands/acp.ts"),
  }),
  command({
    name: "studio",
    interrupt: "at-once",
    summary: "Open the page that shows what fills each thread's window, and start the gateway for it if none is there",
    examples: ["studio", "studio notes", "studio --print"],
    positionals: ["[T]"],
    options: {
      port: whole("N", { min: 0 }, "the gateway's port; 0: any that is free (default: 8790)"),
      print: flag("only print the address, open no browser"),
    },
    load: async () => (await import("./commands/serve.ts")).opening,
  }),
  command({
    name: "keys create",
    summary: "Make a key to the gateway for the user of --user, and show it once",
    examples: ["keys create --user ada", "keys create --user ops --role admin --expires 90d"],
    options: {
      role: text("ROLE", "user, delegate (may act for other users) or admin (default: user)"),
      expires: text("TIME", "when it ends: 90d, 12h, 30m (default: never)"),
    },
    load: async () => (await import("./commands/keys.ts")).creating,
  }),
  command({
    name: "keys list",
    summary: "List the keys to the gateway, without the keys themselves",
    access: "read",
    examples: ["keys list"],
    load: async () => (await import("./commands/keys.ts")).listing,
  }),
  command({
    name: "keys revoke",
    summary: "End a key for good",
    examples: ["keys revoke key_0123456789abcdef"],
    positionals: ["ID"],
    load: async () => (await import("./commands/keys.ts")).revoking,
  }),
];
