import { createEventSplitter, type RawEvent } from '../../log-ingest/body/split-events.ts';
import { eventBytesMax, parseEvent } from '../../log-ingest/events/parse-event.ts';
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
