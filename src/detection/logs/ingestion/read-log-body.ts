import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { appError } from '../../../platform/lib/errors.ts';
import { createFieldObserver, type FieldObserver, type ObservedField } from '../catalog/field-observer.ts';
import type { LogReceipt } from '../logs.schema.ts';
import { inflateBody } from './inflate.ts';
import { parseEvent } from './parse-event.ts';
import { createSegmentWriter, type SegmentWriter, type WrittenFile } from './segment-file.ts';
import { createEventSplitter, type RawEvent } from './split-events.ts';

export const rejectedListedMax = 1000;
const eventsMax = 500_000;
// Bodies that one thread reads take turns of this length.
const turnMs = 10;

/** A body to read into a segment file of `folder`, the organization's log folder. */
export type LogBodyTask = {
  batchId: string;
  folder: string;
  dataset: string;
  body: Uint8Array;
  nowMicros: number;
  timeField: string | undefined;
};

/** A body that was read. `file` is undefined if it had no valid event. `hash` identifies a repeated body. */
export type LogBody = {
  counts: Omit<LogReceipt, 'batchId' | 'duplicateOf'>;
  hash: Uint8Array;
  observed: ObservedField[];
  file: WrittenFile | undefined;
};

type Batch = {
  task: LogBodyTask;
  writer: SegmentWriter;
  observer: FieldObserver;
  ids: Set<string>;
  counts: LogBody['counts'];
};

/**
 * Reads a body of events and writes the valid ones to a synced file, as plain data that can cross threads. Throws malformed_json and
 * payload_too_large, and then leaves no file.
 */
export async function readLogBody(task: LogBodyTask): Promise<LogBody> {
  const batch: Batch = {
    task,
    writer: createSegmentWriter(task.folder, join(task.dataset, `${task.batchId}.events`)),
    observer: createFieldObserver(),
    ids: new Set(),
    counts: { accepted: 0, rejected: [], rejectedTotal: 0, undated: 0 },
  };
  try {
    const hash = await readEvents(batch);
    const { counts } = batch;
    const file = counts.accepted === 0 ? undefined : await batch.writer.finish();
    return { counts, hash, observed: batch.observer.observed(), file };
  } catch (error) {
    await batch.writer.discard();
    throw error;
  }
}

/** Writes the events to the segment file. Returns the SHA-256 of the plain body. */
async function readEvents(batch: Batch): Promise<Uint8Array> {
  const body = inflateBody(Buffer.from(batch.task.body.buffer, batch.task.body.byteOffset, batch.task.body.byteLength));
  const splitter = createEventSplitter();
  let turnStartMs = performance.now();
  const addAll = async (events: Iterable<RawEvent>): Promise<void> => {
    for (const raw of events) {
      await addEvent(batch, raw);
      if (performance.now() - turnStartMs < turnMs) continue;
      await nextTurn();
      turnStartMs = performance.now();
    }
  };
  for await (const slice of body.slices) await addAll(splitter.push(slice));
  await addAll(splitter.end());
  return body.hash();
}

async function addEvent({ task, writer, observer, ids, counts }: Batch, raw: RawEvent): Promise<void> {
  if (counts.accepted + counts.rejectedTotal >= eventsMax)
    throw appError('payload_too_large', `The body has more than ${eventsMax} events. Send them in several requests.`);
  const event = raw.tooLarge ? 'too large' : parseEvent(raw.bytes, task.timeField);
  if (typeof event === 'string') {
    counts.rejectedTotal += 1;
    if (counts.rejected.length < rejectedListedMax) counts.rejected.push({ line: raw.line, reason: event });
    return;
  }
  const uniqueId = event.id !== undefined && !ids.has(event.id) ? event.id : undefined;
  if (uniqueId !== undefined) ids.add(uniqueId);
  if (event.timeMicros === undefined) counts.undated += 1;
  observer.observe(event.value);
  await writer.add(uniqueId ?? `${task.batchId}:${raw.line}`, event.timeMicros ?? task.nowMicros, event.text);
  counts.accepted += 1;
}
