/** What is known of a thread beside its log: whose it is, where it came from. */
export interface ThreadHeader {
  readonly id: string;
  readonly user: string;
  readonly agent: string;
  readonly parent: string | null;
  /** For a fork: the parent's last shared seq. */
  readonly forkedAt: number | null;
  readonly kind: "main" | "subagent";
  readonly createdAt: string;
  readonly memory: "on" | "off";
}
