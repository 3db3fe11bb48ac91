/**
 * Spans of OpenTelemetry for what an agent does, named by the conventions for generative AI: a run, each model call, each tool,
 * each compaction, each look into memory. It listens and changes nothing; what people said is in no span unless that is asked for.
 */
import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { AgentEvent, RunEnd } from "../agent/events.ts";
import type { Middleware, RunFacts } from "../agent/run.ts";
import type { StepOutcome } from "../agent/step.ts";
import type { Usage } from "../models/facts.ts";

export interface TelemetryOptions {
  /** Also what was asked, answered and given to tools. */
  readonly recordContent?: boolean;
  /** By default the one that is registered. */
  readonly tracer?: Tracer;
}

/** A run's open spans. */
interface RunSpans {
  readonly facts: RunFacts;
  readonly run: Span;
  /** What its other spans stand under. */
  readonly within: Context;
  /** The model that is asked; after a fallback only its id is told. */
  model: { readonly modelId: string; readonly provider: string | null };
  compaction: Span | null;
  /** When the summary that is being written was begun. */
  summaryFrom: number;
  chat: { readonly span: Span; readonly startedAt: number; heard: boolean } | null;
}

/** Own subpath, since it needs `@opentelemetry/api`. First in the list it sees what all others do. */
export function telemetry(options: TelemetryOptions = {}): Middleware {
  const tracer = options.tracer ?? trace.getTracer("palimpsest");
  const recordsContent = options.recordContent ?? false;
  const open = new Map<string, RunSpans>();

  /** Work under a span, which is the active one meanwhile: whatever else makes spans nests in it. */
  const under = async <T>(span: Span, within: Context, work: () => Promise<T>): Promise<T> => {
    try {
      return await context.with(trace.setSpan(within, span), work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  };

  const onEvent = (event: AgentEvent, facts: RunFacts): void => {
    if (event.type === "run-start") open.set(facts.runId, startRunSpan(tracer, facts));
    const spans = open.get(facts.runId);
    if (spans !== undefined) hear(event, spans, tracer);
    if (event.type === "run-end") open.delete(facts.runId);
  };

  return {
    name: "telemetry",
    onEvent,
    beforeAgent({ runId, agentName }) {
      open.get(runId)?.run.updateName(`invoke_agent ${agentName}`).setAttribute("gen_ai.agent.name", agentName);
    },
    async wrapModel(request, next, run) {
      const spans = open.get(run.runId);
      if (spans === undefined) return next(request);
      const span = startChatSpan(tracer, spans, { model: request.model ?? spans.model, step: run.step });
      if (recordsContent)
        span.setAttributes({
          "gen_ai.system_instructions": request.instructions,
          "gen_ai.input.messages": json(request.messages),
        });
      return under(span, spans.within, async () => {
        const outcome = await next(request);
        span.setAttributes(outcomeAttributes(outcome));
        if (recordsContent) span.setAttribute("gen_ai.output.messages", answerContent(outcome));
        if (outcome.kind === "failed") fail(span, errorType(outcome.error));
        spans.chat = null;
        return outcome;
      });
    },
    async wrapTool(call, next, { runId, threadId }) {
      const within = open.get(runId)?.within ?? context.active();
      const attributes: Attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": threadId,
      };
      const span = tracer.startSpan(`execute_tool ${call.name}`, { attributes }, within);
      if (recordsContent) span.setAttribute("gen_ai.tool.call.arguments", json(call.input));
      return under(span, within, async () => {
        const outcome = await next(call);
        if (recordsContent) span.setAttribute("gen_ai.tool.call.result", json(outcome.output));
        if (outcome.isError) fail(span, "tool_error");
        return outcome;
      });
    },
  };
}

function startRunSpan(tracer: Tracer, facts: RunFacts): RunSpans {
  const attributes: Attributes = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": providerName(facts.provider),
    "gen_ai.request.model": facts.modelId,
    "gen_ai.conversation.id": facts.threadId,
    "palimpsest.run.id": facts.runId,
  };
  const run = tracer.startSpan("invoke_agent", { attributes });
  const within = trace.setSpan(context.active(), run);
  return {
    facts,
    run,
    within,
    model: facts,
    compaction: null,
    summaryFrom: 0,
    chat: null,
  };
}

function startChatSpan(
  tracer: Tracer,
  spans: RunSpans,
  { model, step }: { readonly model: RunSpans["model"]; readonly step: number },
): Span {
  const { modelId, provider } = model;
  const attributes: Attributes = {
    "gen_ai.operation.name": "chat",
    ...(provider !== null && { "gen_ai.provider.name": providerName(provider) }),
    "gen_ai.request.model": modelId,
    "gen_ai.conversation.id": spans.facts.threadId,
    "palimpsest.step": step,
  };
  const span = tracer.startSpan(`chat ${modelId}`, { kind: SpanKind.CLIENT, attributes }, spans.within);
  spans.chat = { span, startedAt: performance.now(), heard: false };
  return span;
}

function hear(event: AgentEvent, spans: RunSpans, tracer: Tracer): void {
  switch (event.type) {
    case "text-delta":
    case "reasoning-delta":
      if (spans.chat === null || spans.chat.heard) return;
      spans.chat.heard = true;
      spans.chat.span.setAttribute(
        "gen_ai.response.time_to_first_chunk",
        (performance.now() - spans.chat.startedAt) / 1000,
      );
      return;
    case "model-fallback":
      spans.model = { modelId: event.to, provider: null };
      return;
    case "compaction-trigger":
      spans.compaction = tracer.startSpan("palimpsest.compaction", {}, spans.within);
      return;
    case "compaction-start":
    case "draft-start":
      spans.summaryFrom = Date.now();
      return;
    case "summary-usage":
      addSummarySpan(event, spans, tracer);
      return;
    case "summary-failed":
      spans.compaction?.addEvent("palimpsest.summary.failed", { "error.type": event.reason });
      return;
    case "compaction-end":
      spans.compaction?.setAttributes({
        "gen_ai.conversation.id": spans.facts.threadId,
        ...compactionAttributes(event.outcome),
      });
      spans.compaction?.end();
      spans.compaction = null;
      return;
    case "memory-injected": {
      const attributes: Attributes = {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.conversation.id": spans.facts.threadId,
        "palimpsest.memory.lane": event.lane,
        "palimpsest.memory.items": event.ids.length,
        "palimpsest.memory.tokens": event.tokens,
      };
      // Told when it is over.
      const now = Date.now();
      tracer.startSpan("search_memory", { attributes, startTime: now - event.ms }, spans.within).end(now);
      return;
    }
    case "run-end":
      endRun(spans, event.end);
  }
}

/** Told when it is over: all calls of one summary, under the compaction that waits for it; a draft's stand under the run. */
function addSummarySpan(
  { calls, ...usage }: Extract<AgentEvent, { type: "summary-usage" }>,
  { facts, within, compaction, summaryFrom }: RunSpans,
  tracer: Tracer,
): void {
  const attributes: Attributes = {
    "gen_ai.conversation.id": facts.threadId,
    "palimpsest.summary.calls": calls,
    ...usageAttributes(usage),
  };
  const parent = compaction === null ? within : trace.setSpan(within, compaction);
  tracer.startSpan("palimpsest.summary", { attributes, startTime: summaryFrom }, parent).end();
}

function compactionAttributes(outcome: Extract<AgentEvent, { type: "compaction-end" }>["outcome"]): Attributes {
  if (outcome.kind === "unchanged") {
    return {
      "palimpsest.compaction.outcome": outcome.reason,
      "palimpsest.compaction.tokens_before": outcome.tokens,
      "palimpsest.compaction.tokens_after": outcome.tokens,
    };
  }
  return {
    "palimpsest.compaction.outcome": "compacted",
    "palimpsest.compaction.rung": outcome.rung,
    "palimpsest.compaction.reason": outcome.reason,
    "palimpsest.compaction.tokens_before": outcome.tokensBefore,
    "palimpsest.compaction.tokens_after": outcome.tokensAfter,
    "palimpsest.compaction.summarizer_calls": outcome.calls,
  };
}

function endRun({ run, compaction }: RunSpans, end: RunEnd): void {
  compaction?.end();
  run.setAttribute("palimpsest.run.end", end.kind);
  if (end.kind === "failed") fail(run, end.code);
  run.end();
}

function outcomeAttributes(outcome: StepOutcome): Attributes {
  if (outcome.kind !== "answered") return { "palimpsest.call.end": outcome.kind };
  const { usage, finish } = outcome;
  return {
    "gen_ai.response.finish_reasons": [finish],
    ...(usage !== null && usageAttributes(usage)),
  };
}

function usageAttributes(usage: Usage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.input,
    "gen_ai.usage.output_tokens": usage.output,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheRead,
    "gen_ai.usage.cache_creation.input_tokens": usage.cacheWrite,
  };
}

/** Its words may quote what was said; its kind doesn't. */
function fail(span: Span, type: string): void {
  span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

function errorType(error: unknown): string {
  const { statusCode } = (typeof error === "object" && error !== null ? error : {}) as { statusCode?: unknown };
  if (typeof statusCode === "number") return String(statusCode);
  return error instanceof Error ? error.name : "error";
}

/** As the conventions name them: the SDK says `openai.responses`, `google.generative-ai`. */
function providerName(provider: string): string {
  const [first] = provider.split(".");
  return first === "google" ? "gcp.gemini" : first!;
}

function answerContent(outcome: StepOutcome): string {
  return json(outcome.kind === "answered" ? (outcome.message ?? "") : outcome.text);
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
