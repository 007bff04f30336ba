import type { ObservedField } from '../../log-store/catalog/field-observer.ts';
import type { WrittenFile } from '../../log-store/files/segment-file.ts';
import type { LogReceipt } from '../events/log-receipt.schema.ts';
import { createEventWarnings, type EventWarnings } from '../events/event-warnings.ts';
import { parseEvent } from '../events/parse-event.ts';
import { createTurns, toBuffer, tooManyEvents, createEventBatch, type EventBatch } from './event-batch.ts';
import { inflateBody } from './inflate.ts';
import { createEventSplitter, type RawEvent } from './split-events.ts';

export const rejectedListedMax = 1000;
const eventsMax = 500_000;

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

/**
 * Reads a body of events and writes the valid ones to a synced file, as plain data that can cross threads. Throws malformed_json and
 * payload_too_large, and then leaves no file.
 */
export async function readLogBody(task: LogBodyTask): Promise<LogBody> {
  const batch = createEventBatch({ ...task, id: task.batchId });
  const outcome: Outcome = { rejections: { listed: [], total: 0 }, warnings: createEventWarnings() };
  try {
    const hash = await readEvents(task, batch, outcome);
    const file = await batch.finish();
    const { accepted, undated } = batch;
    const { listed: rejected, total: rejectedTotal } = outcome.rejections;
    const counts = { accepted, rejected, rejectedTotal, undated, warnings: outcome.warnings.list() };
    return { counts, hash, observed: batch.observed(), file };
  } catch (error) {
    await batch.discard();
    throw error;
  }
}

/** Writes the events to the batch. Returns the SHA-256 of the plain body. */
async function readEvents(task: LogBodyTask, batch: EventBatch, outcome: Outcome): Promise<Uint8Array> {
  const { rejections, warnings } = outcome;
  const body = inflateBody(toBuffer(task.body));
  const splitter = createEventSplitter();
  const takeTurn = createTurns();
  const addAll = async (events: Iterable<RawEvent>): Promise<void> => {
    for (const { line, bytes, tooLarge } of events) {
      if (batch.accepted + rejections.total >= eventsMax) throw tooManyEvents(eventsMax);
      const event = tooLarge ? 'too large' : parseEvent(bytes, task.timeField);
      if (typeof event === 'string') addRejection(rejections, line, event);
      else {
        warnings.note(event, line);
        await batch.add(event, line);
      }
      const turn = takeTurn();
      if (turn) await turn;
    }
  };
  for await (const slice of body.slices) await addAll(splitter.push(slice));
  await addAll(splitter.end());
  return body.hash();
}

type Outcome = { rejections: Rejections; warnings: EventWarnings };

/** `listed` has the first 1,000 of `total`. */
type Rejections = { listed: LogReceipt['rejected']; total: number };

function addRejection(rejections: Rejections, line: number, reason: string): void {
  rejections.total += 1;
  if (rejections.listed.length < rejectedListedMax) rejections.listed.push({ line, reason });
}
