import { createHash } from 'node:crypto';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { CatalogCache } from '../catalog/catalog.store.ts';
import { checkDatasetName } from '../catalog/dataset-name.ts';
import { logFolderPath } from '../log-folder.ts';
import type { LogReceipt } from '../logs.schema.ts';
import type { BodyReader } from './body-reader.ts';
import { publishBatch } from './publish-batch.ts';
import { deleteSegmentFile } from './segment-file.ts';

/** `clock` is slot time. */
export type ReceiveLogsDeps = {
  db: Db;
  clock: Clock;
  config: { dataDir: string };
  logCatalogs: CatalogCache;
  bodyReader: BodyReader;
};

export type ReceiveInput = { dataset: string; body: Buffer; history?: boolean; timeField?: string | undefined };

/**
 * Stores a body of events durably and publishes them. The body is NDJSON, a JSON array, or CloudTrail's `Records`, plain or gzip. Accepted
 * events are in a synced file that a committed transaction lists. Sending the same body again within 24 hours adds nothing. Invalid events
 * are listed in the receipt and do not affect the others. Throws validation_failed (dataset name), malformed_json, payload_too_large and
 * unavailable.
 */
export async function receiveLogs(deps: ReceiveLogsDeps, orgId: OrgId, input: ReceiveInput): Promise<LogReceipt> {
  const { dataset, body, timeField, history = false } = input;
  checkDatasetName(dataset);
  const batchId = uuidv7();
  const folder = logFolderPath(deps.config.dataDir, orgId);
  const nowMicros = deps.clock().getTime() * 1000;
  const read = await deps.bodyReader.read(orgId, { batchId, folder, dataset, body, nowMicros, timeField });
  const receipt: LogReceipt = { batchId, ...read.counts, duplicateOf: null };
  const { file } = read;
  if (!file) return receipt;
  try {
    const published = await inOrg(deps.db, orgId, (tx) =>
      publishBatch(
        tx,
        { orgId, logCatalogs: deps.logCatalogs },
        {
          id: batchId,
          dataset,
          history,
          bodyHash: hashWithOptions(read.hash, { timeField, history }),
          file,
          observed: read.observed,
          rejected: receipt.rejectedTotal,
          now: deps.clock(),
        },
      ),
    );
    if (published.duplicateOf === null) return receipt;
    await deleteSegmentFile(folder, file.path);
    const { duplicateOf } = published;
    return { batchId, accepted: 0, rejected: [], rejectedTotal: 0, undated: 0, duplicateOf };
  } catch (error) {
    await deleteSegmentFile(folder, file.path);
    throw error;
  }
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
