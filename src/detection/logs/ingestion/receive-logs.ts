import { createHash } from 'node:crypto';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { CatalogCache } from '../catalog/catalog.store.ts';
import { createFieldObserver, type FieldObserver } from '../catalog/catalog.ts';
import { checkDatasetName } from '../catalog/dataset-name.ts';
import { parseEvent } from './parse-event.ts';
import { inflateBody } from './inflate.ts';
import { logFolderPath } from '../log-folder.ts';
import { publishBatch } from './publish-batch.ts';
import type { LogReceipt } from '../logs.schema.ts';
import { segmentPath } from '../storage/segment-path.ts';
import { createSegmentWriter, type SegmentWriter } from './segment-file.ts';
import { createEventSplitter, type RawEvent } from './split-events.ts';

/** `clock` is slot time. */
export type ReceiveLogsDeps = { db: Db; clock: Clock; config: { dataDir: string }; logCatalogs: CatalogCache };

export type ReceiveInput = { dataset: string; body: Buffer; history?: boolean; timeField?: string | undefined };

export const rejectedListedMax = 1000;
const eventsMax = 500_000;

type Batch = {
  id: string;
  nowMicros: number;
  timeField: string | undefined;
  writer: SegmentWriter;
  observer: FieldObserver;
  ids: Set<string>;
  receipt: LogReceipt;
};

/**
 * Stores a body of events durably and publishes them. The body is NDJSON, a JSON array, or CloudTrail's `Records`, plain or gzip. Accepted
 * events are in a synced file that a committed transaction lists. Sending the same body again within 24 hours adds nothing. Invalid events
 * are listed in the receipt and do not affect the others. Throws validation_failed (dataset name), malformed_json and payload_too_large.
 */
export async function receiveLogs(deps: ReceiveLogsDeps, orgId: OrgId, input: ReceiveInput): Promise<LogReceipt> {
  checkDatasetName(input.dataset);
  const id = uuidv7();
  const folder = logFolderPath(deps.config.dataDir, orgId);
  const batch: Batch = {
    id,
    nowMicros: deps.clock().getTime() * 1000,
    timeField: input.timeField,
    writer: createSegmentWriter(folder, segmentPath(input.dataset, id, 'text')),
    observer: createFieldObserver(),
    ids: new Set(),
    receipt: { batchId: id, accepted: 0, rejected: [], rejectedTotal: 0, undated: 0, duplicateOf: null },
  };
  try {
    const bodyHash = await readBody(batch, input);
    if (batch.receipt.accepted === 0) return batch.receipt;
    const file = await batch.writer.finish();
    const published = await inOrg(deps.db, orgId, (tx) =>
      publishBatch(
        tx,
        { orgId, logCatalogs: deps.logCatalogs },
        {
          id,
          dataset: input.dataset,
          history: input.history ?? false,
          bodyHash,
          file,
          observed: batch.observer.observed(),
          rejected: batch.receipt.rejectedTotal,
          now: deps.clock(),
        },
      ),
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

/** Writes the events of a body to the segment file. Returns the hash that identifies a repeated body. */
async function readBody(batch: Batch, input: ReceiveInput): Promise<Buffer> {
  const body = inflateBody(input.body);
  const splitter = createEventSplitter();
  for await (const slice of body.slices) for (const raw of splitter.push(slice)) await addEvent(batch, raw);
  for (const raw of splitter.end()) await addEvent(batch, raw);
  const options = JSON.stringify([input.timeField ?? null, input.history ?? false]);
  return createHash('sha256').update(body.hash()).update(options).digest();
}

async function addEvent(batch: Batch, raw: RawEvent): Promise<void> {
  const event = raw.tooLarge ? 'too large' : parseEvent(raw.bytes, batch.timeField);
  const { receipt } = batch;
  if (typeof event === 'string') {
    receipt.rejectedTotal += 1;
    if (receipt.rejected.length < rejectedListedMax) receipt.rejected.push({ line: raw.line, reason: event });
    return;
  }
  if (receipt.accepted >= eventsMax)
    throw appError('payload_too_large', `The body has more than ${eventsMax} events. Send them in several requests.`);
  const uniqueId = event.id !== undefined && !batch.ids.has(event.id) ? event.id : undefined;
  if (uniqueId !== undefined) batch.ids.add(uniqueId);
  if (event.timeMicros === undefined) receipt.undated += 1;
  batch.observer.observe(event.value);
  await batch.writer.add(uniqueId ?? `${batch.id}:${raw.line}`, event.timeMicros ?? batch.nowMicros, event.text);
  receipt.accepted += 1;
}
