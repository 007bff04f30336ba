import protobuf from 'protobufjs';
import { appError } from '../../../platform/lib/errors.ts';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { parseTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent } from '../../log-ingest/events/parse-event.ts';
import {
  createDocumentDecoder,
  parseDocument,
  chooseDataset,
  findEcsDataset,
  addMissing,
  readTextEvent,
  type BodyDecoder,
  type DecodedEvent,
} from './body-decoder.ts';

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
    chooseDataset(content, isUnknown ? undefined : service, 'otlp');
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

const depthMax = 60;

/** Returns the plain value of an `AnyValue`. Integers that do not fit into a number stay text. Deeper values than an event may have are null. */
function readAnyValue(value: unknown, depth = 0): unknown {
  if (!isObject(value) || depth > depthMax) return null;
  if (value['stringValue'] !== undefined) return value['stringValue'];
  if (value['boolValue'] !== undefined) return value['boolValue'];
  if (value['intValue'] !== undefined) return readInteger(value['intValue']);
  if (value['doubleValue'] !== undefined) return value['doubleValue'];
  if (value['bytesValue'] !== undefined) return value['bytesValue'];
  if (isObject(value['arrayValue']))
    return listOf(value['arrayValue']['values']).map((one) => readAnyValue(one, depth + 1));
  if (isObject(value['kvlistValue'])) return readAttributes(value['kvlistValue']['values'], depth + 1);
  return null;
}

/** Returns a list of `KeyValue` as an object, or undefined without any. */
function readAttributes(list: unknown, depth = 0): Record<string, unknown> {
  return Object.fromEntries(
    listOf(list).flatMap((one) =>
      isObject(one) && typeof one['key'] === 'string' ? [[one['key'], readAnyValue(one['value'], depth)]] : [],
    ),
  );
}

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function readInteger(value: unknown): unknown {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * Messages of OpenTelemetry's protocol for logs, version 1 (opentelemetry/proto/{logs,common,resource,collector}), without the fields that are
 * not stored.
 */
const proto = `
syntax = "proto3";
message ExportLogsServiceRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeLogs { InstrumentationScope scope = 1; repeated LogRecord log_records = 2; }
message InstrumentationScope { string name = 1; string version = 2; repeated KeyValue attributes = 3; }
message LogRecord {
  fixed64 time_unix_nano = 1;
  fixed64 observed_time_unix_nano = 11;
  int32 severity_number = 2;
  string severity_text = 3;
  AnyValue body = 5;
  repeated KeyValue attributes = 6;
  bytes trace_id = 9;
  bytes span_id = 10;
  string event_name = 12;
}
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
    ArrayValue array_value = 5;
    KeyValueList kvlist_value = 6;
    bytes bytes_value = 7;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message PartialSuccess { int64 rejected_log_records = 1; string error_message = 2; }
message ExportLogsServiceResponse { PartialSuccess partial_success = 1; }
message Status { int32 code = 1; string message = 2; }
`;
const { root } = protobuf.parse(proto);

export const logsRequest = root.lookupType('ExportLogsServiceRequest');
export const logsResponse = root.lookupType('ExportLogsServiceResponse');
export const statusMessage = root.lookupType('Status');
