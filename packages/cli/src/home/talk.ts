/** The options of the commands that talk with the agent. */
export interface TalkOptions {
  readonly thread?: string;
  readonly agent?: string;
  readonly model?: string;
  /** In tokens. */
  readonly window?: number;
  /** In seconds. */
  readonly wait?: number;
}
