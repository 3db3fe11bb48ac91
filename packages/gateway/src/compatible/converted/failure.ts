/** What another vendor's model fails with, as a client reads it: the provider's own verdict, or that there is none. */
import { PalimpsestError } from "@palimpsest/core/errors";
import { type Problem, problemOf } from "../../http/problem.ts";

/** The answer broke off, by an error or without its end. */
export class BrokenAnswer extends Error {
  constructor(cause: unknown) {
    super("the model's answer broke off", { cause });
  }
}

export function convertedFailure(error: unknown): Problem {
  const own = ownError(error);
  if (own !== null) return problemOf(own);
  const { name, message, statusCode, responseHeaders, cause } = (error ?? {}) as CallError;
  // A kind of content or tool that the provider has no word for.
  if (name === "AI_UnsupportedFunctionalityError")
    return {
      status: 400,
      code: "unsupported",
      message: `this model is another vendor's and can't take it: ${message}`,
    };
  if (typeof statusCode === "number" && typeof message === "string")
    return statusCode < 400 ? badResponse("answered with something that can't be read") : refusal();
  if (name === "AI_APICallError") {
    const why = (cause as { readonly code?: unknown } | undefined)?.code ?? message;
    return { status: 502, code: "unreachable", message: `the model's provider can't be reached (${why})` };
  }
  if (!(error instanceof BrokenAnswer)) return problemOf(error);
  if (cause === null) return badResponse("ended its answer without an end");
  const inner = convertedFailure(cause);
  if (inner.status !== 500 || inner.code !== "unexpected") return inner;
  return { status: 502, code: "unreachable", message: "the model's provider broke off in the middle of its answer" };

  function refusal(): Problem {
    const after = responseHeaders?.["retry-after"];
    const headers = after === undefined ? {} : { "retry-after": after };
    return { status: statusCode!, code: "provider", message: message!, headers };
  }
}

/** An error of ours, such as a limit's, which the SDK may have wrapped; null: there is none. */
function ownError(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  return PalimpsestError.isInstance(error) ? error : ownError(error.cause);
}

type CallError = Partial<Error> & {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
};

function badResponse(what: string): Problem {
  return { status: 502, code: "bad-response", message: `the model's provider ${what}` };
}
