import { appError } from '../../../platform/lib/errors.ts';
import { isObject } from '../../../platform/lib/json/json-values.ts';
import type { ParsedEvent } from '../../log-ingest/events/parse-event.ts';
import { takesEvents } from '../../log-store/catalog/catalog.ts';
import { getValueAtPath } from '../../log-ingest/events/event-time.ts';

/**
 * An event of a shipper's body. `item` counts the events of the body from 1. `event` is the reason as text if it is rejected. `explicitId`
 * is the ID that the shipper gave it: the dataset stores it once.
 */
export type DecodedEvent = {
  item: number;
  dataset: string;
  event: ParsedEvent | string;
  explicitId?: string | undefined;
};

/** Turns the slices of a decompressed body into events. Throws malformed_json and validation_failed, which reject the whole body. */
export type BodyDecoder = {
  /** The most bytes of a decompressed body, if fewer than of any other. */
  bytesMax?: number;
  push: (slice: Buffer) => Iterable<DecodedEvent>;
  end: () => Iterable<DecodedEvent>;
  /** Returns what the response needs about the items besides their outcome, as plain data. */
  describeItems?: () => unknown;
};

// A document is parsed in one go, so that it must be small enough not to make the other bodies of the thread wait.
const documentBytesMax = 16 * 1024 * 1024;

/** Creates a decoder that needs the whole body. `decode` throws malformed_json if it is invalid. */
export function createDocumentDecoder(decode: (body: Buffer) => Iterable<DecodedEvent>): BodyDecoder {
  const slices: Buffer[] = [];
  return {
    bytesMax: documentBytesMax,
    push(slice) {
      slices.push(slice);
      return [];
    },
    end: () => decode(Buffer.concat(slices)),
  };
}

/** Parses a whole body as a JSON object. */
export function parseDocument(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (isObject(value)) return value;
  } catch {
    // Reported below.
  }
  throw appError('malformed_json', 'The body is not a JSON object in UTF-8.');
}

/** Returns the event that a text is: its own keys if it is a JSON object, otherwise `message` with the text. */
export function readTextEvent(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    try {
      const value: unknown = JSON.parse(trimmed);
      if (isObject(value)) return value;
    } catch {
      // Text that only begins like JSON.
    }
  }
  return { message: text };
}

/** Adds fields that an event does not have. */
export function addMissing(event: Record<string, unknown>, fields: Record<string, unknown>): Record<string, unknown> {
  const missing = Object.entries(fields).filter(([name, value]) => value !== undefined && !Object.hasOwn(event, name));
  return { ...event, ...Object.fromEntries(missing) };
}

/** The end of an index name that does not belong to its subject: a version, a date, a week or the number of a rollover. */
const suffix = /[-_.](?:v?\d+(?:[._]\d+)*(?:\.x)?|w\d{2})$/;
/** Type, dataset and namespace. */
const dataStream = /^(?:\.ds-)?(?:logs|metrics|traces|synthetics)-([^-\d][^-]*)-./;
const indexCharsMax = 255;

/** Returns the dataset that a text names: in lower case, with `_` instead of every other character than letters and digits. */
export function toDatasetName(text: string, fallback = 'events'): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 55);
  const named = /^[a-z]/.test(name) ? name : name === '' ? fallback : `d_${name}`;
  return takesEvents(named) ? named : `${named}_events`;
}

/**
 * Returns the dataset of an index: the middle of a data stream's name (`logs-nginx.access-default`: nginx_access), otherwise the name
 * without dates, versions and rollover numbers at its end (`filebeat-8.15.0-2026.11.23-000001`: filebeat).
 */
export function datasetOfIndex(index: string): string {
  const lower = index.slice(0, indexCharsMax).toLowerCase();
  const stream = dataStream.exec(lower);
  if (stream) return toDatasetName(stream[1]!);
  let rest = lower;
  while (suffix.test(rest)) rest = rest.replace(suffix, '');
  return toDatasetName(rest);
}

/** Returns the dataset that an event in the Elastic Common Schema names, if it does: `data_stream.dataset`, or `event.dataset`. */
export function findEcsDataset(event: Record<string, unknown>): string | undefined {
  for (const path of ['data_stream.dataset', 'event.dataset']) {
    const value = getValueAtPath(event, path);
    if (typeof value === 'string' && value !== '' && value !== 'generic' && value.length <= 200)
      return toDatasetName(value);
  }
  return undefined;
}

/** Returns the dataset of an event: what ECS says, otherwise what the shipper calls its source, otherwise `ocsf` or the protocol. */
export const chooseDataset = (event: Record<string, unknown>, named: string | undefined, protocol: string): string =>
  findEcsDataset(event) ?? toDatasetName(named ?? datasetOfUnnamed(event, protocol), protocol);

/** Returns the dataset of an event that nothing names: `ocsf` in the Open Cybersecurity Schema Framework, otherwise that of the protocol. */
export function datasetOfUnnamed(event: Record<string, unknown>, protocol: string): string {
  const isOcsf = Number.isInteger(event['class_uid']) && typeof getValueAtPath(event, 'metadata.version') === 'string';
  return isOcsf ? 'ocsf' : protocol;
}
