/** What each example must print, from the sources and from the packed packages alike. */
export const EXPECTED_EXAMPLES: Readonly<Record<string, RegExp>> = {
  "01-compact-messages.ts": /turn \d+: \d+ -> \d+ tokens\n[\s\S]*300 messages kept[\s\S]*other-messages\nmessage \d+: /,
  "02-deep-agent.ts": /\[read_file in \d+ ms\]\n[\s\S]*high water at 06:40/,
  "03-survive-a-restart.ts": /says: "The cargo is forty barrels of cider\."/,
  "04-undo-and-fork.ts": /compacted, 8 messages[\s\S]*undone: 24 messages[\s\S]*log-south: 4 messages/,
  "05-custom-middleware.ts": /public\.txt: nothing special[\s\S]*that is private/,
  "06-custom-summarizer.ts": /^summarize\nFishing log: \d+ hauls so far/,
  "07-subagents.ts": /Starting task: "Analyze data.csv"[\s\S]*5% growth\.\n[\s\S]*parent's prompt: 4/,
  "08-memory.ts": /The user's name is Ada/,
  "09-own-store.ts": /\d+: .*forty barrels of cider/,
  "10-search-without-a-store.ts": /^#\d [\s\S]*assistant: At pier 7/,
  "11-any-provider.ts": /^openai: [\s\S]*would be refused: paired\nleft: 0\n.*"tool_use_id":"call_2"/,
  "12-approval.ts": /may read_file have .*private\.txt[\s\S]*nothing special/,
  "13-structured-output.ts": /^asked once more\nOslo: 3\.1 meters/,
  "14-any-loop.ts": /^compacted, found: everything/,
  "15-memory-in-one-call.ts": /^User prefers short answers\./,
  "16-memory-tool.ts": /2\tTide: seven[\s\S]*would escape \/memories/,
  "17-web-chat.ts": /^403 .*"not-allowed".*\nsent: answered\nsent again: answered\n2 messages: user, assistant\n/,
};

/** Those of the adapters, which need their frameworks: packages, beside ours, and what is printed. */
export const EXPECTED_ADAPTERS: Readonly<Record<string, RegExp>> = {
  "adapters/ai-sdk.ts": /^160 messages in the log, \d\d shown to the model/,
  "adapters/langchain.ts": /^160 messages in the state, \d\d shown to the model/,
  "adapters/openai-agents.ts":
    /^160 items said, \d\d? shown to the model\npopped in voyage-1; found what was said first/,
};
