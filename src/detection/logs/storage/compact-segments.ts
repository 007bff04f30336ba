import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { acrossOrgs, inOrg, queryRow } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { sql } from 'kysely';
import { loadCatalog } from '../catalog/catalog.store.ts';
import type { CatalogField } from '../catalog/catalog.ts';
import { compactSql, type ErasureTarget } from './compact.sql.ts';
import {
  findFragmentedDatasetAcrossOrgs,
  listSmallSegments,
  replaceSegments,
  type CompactLimits,
} from './compact.store.ts';
import { logFolderPath, type SearchDeps } from '../log-folder.ts';
import { syncFile } from '../ingestion/segment-file.ts';
import type { SegmentRow } from './segments.store.ts';

const defaults: CompactLimits = { filesMin: 16, filesMax: 200, bytesMax: 64 * 1024 * 1024, rowsMax: 300_000 };
const timeoutMs = 120_000;

/**
 * Turns the small segments of one dataset into one Parquet file, and swaps the listing in one transaction. Answers whether there was
 * anything to do: a loop calls it again at once while there is. Any number of processes may do so.
 */
export async function compactSegments(deps: SearchDeps, limits: CompactLimits = defaults): Promise<boolean> {
  const crowded = await acrossOrgs(deps.db, (tx) => findFragmentedDatasetAcrossOrgs(tx, limits));
  if (!crowded) return false;
  const { orgId, dataset, history } = crowded;
  const { segments, fields } = await inOrg(deps.db, orgId, async (tx) => {
    const small = await listSmallSegments(tx, orgId, { dataset, history, limits });
    const state = await queryRow<{ version: number }>(
      tx,
      sql<{
        version: number;
      }>`select catalogue_version as version from datasets where organization_id = ${orgId} and name = ${dataset}`,
    );
    // Read after the segments: every key that they have stands in it.
    return { segments: small, fields: await loadCatalog(tx, orgId, dataset, state?.version ?? 0) };
  });
  if (segments.length < 2) return false;
  return mergeSegments(deps, orgId, { dataset, segments, fields });
}

/** Writes segments into one file that takes their place, without a value that is to be erased. */
export async function mergeSegments(
  deps: SearchDeps,
  orgId: OrgId,
  input: { dataset: string; segments: SegmentRow[]; fields: CatalogField[]; erased?: ErasureTarget },
): Promise<boolean> {
  const { dataset, segments, fields, erased } = input;
  const id = uuidv7();
  const folder = logFolderPath(deps.config.dataDir, orgId);
  const path = join(dataset, `${id}.parquet`);
  const target = join(folder, path);
  const files = segments.map((segment) => ({
    path: join(folder, segment.path),
    format: segment.format,
    ingestedMs: segment.ingestedFrom.getTime(),
    columns: segment.columns,
  }));
  try {
    await deps.engine.maintain(orgId, { statements: [compactSql(files, fields, target, erased)] }, { timeoutMs });
    const bytes = await syncFile(target);
    const ids = segments.map((segment) => segment.id);
    const swapped = await inOrg(deps.db, orgId, (tx) =>
      replaceSegments(tx, orgId, { id, path, bytes, columns: fields.length, ids }),
    );
    if (!swapped) await unlink(target);
    return true;
  } catch (error) {
    await unlink(target).catch(() => undefined);
    throw error;
  }
}
