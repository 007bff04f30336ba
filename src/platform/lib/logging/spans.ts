import {
  context,
  SpanStatusCode,
  trace,
  type Attributes,
  type Span,
  type SpanOptions,
  SpanKind,
} from '@opentelemetry/api';
import type { LogEvent } from 'kysely';

const tracerName = 'tocsin';

/** Starts a span of the active trace, or of a new one. Without `startTracing` it costs next to nothing and records nothing. */
export const startSpan = (name: string, options: SpanOptions = {}): Span =>
  trace.getTracer(tracerName).startSpan(name, options);

/**
 * Runs `work` in a span. Spans that `work` starts become its children. An error ends the span as failed and is thrown again. `kind` is `CLIENT` for a call
 * of another service, so that tools measure that service by it.
 */
export async function inSpan<T>(
  name: string,
  options: Pick<SpanOptions, 'attributes' | 'kind'>,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = startSpan(name, options);
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span));
  } catch (error) {
    failSpan(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed. Only the kind of the error is recorded, because messages may quote logs. */
function failSpan(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.constructor.name : 'unknown');
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** Adds attributes to the span of what is being done, such as a request. */
export const annotateSpan = (attributes: Attributes): void => void trace.getActiveSpan()?.setAttributes(attributes);

/** Returns the ID of the active trace, if it is recorded. */
export function activeTraceId(): string | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span.spanContext().traceId : undefined;
}

/**
 * Records a statement that has ended as a span of the active trace. Statements outside of a trace, such as those of idle loops, are not
 * recorded, and neither are bound values.
 */
export function traceStatement(event: LogEvent): void {
  if (activeTraceId() === undefined) return;
  const text = event.query.sql;
  const endMs = Date.now();
  const span = startSpan(/\w+/.exec(text)?.[0].toUpperCase() ?? 'statement', {
    kind: SpanKind.CLIENT,
    startTime: endMs - event.queryDurationMillis,
    attributes: { 'db.system.name': 'postgresql', 'db.query.text': text },
  });
  if (event.level === 'error') failSpan(span, event.error);
  span.end(endMs);
}
