import { PalimpsestError } from "@palimpsest/core/errors";

/** What the gateway answered instead, or why it could not be asked. `code` is the gateway's; `unreachable` is ours. */
export class ClientError extends PalimpsestError {
  static override readonly kind = "ClientError";
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  readonly details: unknown;
  /** What the answer asks for. */
  readonly retryAfterMs: number | null;

  constructor(code: string, message: string, facts: Partial<Omit<ClientError, "code">> = {}) {
    super(code, message, facts.cause === undefined ? {} : { cause: facts.cause });
    this.status = facts.status ?? null;
    this.details = facts.details;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}

/** Any server's answer, also one that isn't the gateway's, such as a proxy's. */
export async function errorOf(response: Response): Promise<ClientError> {
  const text = await response.text().catch(() => "");
  const { code, message, details } = errorIn(text);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new ClientError(code ?? `http-${response.status}`, message ?? `the gateway answered ${response.status}`, {
    status: response.status,
    details,
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1000 : null,
  });
}

interface ErrorAnswer {
  readonly code?: string;
  readonly message?: string;
  readonly details?: unknown;
}

/** Of `{"error": {code, message, details?}}`; nothing where it is something else. */
export function errorIn(text: string): ErrorAnswer {
  try {
    const { error } = JSON.parse(text) as { readonly error?: ErrorAnswer };
    return typeof error?.code === "string" ? error : {};
  } catch {
    return {};
  }
}
