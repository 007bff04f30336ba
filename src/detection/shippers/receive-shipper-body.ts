import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { inOrg } from '../../platform/db/db.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import { AppError, appError, unavailableError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { KeyAuthenticator } from '../../platform/orgs/authenticate.ts';
import { storeBatch, type RecordReceipt, type ReceiveLogsDeps } from '../log-ingest/receive-logs.ts';
import {
  createSegmentWriter,
  readSegmentLines,
  segmentPath,
  type WrittenFile,
} from '../log-store/files/segment-file.ts';
import { insertEventIds, listKnownIds } from './shippers.store.ts';
import type { ShipperBatch, ShipperBody, ShipperBodyTask } from './read-shipper-body.ts';
import type { ShipperFormat } from './formats/shipper-format.ts';

/** Reads a body as `readShipperBody` does. Takes it over: its bytes are gone from this thread afterwards. */
export type ShipperBodyReader = { read: (orgId: OrgId, task: ShipperBodyTask) => Promise<ShipperBody> };

export type ReceiveShipperDeps = ReceiveLogsDeps & {
  bodyReader: ShipperBodyReader;
  recordReceipt: RecordReceipt;
  diskGuard: DiskGuard;
};

/** The outcome of a body. `repeated` has the items whose ID was stored before. `failed` is the reason why a batch was not stored. */
export type ShipperReceipt = Omit<ShipperBody, 'batches' | 'hash' | 'repeated'> & {
  batches: { id: string; dataset: string; failed: AppError | undefined }[];
  repeated: Set<number>;
};

/**
 * Stores the body of a shipper's request durably, one batch per dataset, with the guarantees of `receiveLogs`: a body that is sent again
 * within 24 hours adds nothing, also where the first request was interrupted between two datasets. An event with an ID of the shipper is
 * stored once within 24 hours, whatever body it comes in. Throws rate_limited (429) if too many bodies are being read or
 * the disk is full up to its reserve, and quota_exceeded (429) if a quota of logs is used up. If that happens after the first dataset of a
 * `_bulk` body was stored, the receipt has the error for the batches that were not.
 */
export async function receiveShipperBody(
  deps: ReceiveShipperDeps,
  orgId: OrgId,
  { format, body }: { format: ShipperFormat; body: Buffer },
): Promise<ShipperReceipt> {
  deps.logQuotas.check(orgId);
  await deps.diskGuard.requireSpace().catch(toRateLimited);
  const folder = deps.segmentStore.folderOf(orgId);
  const nowMicros = deps.clock().getTime() * 1000;
  const read = await deps.bodyReader.read(orgId, { format, folder, body, nowMicros }).catch(toRateLimited);
  const bodyHash = createHash('sha256').update(read.hash).update(JSON.stringify(format)).digest();
  const batches: ShipperReceipt['batches'] = [];
  const repeated = new Set(read.repeated);
  let rejected = read.rejected.length;
  for (const [position, batch] of read.batches.entries()) {
    const { id, dataset } = batch;
    try {
      const published = await publish(deps, { orgId, bodyHash, rejected }, batch);
      for (const item of published.repeated) repeated.add(item);
      deps.recordReceipt({ accepted: published.accepted, rejectedTotal: rejected, duplicateOf: published.duplicateOf });
      batches.push({ id, dataset, failed: undefined });
      rejected = 0;
    } catch (error) {
      if (error instanceof AppError && error.code === 'conflict') {
        batches.push({ id, dataset, failed: error });
        continue;
      }
      // The failure concerns the other datasets as well.
      const others = read.batches.slice(position + 1);
      for (const { file } of others) await deps.segmentStore.remove(orgId, file.path).catch(() => undefined);
      // Only the response of `_bulk` can say which events were stored. The other shippers send the whole body again.
      const canReportPart = format.kind === 'bulk' && batches.some(({ failed }) => !failed);
      if (!canReportPart || !isQuotaExceeded(error)) throw error;
      for (const refused of [batch, ...others])
        batches.push({ id: refused.id, dataset: refused.dataset, failed: error });
      break;
    }
  }
  const { batchOfItem, items, rejected: rejections } = read;
  return { batches, batchOfItem, items, rejected: rejections, repeated };
}

const isQuotaExceeded = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'quota_exceeded';

/** Returns why a batch of the body was not stored, or undefined if all were. */
export const findFailure = ({ batches }: Pick<ShipperReceipt, 'batches'>): AppError | undefined =>
  batches.find(({ failed }) => failed !== undefined)?.failed;

/** The shippers' protocols have 429 for this, which every shipper retries. */
function toRateLimited(error: unknown): never {
  if (!(error instanceof AppError) || !['unavailable', 'insufficient_storage'].includes(error.code)) throw error;
  throw appError('rate_limited', error.message, { headers: error.headers });
}

type Published = { accepted: number; duplicateOf: string | null; repeated: number[] };
type PublishContext = { orgId: OrgId; bodyHash: Buffer; rejected: number };

const noIds: ReadonlySet<string> = new Set();

/** Publishes a batch without the events whose ID is known. Throws unavailable if another request stores one of the IDs at the same time. */
async function publish(deps: ReceiveShipperDeps, context: PublishContext, batch: ShipperBatch): Promise<Published> {
  const { orgId, bodyHash, rejected } = context;
  const { id, dataset, observed } = batch;
  const hashes = batch.explicitIds.map(({ hash }) => hash);
  const known = hashes.length === 0 ? noIds : await inOrg(deps.db, orgId, (tx) => listKnownIds(tx, orgId, hashes));
  const repeats = batch.explicitIds.filter(({ hash }) => known.has(hash));
  const repeated = repeats.map(({ item }) => item);
  const file = await withoutEvents(deps, orgId, batch, new Set(repeats.map((repeat) => repeat.id)));
  if (!file) return { accepted: 0, duplicateOf: id, repeated };
  const newHashes = hashes.filter((hash) => !known.has(hash));
  const stored = { id, dataset, history: false, bodyHash, file, observed, rejected };
  const duplicateOf = await storeBatch(deps, orgId, stored, async (tx) => {
    if (newHashes.length === 0 || (await insertEventIds(tx, orgId, newHashes))) return;
    throw unavailableError('Another request is storing events with the same IDs. Try again.', 1);
  });
  return { accepted: duplicateOf === null ? file.rows : 0, duplicateOf, repeated };
}

/** Returns the file of a batch, or replaces it with a copy without the events of some IDs. Undefined if the copy would be empty. */
async function withoutEvents(
  { segmentStore }: ReceiveShipperDeps,
  orgId: OrgId,
  { dataset, file }: ShipperBatch,
  ids: ReadonlySet<string>,
): Promise<WrittenFile | undefined> {
  if (ids.size === 0) return file;
  const path = segmentPath(dataset, uuidv7(), 'text');
  const copy = await copyWithoutEvents(segmentStore.folderOf(orgId), { file, path, ids });
  await segmentStore.remove(orgId, file.path).catch(() => undefined);
  return copy;
}

/**
 * Writes a copy of a segment file without the events of some IDs, as `path`. Returns undefined and writes nothing if no event is left. Both
 * paths are relative to `folder`.
 */
async function copyWithoutEvents(
  folder: string,
  { file, path, ids }: { file: WrittenFile; path: string; ids: ReadonlySet<string> },
): Promise<WrittenFile | undefined> {
  const writer = createSegmentWriter(folder, path);
  let isEmpty = true;
  try {
    for await (const { id, timeMicros, text } of readSegmentLines(join(folder, file.path))) {
      if (ids.has(id)) continue;
      isEmpty = false;
      await writer.add(id, timeMicros, text);
    }
    return isEmpty ? undefined : await writer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** Returns the organization of an API key from the settings. Throws if the key may not send logs at present. */
export async function findWriter(auth: KeyAuthenticator, key: string): Promise<OrgId> {
  const caller = await auth.findCaller(`Bearer ${key}`);
  if (!caller?.scopes.has('logs:write')) throw new Error('The key is not valid or lacks the scope logs:write.');
  if (caller.isSuspended) throw new Error('The organization is suspended.');
  return caller.orgId;
}
