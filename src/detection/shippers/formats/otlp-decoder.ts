import { appError } from '../../../platform/lib/errors.ts';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { parseTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent } from '../../log-ingest/events/parse-event.ts';
import type { BodyDecoder, DecodedEvent } from './body-decoder.ts';
import { createDocumentDecoder, parseDocument } from './document-decoder.ts';
import { datasetOfUnnamed, findEcsDataset, toDatasetName } from './shipper-dataset.ts';
import { addMissing, readTextEvent } from './text-event.ts';
import { logsRequest } from './otlp-schema.ts';
import { listOf, readAnyValue, readAttributes } from './otlp-values.ts';

type Json = Record<string, unknown>;

/** Decodes a request of the OpenTelemetry protocol for logs, in JSON or protobuf. */
export function createOtlpDecoder(encoding: 'json' | 'protobuf'): BodyDecoder {
  return createDocumentDecoder((body) =>
    decodeRecords(encoding === 'json' ? parseDocument(body) : parseProtobuf(body)),
  );
}

function parseProtobuf(body: Buffer): Json {
  try {
    // The form of OTLP's JSON, except that bytes are in base64. IDs are in hexadecimal there.
    return logsRequest.toObject(logsRequest.decode(body), { longs: String, bytes: String }) as Json;
  } catch {
    throw appError('malformed_json', 'The body is not an ExportLogsServiceRequest in protobuf.');
  }
}

function* decodeRecords(request: Json): Generator<DecodedEvent> {
  if (request['resourceLogs'] !== undefined && !Array.isArray(request['resourceLogs']))
    throw appError('malformed_json', 'resourceLogs is not a list.');
  let item = 0;
  for (const group of listOf(request['resourceLogs']).filter(isObject)) {
    const resource = readAttributes(isObject(group['resource']) ? group['resource']['attributes'] : undefined);
    for (const part of listOf(group['scopeLogs']).filter(isObject)) {
      const scope = isObject(part['scope']) ? part['scope'] : {};
      for (const record of listOf(part['logRecords'])) {
        item += 1;
        if (isObject(record)) yield { item, ...decodeRecord(record, resource, scope) };
        else yield { item, dataset: '', event: 'logRecords has an element that is not an object' };
      }
    }
  }
}

/**
 * The stored event has the keys of a `body` that is an object, or `message`; `attributes`, `resource` and `scope` as objects; and the other
 * fields of the record. The dataset is `service.name` unless the attributes name one as in ECS.
 */
function decodeRecord(record: Json, resource: Json, scope: Json): Omit<DecodedEvent, 'item'> {
  const body = readAnyValue(record['body']);
  const content = isObject(body) ? body : readTextEvent(typeof body === 'string' ? body : JSON.stringify(body));
  const attributes = readAttributes(record['attributes']);
  const time = [record['timeUnixNano'], record['observedTimeUnixNano']].map(readNanoseconds).find((one) => one);
  const event = addMissing(content, {
    '@timestamp': time === undefined ? undefined : new Date(time / 1000).toISOString(),
    severity: textOf(record['severityText']),
    severity_number: record['severityNumber'] || undefined,
    trace_id: idOf(record['traceId'], 16),
    span_id: idOf(record['spanId'], 8),
    event_name: textOf(record['eventName']),
    attributes,
    resource,
    scope: textOf(scope['name']) && { name: scope['name'], version: scope['version'] },
  });
  const service = textOf(resource['service.name']);
  const isUnknown = service === undefined || service.startsWith('unknown_service');
  const dataset =
    findEcsDataset(attributes) ??
    findEcsDataset(resource) ??
    findEcsDataset(content) ??
    toDatasetName(isUnknown ? datasetOfUnnamed(content, 'otlp') : service, 'otlp');
  return { dataset, event: composeEvent(event, time) };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const readNanoseconds = (value: unknown): number | undefined =>
  value === undefined || value === '0' || value === 0 ? undefined : parseTime(Number(value));

/** Returns an ID in hexadecimal, as which JSON has it. Protobuf has its bytes, which the parser returns in base64. */
function idOf(value: unknown, bytes: number): string | undefined {
  const text = textOf(value);
  if (text === undefined || text.length === bytes * 2) return text?.toLowerCase();
  return Buffer.from(text, 'base64').toString('hex');
}
