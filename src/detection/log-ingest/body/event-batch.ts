import { setImmediate as nextTurn } from 'node:timers/promises';
import { appError, type AppError } from '../../../platform/lib/errors.ts';
import { createFieldObserver, type ObservedField } from '../../log-store/catalog/field-observer.ts';
import {
  createSegmentWriter,
  readSegmentLines,
  segmentPath,
  type WrittenFile,
} from '../../log-store/files/segment-file.ts';
import type { CatalogField } from '../../log-store/catalog/catalog.ts';
import type { ParsedEvent } from '../events/parse-event.ts';

/** The events of one dataset that become one batch. */
export type EventBatch = {
  readonly accepted: number;
  /** Events without a usable time. They get that of reception. */
  readonly undated: number;
  /** Writes an event. Its ID counts if no earlier event of the batch has the same. `line` makes the ID of any other event. */
  add: (event: ParsedEvent, line: number) => Promise<void>;
  /** Syncs the file. Undefined if there was no event. */
  finish: () => Promise<WrittenFile | undefined>;
  discard: () => Promise<void>;
  observed: () => ObservedField[];
};

type EventBatchOptions = { id: string; folder: string; dataset: string; nowMicros: number };

/** Creates a batch, whose segment file lies in `folder`, the organization's log folder. */
export function createEventBatch({ id, folder, dataset, nowMicros }: EventBatchOptions): EventBatch {
  const writer = createSegmentWriter(folder, segmentPath(dataset, id, 'text'));
  const observer = createFieldObserver();
  const ids = new Set<string>();
  let accepted = 0;
  let undated = 0;
  return {
    get accepted() {
      return accepted;
    },
    get undated() {
      return undated;
    },
    async add(event, line) {
      const uniqueId = event.id !== undefined && !ids.has(event.id) ? event.id : undefined;
      if (uniqueId !== undefined) ids.add(uniqueId);
      if (event.timeMicros === undefined) undated += 1;
      observer.observe(event.value);
      await writer.add(uniqueId ?? `${id}:${line}`, event.timeMicros ?? nowMicros, event.text);
      accepted += 1;
    },
    finish: async () => (accepted === 0 ? undefined : writer.finish()),
    discard: writer.discard,
    observed: observer.observed,
  };
}

// Bodies that one thread reads take turns of this length.
const turnMs = 10;

/** Returns a function to await after every event, which lets the other bodies of the thread continue once the turn is over. */
export function createTurns(): () => Promise<void> | undefined {
  let startMs = performance.now();
  const takeTurn = async (): Promise<void> => {
    await nextTurn();
    startMs = performance.now();
  };
  return () => (performance.now() - startMs < turnMs ? undefined : takeTurn());
}

/** Returns a view of the same bytes. */
export const toBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const tooManyEvents = (eventsMax: number): AppError =>
  appError('payload_too_large', `The body has more than ${eventsMax} events. Send them in several requests.`);

/** A text segment at `path`, and the fields to count in it. */
export type ObserveTask = { path: string; known: readonly CatalogField[] };

/** Counts the values of known fields in a text segment, however many other keys its events have. */
export async function observeSegment({ path, known }: ObserveTask): Promise<ObservedField[]> {
  const observer = createFieldObserver(known);
  const takeTurn = createTurns();
  for await (const { text } of readSegmentLines(path)) {
    observer.observe(JSON.parse(text) as Record<string, unknown>);
    const turn = takeTurn();
    if (turn) await turn;
  }
  return observer.observed();
}
