import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { inOrg } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { createFieldObserver } from '../catalog/catalog.ts';
import { checkDatasetName } from '../catalog/dataset-name.ts';
import { parseEvent } from './parse-event.ts';
import { inflateBody } from './inflate.ts';
import { logFolderPath, type LogDeps } from '../log-folder.ts';
import { publishBatch } from './publish-batch.ts';
import type { LogReceipt } from '../logs.schema.ts';
import { createSegmentWriter, type SegmentWriter } from './segment-file.ts';
import { createEventSplitter, type RawEvent } from './split-events.ts';

export type ReceiveInput = { dataset: string; body: Buffer; history?: boolean; timeField?: string | undefined };

export const rejectedListedMax = 1000;
const eventsMax = 500_000;

type Batch = {
  id: string;
  nowMicros: number;
  timeField: string | undefined;
  writer: SegmentWriter;
  observer: ReturnType<typeof createFieldObserver>;
  ids: Set<string>;
  receipt: LogReceipt;
};

/**
 * Takes a body of events (NDJSON, an array, or CloudTrail's Records; plain or gzip), stores it durably and publishes it. What is accepted is
 * in files that were synced, listed in a transaction that was committed. The same body within 24 h adds nothing. Throws validation_failed
 * (dataset), malformed_json and payload_too_large; bad events are listed in the receipt and the others kept.
 */
export async function receiveLogs(deps: LogDeps, orgId: OrgId, input: ReceiveInput): Promise<LogReceipt> {
  checkDatasetName(input.dataset);
  const id = uuidv7();
  const folder = logFolderPath(deps.config.dataDir, orgId);
  const batch: Batch = {
    id,
    nowMicros: deps.clock().getTime() * 1000,
    timeField: input.timeField,
    writer: createSegmentWriter(folder, join(input.dataset, `${id}.tsv`)),
    observer: createFieldObserver(),
    ids: new Set(),
    receipt: { batchId: id, accepted: 0, rejected: [], rejectedTotal: 0, undated: 0, duplicateOf: null },
  };
  try {
    const bodyHash = await readBody(batch, input);
    if (batch.receipt.accepted === 0) return batch.receipt;
    const file = await batch.writer.finish();
    const published = await inOrg(deps.db, orgId, (tx) =>
      publishBatch(tx, orgId, {
        id,
        dataset: input.dataset,
        history: input.history ?? false,
        bodyHash,
        file,
        seen: batch.observer.seen(),
        rejected: batch.receipt.rejectedTotal,
        now: deps.clock(),
      }),
    );
    if (published.duplicateOf === null) return batch.receipt;
    await batch.writer.discard();
    return {
      ...batch.receipt,
      accepted: 0,
      rejected: [],
      rejectedTotal: 0,
      undated: 0,
      duplicateOf: published.duplicateOf,
    };
  } catch (error) {
    await batch.writer.discard();
    throw error;
  }
}

/** Writes the events of a body; answers the hash by which the same body is known again. */
async function readBody(batch: Batch, input: ReceiveInput): Promise<Buffer> {
  const body = inflateBody(input.body);
  const splitter = createEventSplitter();
  for await (const slice of body.slices) for (const piece of splitter.push(slice)) await take(batch, piece);
  for (const piece of splitter.end()) await take(batch, piece);
  const options = JSON.stringify([input.timeField ?? null, input.history ?? false]);
  return createHash('sha256').update(body.hash()).update(options).digest();
}

async function take(batch: Batch, piece: RawEvent): Promise<void> {
  const event = piece.tooLarge ? 'too large' : parseEvent(piece.bytes, batch.timeField);
  const { receipt } = batch;
  if (typeof event === 'string') {
    receipt.rejectedTotal += 1;
    if (receipt.rejected.length < rejectedListedMax) receipt.rejected.push({ line: piece.line, reason: event });
    return;
  }
  if (receipt.accepted >= eventsMax) throw appError('payload_too_large', `A body holds at most ${eventsMax} events.`);
  const own = event.id !== undefined && !batch.ids.has(event.id) ? event.id : undefined;
  if (own !== undefined) batch.ids.add(own);
  if (event.timeMicros === undefined) receipt.undated += 1;
  batch.observer.observe(event.value);
  await batch.writer.add(own ?? `${batch.id}:${piece.line}`, event.timeMicros ?? batch.nowMicros, event.text);
  receipt.accepted += 1;
}
