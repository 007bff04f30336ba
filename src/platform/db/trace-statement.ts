import type { LogEvent } from 'kysely';
import { SpanKind } from '@opentelemetry/api';
import { activeTraceId, failSpan, startSpan } from '../lib/logging/spans.ts';

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
