import { findEventTime } from '../../log-ingest/events/event-time.ts';
import { composeEvent } from '../../log-ingest/events/parse-event.ts';
import type { BodyDecoder, DecodedEvent } from './body-decoder.ts';
import { findEcsDataset } from './shipper-dataset.ts';
import { addMissing, readTextEvent } from './text-event.ts';
import { parseSyslogMessage } from './syslog-message.ts';
import { createFrameSplitter, type Frames } from './syslog-frames.ts';

/** `batch` is unique, so that a batch with the same messages as an earlier one is not taken for its repetition. */
export type SyslogBatch = { batch: string; dataset: string; receivedMs: number };

/** Returns a message of a batch: its length, the sender's address and the message. */
export function encodeMessage(sender: string, message: Buffer): Buffer {
  const origin = `${sender}\0`;
  return Buffer.concat([Buffer.from(`${Buffer.byteLength(origin) + message.length} ${origin}`), message]);
}

/** Decodes a batch of messages as `encodeMessage` returns them. The keys of a JSON object in a message become those of the event. */
export function createSyslogDecoder({ dataset, receivedMs }: SyslogBatch): BodyDecoder {
  const splitter = createFrameSplitter();
  const receivedAt = new Date(receivedMs);
  let item = 0;
  const decode = function* ({ messages }: Frames): Generator<DecodedEvent> {
    for (const message of messages) {
      item += 1;
      yield { item, ...readEvent(message, dataset, receivedAt) };
    }
  };
  return { push: (slice) => decode(splitter.push(slice)), end: () => decode(splitter.end()) };
}

function readEvent(bytes: Buffer, fallback: string, receivedAt: Date): Pick<DecodedEvent, 'dataset' | 'event'> {
  const end = bytes.indexOf(0);
  const parsed = parseSyslogMessage(bytes.toString('utf8', end + 1), receivedAt);
  const content = readTextEvent(parsed.message.replace(/^\s*@cee:\s*/, ''));
  // The time inside a JSON object is that of the event, and the time of syslog at most later.
  const ownMicros = findEventTime(content);
  const micros = ownMicros ?? parsed.timeMicros;
  const event = addMissing(content, {
    '@timestamp': ownMicros === undefined && micros !== undefined ? new Date(micros / 1000).toISOString() : undefined,
    host: parsed.host,
    program: parsed.program,
    process_id: parsed.processId,
    message_id: parsed.messageId,
    facility: parsed.facility,
    severity: parsed.severity,
    structured_data: parsed.structuredData,
    sender: bytes.toString('latin1', 0, end),
  });
  return { dataset: findEcsDataset(content) ?? fallback, event: composeEvent(event, micros) };
}
