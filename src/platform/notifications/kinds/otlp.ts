import { z } from 'zod';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { formatSetting, renderEvent } from './event-format.ts';
import { defineKind, httpApi, incidentAndHitEvents, readAlert, type AlertSeverity } from './destination-kind.ts';

/** The severity numbers of the log data model of OpenTelemetry. */
const severities: Record<AlertSeverity, [number, string]> = {
  none: [9, 'INFO'],
  low: [10, 'INFO2'],
  medium: [13, 'WARN'],
  high: [17, 'ERROR'],
  critical: [21, 'FATAL'],
};

/** Statuses that OTLP/HTTP lets a client try again. All others are final. */
const retryable = [429, 502, 503, 504];

/**
 * OTLP logs over HTTP in JSON (opentelemetry.io, "OTLP Specification"). The body of the record is the event. A response that reports rejected records is
 * final, as the specification demands.
 */
export const otlp = defineKind({
  ...httpApi,
  label: 'OpenTelemetry logs (OTLP)',
  urlHint: 'The endpoint for logs, such as https://collector.example.com:4318/v1/logs.',
  keepsTickets: false,
  settings: z.strictObject({
    format: formatSetting,
    header: boundedString({ min: 1, max: 100 })
      .regex(/^[\w-]+$/, 'must be the name of a header')
      .refine((name) => !/^(?:host|content-.*|transfer-encoding|connection)$/i.test(name), 'is set by the service')
      .default('authorization')
      .describe('The header that carries the credentials.'),
  }),
  credentials: z.strictObject({
    headerValue: boundedString({ min: 1, max: 5000 })
      .regex(/^[\x20-\x7e]+$/, 'must be printable ASCII')
      .optional()
      .describe('The value of that header, such as Bearer and a token. Absent: none is sent.'),
  }),
  defaultEvents: incidentAndHitEvents,
  finalStatuses: [],
  send: async (event, { url, settings, credentials, request }) => {
    const { headline, severity } = readAlert(event);
    const timeUnixNano = `${Date.parse(event.timestamp)}000000`;
    const [severityNumber, severityText] = severities[severity];
    const record = {
      timeUnixNano,
      observedTimeUnixNano: timeUnixNano,
      severityNumber,
      severityText,
      eventName: `tocsin.${event.type}`,
      body: toAnyValue({ message: headline, ...renderEvent(event, settings.format) }),
      attributes: [{ key: 'log.record.uid', value: { stringValue: event.id } }],
    };
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'tocsin' } }] };
    const response = await request({
      url,
      ...(credentials.headerValue !== undefined && { headers: { [settings.header]: credentials.headerValue } }),
      body: { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'tocsin' }, logRecords: [record] }] }] },
    });
    if (response.status > 299) return { ...response, isFinal: !retryable.includes(response.status) };
    const isRejected = /"rejectedLogRecords"\s*:\s*"?[1-9]/.test(response.text);
    return isRejected ? { ...response, problem: response.text, isFinal: true } : response;
  },
});

/** Returns a value of JSON as an `AnyValue`. Integers are texts, as in every JSON form of a 64-bit number of Protocol Buffers. */
function toAnyValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toAnyValue) } };
  if (value === null || value === undefined) return {};
  const values = Object.entries(value).map(([key, one]) => ({ key, value: toAnyValue(one) }));
  return { kvlistValue: { values } };
}
