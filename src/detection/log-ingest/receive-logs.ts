import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { Counter, type Registry } from 'prom-client';
import { mayHaveCommitted } from '../../platform/db/retry-on-conflict.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { AppError, unavailableError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { loadCatalog, type CatalogCache } from '../log-store/catalog/catalog.store.ts';
import { checkSentDataset } from '../log-store/catalog/catalog.ts';
import {
  hasUnobserved,
  mayHideValues,
  replaceExamined,
  type ObservedField,
} from '../log-store/catalog/field-observer.ts';
import { findDatasetStates } from '../log-store/segments.store.ts';
import { startPublishing, LogStorageError, type SegmentStore } from '../log-store/files/segment-store.ts';
import type { WrittenFile } from '../log-store/files/segment-file.ts';
import type { LogReceipt } from './events/log-receipt.schema.ts';
import type { LogBody, LogBodyTask } from './body/read-log-body.ts';
import type { ObserveTask } from './body/event-batch.ts';
import { publishBatch, type NewBatch } from './publish-batch.ts';

/** Reads bodies and the files that were written from them, without making the event loop wait for a large one. */
export type LogBodyReader = {
  /** Takes the body over: its bytes are gone from this thread afterwards. Rejects like `readLogBody`, and with `unavailable` (503). */
  read: (orgId: OrgId, task: LogBodyTask) => Promise<LogBody>;
  /** Counts the values of known fields in a segment file of `bytes`. Rejects with `unavailable` (503). */
  observe: (orgId: OrgId, task: ObserveTask, bytes: number) => Promise<ObservedField[]>;
};

/** `clock` is slot time. */
export type ReceiveLogsDeps = {
  db: Db;
  clock: Clock;
  segmentStore: SegmentStore;
  logCatalogs: CatalogCache;
  bodyReader: LogBodyReader;
  logQuotas: LogQuotaGuard;
};

type ReceiveInput = { dataset: string; body: Buffer; history?: boolean; timeField?: string | undefined };

/**
 * Stores a body of events durably and publishes them. The body is NDJSON, a JSON array, or an envelope, plain or packed. Accepted
 * events are in a durable file that a committed transaction lists. Sending the same body again within 24 hours adds nothing. Invalid events
 * are listed in the receipt and do not affect the others. Throws validation_failed (dataset name), malformed_json, payload_too_large,
 * quota_exceeded and unavailable.
 */
export async function receiveLogs(deps: ReceiveLogsDeps, orgId: OrgId, input: ReceiveInput): Promise<LogReceipt> {
  const { dataset, body, timeField, history = false } = input;
  checkSentDataset(dataset);
  deps.logQuotas.check(orgId);
  const batchId = uuidv7();
  const folder = deps.segmentStore.folderOf(orgId);
  const nowMicros = deps.clock().getTime() * 1000;
  const read = await deps.bodyReader.read(orgId, { batchId, folder, dataset, body, nowMicros, timeField });
  const receipt: LogReceipt = { batchId, ...read.counts, duplicateOf: null };
  if (!read.file) return receipt;
  const duplicateOf = await storeBatch(deps, orgId, {
    id: batchId,
    dataset,
    history,
    bodyHash: hashWithOptions(read.hash, { timeField, history }),
    file: read.file,
    observed: read.observed,
    rejected: receipt.rejectedTotal,
  });
  return duplicateOf === null
    ? receipt
    : { batchId, accepted: 0, rejected: [], rejectedTotal: 0, undated: 0, warnings: [], duplicateOf };
}

type WrittenBatch = Omit<NewBatch, 'file' | 'now'> & { file: WrittenFile };

/**
 * Stores the file of a batch and publishes the batch. Returns the ID of the batch that it repeats, which is then the only one, or null.
 * `record` adds to the transaction of a batch that is not a repetition.
 */
export async function storeBatch(
  deps: ReceiveLogsDeps,
  orgId: OrgId,
  batch: WrittenBatch,
  record?: (tx: Tx) => Promise<void>,
): Promise<string | null> {
  const { segmentStore, logCatalogs } = deps;
  const { path } = batch.file;
  const checkDeadline = startPublishing();
  let isStored = false;
  try {
    const observed = await observeHidden(deps, orgId, batch);
    const sha256 = await segmentStore.put(orgId, path);
    const file = { ...batch.file, sha256 };
    isStored = true;
    const { duplicateOf } = await inOrg(deps.db, orgId, async (tx) => {
      const published = await publishBatch(tx, { orgId, logCatalogs }, { ...batch, observed, file, now: deps.clock() });
      if (published.duplicateOf === null) await record?.(tx);
      checkDeadline();
      return published;
    });
    if (duplicateOf !== null) await segmentStore.remove(orgId, path).catch(() => undefined);
    return duplicateOf;
  } catch (error) {
    // A file that is perhaps listed stays. If it is not, it is removed later as an orphan.
    if (!isStored || !mayHaveCommitted(error)) await segmentStore.remove(orgId, path).catch(() => undefined);
    if (error instanceof AppError && error.code === 'quota_exceeded') deps.logQuotas.note(orgId, error);
    if (error instanceof LogStorageError) throw unavailableError('The log storage is unavailable. Try again.', 30);
    throw error;
  }
}

/** Returns the fields of a batch, including the known ones that were not observed because it has too many other keys. */
async function observeHidden(
  { db, logCatalogs, segmentStore, bodyReader }: ReceiveLogsDeps,
  orgId: OrgId,
  { dataset, observed, file }: WrittenBatch,
): Promise<ObservedField[]> {
  if (!hasUnobserved(observed)) return observed;
  const known = await inOrg(db, orgId, async (tx) => {
    const [state] = await findDatasetStates(tx, orgId, [dataset]);
    return state ? loadCatalog(tx, logCatalogs, { orgId, dataset, version: state.version }) : [];
  });
  if (!mayHideValues(known, observed)) return observed;
  const path = join(segmentStore.folderOf(orgId), file.path);
  return replaceExamined(observed, await bodyReader.observe(orgId, { path, known }, file.bytes));
}

/** Returns the hash that identifies a repeated body: the same bytes with the same options. */
function hashWithOptions(
  hash: Uint8Array,
  { timeField, history }: { timeField: string | undefined; history: boolean },
) {
  return createHash('sha256')
    .update(hash)
    .update(JSON.stringify([timeField ?? null, history]))
    .digest();
}

/** How long a refusal is repeated without reading the body and the quota again. */
const repeatMs = 5_000;
const organizationsMax = 10_000;

/** Remembers which organizations have used up a quota, so that refusing them costs nothing. */
export type LogQuotaGuard = {
  /** Throws the last refusal of an organization if it is a few seconds old. */
  check: (orgId: OrgId) => void;
  note: (orgId: OrgId, refusal: AppError) => void;
};

/** Creates a guard for one process. */
export function createLogQuotaGuard(): LogQuotaGuard {
  const refusals = new LRUCache<OrgId, AppError>({ max: organizationsMax, ttl: repeatMs });
  return {
    check(orgId) {
      const refusal = refusals.get(orgId);
      if (refusal) throw refusal;
    },
    note: (orgId, refusal) => void refusals.set(orgId, refusal),
  };
}

/** Counts the events of a receipt. */
export type RecordReceipt = (receipt: Pick<LogReceipt, 'accepted' | 'rejectedTotal' | 'duplicateOf'>) => void;

/** Registers the counters of log ingestion. Call it once per registry. */
export function createIngestMetrics(registry: Registry): RecordReceipt {
  const registers = [registry];
  const events = new Counter({
    name: 'tocsin_log_ingest_events_total',
    help: 'Log events received, by outcome.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const batches = new Counter({
    name: 'tocsin_log_ingest_batches_total',
    help: 'Bodies of log events received, by outcome. A repeated body adds no events.',
    labelNames: ['outcome'] as const,
    registers,
  });
  return ({ accepted, rejectedTotal, duplicateOf }) => {
    batches.inc({ outcome: duplicateOf === null ? 'stored' : 'repeated' });
    events.inc({ outcome: 'accepted' }, accepted);
    events.inc({ outcome: 'rejected' }, rejectedTotal);
  };
}
