import { join } from 'node:path';
import { createFieldObserver, type ObservedField } from '../../log-store/catalog/field-observer.ts';
import type { ParsedEvent } from './parse-event.ts';
import { createSegmentWriter, type WrittenFile } from '../../log-store/files/segment-file.ts';

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
  const writer = createSegmentWriter(folder, join(dataset, `${id}.events`));
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
