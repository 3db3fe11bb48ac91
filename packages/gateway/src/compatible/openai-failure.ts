/** An error as OpenAI words it, for both of its protocols. */
import type { VendorFailure } from "./vendor.ts";

export function openaiFailure({ status, code, message, param = null }: VendorFailure): unknown {
  return {
    error: {
      message,
      type: TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error"),
      param,
      code: CODES[code] ?? code,
    },
  };
}

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  429: "rate_limit_error",
};

/** Where OpenAI has a word of its own. */
const CODES: Readonly<Record<string, string>> = {
  "no-key": "invalid_api_key",
  "bad-key": "invalid_api_key",
  "no-model": "model_not_found",
  limited: "rate_limit_exceeded",
  "too-long": "context_length_exceeded",
};
