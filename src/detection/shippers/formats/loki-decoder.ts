import snappy from 'snappyjs';
import protobuf from 'protobufjs';
import { appError } from '../../../platform/lib/errors.ts';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { parseTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent } from '../../log-ingest/events/parse-event.ts';
import {
  createDocumentDecoder,
  parseDocument,
  chooseDataset,
  addMissing,
  readTextEvent,
  type BodyDecoder,
  type DecodedEvent,
} from './body-decoder.ts';

type Strings = Record<string, string>;
type Entry = { timeNanos: string; line: string; metadata: Strings };
type Stream = { labels: Strings; entries: Iterable<Entry | string> };

const plainBytesMax = 16 * 1024 * 1024;

/** Decodes a push request of Loki: JSON, or protobuf that is compressed with snappy. */
export function createLokiDecoder(encoding: 'json' | 'protobuf'): BodyDecoder {
  return createDocumentDecoder((body) => decodeEntries(encoding === 'json' ? readJson(body) : readProtobuf(body)));
}

function* decodeEntries(streams: Iterable<Stream>): Generator<DecodedEvent> {
  let item = 0;
  for (const { labels, entries } of streams) {
    const named = ['dataset', 'service_name', 'job', 'app'].map((name) => labels[name]).find((value) => value);
    for (const entry of entries) {
      item += 1;
      if (typeof entry === 'string') {
        yield { item, dataset: '', event: entry };
        continue;
      }
      const content = addMissing(readTextEvent(entry.line), { ...entry.metadata, labels });
      const dataset = chooseDataset(content, named, 'loki');
      yield { item, dataset, event: composeEvent(content, parseTime(Number(entry.timeNanos))) };
    }
  }
}

function* readJson(body: Buffer): Generator<Stream> {
  const { streams } = parseDocument(body);
  if (!Array.isArray(streams)) throw appError('malformed_json', 'streams is not a list.');
  for (const stream of streams as unknown[]) {
    if (!isObject(stream) || !isObject(stream['stream']) || !Array.isArray(stream['values']))
      throw appError('malformed_json', 'streams has an element without stream or values.');
    yield { labels: toStrings(stream['stream']), entries: stream['values'].map(readJsonEntry) };
  }
}

function readJsonEntry(value: unknown): Entry | string {
  const [timeNanos, line, metadata] = Array.isArray(value) ? (value as unknown[]) : [];
  if (typeof timeNanos !== 'string' || !/^\d{1,19}$/.test(timeNanos)) return 'the time is not nanoseconds as text';
  if (typeof line !== 'string') return 'the line is not text';
  return { timeNanos, line, metadata: isObject(metadata) ? toStrings(metadata) : {} };
}

const toStrings = (value: Record<string, unknown>): Strings =>
  Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));

type Pair = { name?: string; value?: string };
type PushMessage = {
  streams?: {
    labels?: string;
    entries?: { timestamp?: { seconds?: string; nanos?: number }; line?: string; structuredMetadata?: Pair[] }[];
  }[];
};

function* readProtobuf(body: Buffer): Generator<Stream> {
  const { streams = [] } = parseProtobuf(body);
  for (const { labels = '', entries = [] } of streams)
    yield {
      labels: parseLabels(labels),
      entries: entries.map(({ timestamp = {}, line = '', structuredMetadata = [] }) => ({
        timeNanos: `${timestamp.seconds ?? '0'}${String(timestamp.nanos ?? 0).padStart(9, '0')}`,
        line,
        metadata: Object.fromEntries(structuredMetadata.map(({ name = '', value = '' }) => [name, value])),
      })),
    };
}

function parseProtobuf(body: Buffer): PushMessage {
  try {
    const plain = snappy.uncompress(body, plainBytesMax);
    return pushRequest.toObject(pushRequest.decode(plain), { longs: String });
  } catch {
    throw appError(
      'malformed_json',
      `The body is not a PushRequest in protobuf, compressed with snappy and at most ${plainBytesMax} bytes long.`,
    );
  }
}

/** Parses labels in the form `{job="ssh", host="a"}`. */
function parseLabels(text: string): Strings {
  const pairs = text.matchAll(/(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value.replaceAll(/\\(.)/g, '$1')]));
}

/** Messages of Loki's push API (pkg/push/push.proto) that are stored. */
const proto = `
syntax = "proto3";
message PushRequest { repeated Stream streams = 1; }
message Stream { string labels = 1; repeated Entry entries = 2; }
message Entry { Timestamp timestamp = 1; string line = 2; repeated LabelPair structuredMetadata = 3; }
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message LabelPair { string name = 1; string value = 2; }
`;

export const pushRequest = protobuf.parse(proto, { keepCase: true }).root.lookupType('PushRequest');
