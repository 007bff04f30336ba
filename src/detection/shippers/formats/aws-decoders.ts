import { appError } from '../../../platform/lib/errors.ts';
import { createEventSplitter, type RawEvent } from '../../log-ingest/body/split-events.ts';
import { eventBytesMax, parseEvent, composeEvent } from '../../log-ingest/events/parse-event.ts';
import { parseTime } from '../../log-ingest/events/event-time.ts';
import { inflateBody } from '../../log-ingest/body/inflate.ts';
import type { BodyDecoder, DecodedEvent } from './body-decoder.ts';

/** Decodes a file of CloudTrail: `{"Records": […]}`. The dataset stores each `eventID` once. */
export function createCloudtrailDecoder(dataset: string): BodyDecoder {
  const splitter = createEventSplitter();
  function* decode(events: RawEvent[]): Generator<DecodedEvent> {
    for (const { line, bytes, tooLarge } of events) {
      const event = tooLarge ? `larger than ${eventBytesMax} bytes` : parseEvent(bytes, undefined);
      yield { item: line, dataset, event, explicitId: typeof event === 'string' ? undefined : event.id };
    }
  }
  return { push: (slice) => decode(splitter.push(slice)), end: () => decode(splitter.end()) };
}

/** The numeric fields (Amazon VPC User Guide, "Flow log records"). An account ID consists of digits, but it is text. */
const numbers = new Set('version srcport dstport protocol packets bytes start end tcp-flags traffic-path'.split(' '));

/**
 * Decodes a text file of VPC flow logs: a line with the names of the fields, then a line per flow. A name such as `tcp-flags` becomes
 * `tcp_flags`, and `-` is a missing value. The time of a flow is its start.
 */
export function createFlowLogDecoder(dataset: string): BodyDecoder {
  const splitter = createEventSplitter({ isText: true });
  let names: string[] | undefined;
  function* decode(lines: RawEvent[]): Generator<DecodedEvent> {
    for (const { line, bytes } of lines) {
      const words = bytes.toString('utf8').trim().split(/ +/);
      if (names) yield { item: line, dataset, event: readFlow(names, words) };
      else names = readHeader(words);
    }
  }
  return { push: (slice) => decode(splitter.push(slice)), end: () => decode(splitter.end()) };
}

function readHeader(words: string[]): string[] {
  if (words.length < 2 || !words.every((word) => /^[a-z][a-z0-9-]*$/.test(word)))
    throw appError('malformed_json', 'The file does not begin with the names of the fields of a flow log.');
  return words;
}

function readFlow(names: readonly string[], words: readonly string[]): DecodedEvent['event'] {
  if (words.length !== names.length) return `${words.length} values for ${names.length} fields`;
  const pairs = names
    .map((name, index): [string, string] => [name, words[index]!])
    .filter(([, word]) => word !== '-')
    .map(([name, word]) => [
      name.replaceAll('-', '_'),
      numbers.has(name) && /^\d{1,15}$/.test(word) ? Number(word) : word,
    ]);
  const flow = Object.fromEntries(pairs) as Record<string, unknown>;
  return composeEvent(flow, parseTime(flow['start']));
}

const newline = 10;

/**
 * Splits the text of a file into bodies of about `bytesMax` at most, at the ends of lines. Each begins with the first line of the file, which
 * names the fields. The file may be gzip. A file with no other line has no body.
 */
export async function* splitFlowLog(file: Buffer, bytesMax: number): AsyncGenerator<Buffer> {
  let header: Buffer | undefined;
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const slice of inflateBody(file).slices) {
    parts.push(slice);
    bytes += slice.length;
    if (bytes < bytesMax) continue;
    const text = Buffer.concat(parts);
    const lineEnd = text.lastIndexOf(newline) + 1;
    // A line that is longer than a body is cut. Its parts are no flows.
    const end = lineEnd > (header?.length ?? 0) ? lineEnd : text.length;
    yield text.subarray(0, end);
    header ??= firstLineOf(text);
    parts = [header, text.subarray(end)];
    bytes = header.length + text.length - end;
  }
  const text = Buffer.concat(parts);
  if (text.length > (header ?? firstLineOf(text)).length) yield text;
}

const firstLineOf = (text: Buffer): Buffer => text.subarray(0, text.indexOf(newline) + 1);
