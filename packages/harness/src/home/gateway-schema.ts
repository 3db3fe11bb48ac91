/** What `palimpsest serve` may be told, in the configuration file's block `gateway`. */
import { z } from "zod/v4";

const positive = z.number().positive();
const wholeAboveZero = z.int().positive();

/** Holds nothing of an account's, and each names its model. */
const PASS_THROUGH = [
  "POST /v1/embeddings",
  "POST /v1/moderations",
  "POST /v1/audio/speech",
  "POST /v1/audio/transcriptions",
  "POST /v1/audio/translations",
  "POST /v1/images/generations",
  "POST /v1/images/edits",
  "POST /v1/images/variations",
];

const passThroughSchema = z.union([
  z.literal("all"),
  z.array(
    z
      .string()
      .regex(
        /^(?:GET|HEAD|POST|PUT|PATCH|DELETE) \/v1(?:\/(?:[\w.-]+|\{\w+\}))+$/,
        "must be a method and a path, such as `GET /v1/files/{id}`",
      ),
  ),
]);

export const gatewaySchema = z.strictObject({
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe("Where to listen; an address that others can reach needs keys."),
  port: z.int().min(0).max(65_535).default(8790).describe("0: any that is free."),
  hosts: z
    .array(z.string().regex(/^[^\s/@]+$/, "must be a host's name, with or without a port"))
    .nullable()
    .default(null)
    .describe(
      "Names under which it may be called (`Host`), beside this machine's own; null: any, where there are keys.",
    ),
  compatible: z.boolean().default(true).describe("Serve the /v1 endpoints; false: each of their paths answers 404."),
  mode: z
    .enum(["on", "observe", "off"])
    .default("on")
    .describe("What the /v1 endpoints do: compact; pass through, store and say what would be saved; pass through."),
  compaction: z
    .enum(["ours", "native", "off"])
    .default("ours")
    .describe("Who shortens a prompt on the /v1 endpoints: this gateway, the vendor's own parameters, nobody."),
  evidence: z.boolean().default(false).describe("Lend what was hidden to the last question on the /v1 endpoints."),
  memory: z.boolean().default(false).describe("Lend what is remembered on the /v1 endpoints, and learn there."),
  tools: z
    .boolean()
    .default(false)
    .describe(
      "Offer notes, a fresh window, checkpoints and recall to the model on the /v1 endpoints, and answer these calls here.",
    ),
  pass_through: passThroughSchema
    .default(PASS_THROUGH)
    .describe(
      "What any key may have passed on to a provider with the operator's key, beside conversations: methods and paths, or all.",
    ),
  forward_keys: z
    .boolean()
    .default(false)
    .describe("Let the /v1 endpoints take a client's own provider key, and send it to that provider alone."),
  strangers: z
    .strictObject({
      requests_per_minute: wholeAboveZero.nullable().default(30).describe("From one address; null: no limit."),
      running: wholeAboveZero.nullable().default(4).describe("At once from one address; null: no limit."),
      all_requests_per_minute: wholeAboveZero.nullable().default(300).describe("From all addresses; null: no limit."),
      all_running: wholeAboveZero.nullable().default(32).describe("At once from all addresses; null: no limit."),
    })
    .prefault({})
    .describe("Requests with forwarded keys that no provider has accepted yet."),
  address_header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/, "must be a header's name")
    .nullable()
    .default(null)
    .describe(
      "The header in which your proxy names a client's address, such as X-Forwarded-For; its last entry counts.",
    ),
  user_header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,64}$/, "must be a header's name")
    .nullable()
    .default(null)
    .describe("Another header in which a delegate names its user, beside X-Palimpsest-User."),
  retention_days: positive
    .nullable()
    .default(null)
    .describe("Threads that nobody changed for so long are deleted; null: never."),
  jobs: z
    .boolean()
    .default(true)
    .describe(
      "Learn from turns, build search indexes and delete old threads here; false: `palimpsest worker` does, in processes of its own.",
    ),
  body_limit_mb: positive.default(64).describe("The largest body of a request."),
  body_nesting: wholeAboveZero.default(200).describe("How deep the JSON of a body may be nested."),
  request_messages: wholeAboveZero.default(50_000).describe("Most messages of one request to the /v1 endpoints."),
  imported_messages_per_day: wholeAboveZero
    .nullable()
    .default(200_000)
    .describe("Most messages that one user may import in a day, on each gateway; null: no limit."),
  tool_calls_per_round: wholeAboveZero
    .default(32)
    .describe("With `tools`: most calls to them in one answer of a model that are carried out."),
  answer_limit_mb: positive.default(64).describe("The largest answer of a provider on the /v1 endpoints."),
  answer_idle_seconds: positive
    .nullable()
    .default(600)
    .describe("How long a provider's stream on the /v1 endpoints may say nothing but comments; null: no limit."),
  limits: z
    .strictObject({
      requests_per_minute: wholeAboveZero.nullable().default(null).describe("Of one key; null: no limit."),
      tokens_per_minute: wholeAboveZero.nullable().default(null).describe("In and out, of one key; null: no limit."),
      running: wholeAboveZero.nullable().default(16).describe("Requests of one key at once; null: no limit."),
    })
    .prefault({}),
  shutdown_grace_seconds: z.number().min(0).default(10).describe("How long answers may take to finish at the end."),
});
