import { readShipperBody, type ShipperBody, type ShipperBodyTask } from './read-shipper-body.ts';
import { observeSegment, type ObserveTask } from '../log-ingest/observe-segment.ts';
import { readLogBody, type LogBody, type LogBodyTask } from '../log-ingest/body/read-log-body.ts';
import type { ObservedField } from '../log-store/catalog/field-observer.ts';

/** A body of `POST /api/logs/{dataset}`, or of a shipper's protocol. */
export type BodyTask = LogBodyTask | ShipperBodyTask;

/** The work of a thread: to read a body, or the segment file that was written from one. */
export type ReaderTask = BodyTask | ObserveTask;
export type ReaderResult = LogBody | ShipperBody | ObservedField[];

export function readBody(task: ReaderTask): Promise<ReaderResult> {
  if ('known' in task) return observeSegment(task);
  return 'format' in task ? readShipperBody(task) : readLogBody(task);
}
