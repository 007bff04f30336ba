import snappy from 'snappyjs';
import { appError } from '../../../platform/lib/errors.ts';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import { parseTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent } from '../../log-ingest/events/parse-event.ts';
import type { BodyDecoder, DecodedEvent } from './body-decoder.ts';
import { createDocumentDecoder, parseDocument } from './document-decoder.ts';
import { datasetOfUnnamed, findEcsDataset, toDatasetName } from './shipper-dataset.ts';
import { addMissing, readTextEvent } from './text-event.ts';
import { pushRequest } from './loki-schema.ts';

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
      const dataset = findEcsDataset(content) ?? toDatasetName(named ?? datasetOfUnnamed(content, 'loki'), 'loki');
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
