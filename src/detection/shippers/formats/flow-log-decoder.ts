import { appError } from '../../../platform/lib/errors.ts';
import { parseTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent } from '../../log-ingest/events/parse-event.ts';
import { createEventSplitter, type RawEvent } from '../../log-ingest/body/split-events.ts';
import type { BodyDecoder, DecodedEvent } from './body-decoder.ts';

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
