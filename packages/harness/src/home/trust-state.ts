/**
 * What a home or a configuration is to the person: their own, trusted by them as it is now, or a stranger's. Decides only.
 * A repository, an archive or a shared folder can bring either; being in the working directory makes neither one's own.
 */

export interface Evidence {
  /** Named on the command line or in the environment, or the person's one home. */
  readonly named: boolean;
  /** Who owns its files on this machine; root counts as the person, since it can do anything anyway. */
  readonly owner: "self" | "other";
  /** We made it ourselves, and it is the same one still. */
  readonly made: boolean;
  /** The content that was trusted; null: none was. */
  readonly trusted: string | null;
  /** The content there is. */
  readonly fingerprint: string;
}

export type TrustState = "own" | "trusted" | "changed" | "unknown" | "other-user";

export function trustStateOf({ named, owner, made, trusted, fingerprint }: Evidence): TrustState {
  if (named) return "own";
  if (owner === "other") return "other-user";
  if (made) return "own";
  if (trusted === null) return "unknown";
  return trusted === fingerprint ? "trusted" : "changed";
}

/** Something a configuration or home would be allowed to do, in words that follow "it would". */
export interface Power {
  readonly kind:
    | "code"
    | "key"
    | "address"
    | "host"
    | "files"
    | "environment"
    | "deletes"
    | "prompt"
    | "approval"
    | "skills"
    | "threads";
  /** Where it says so: `memory.storage_class`. */
  readonly key: string;
  readonly detail: string;
}

export type Verdict = "use" | "ask" | "refuse";

/** A configuration without any power needs no trust; a home always does, since its threads and skills are prompts. */
export function verdictOf(
  state: TrustState,
  { powers, kind }: { readonly powers: readonly Power[]; readonly kind: "home" | "config" },
): Verdict {
  switch (state) {
    case "own":
    case "trusted":
      return "use";
    case "other-user":
      return "refuse";
    case "changed":
    case "unknown":
      return kind === "config" && powers.length === 0 ? "use" : "ask";
  }
}
