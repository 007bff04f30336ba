import { rm } from 'node:fs/promises';
import type pg from 'pg';
import { acrossOrgs, type Db } from '../platform/db/db.ts';
import { appError } from '../platform/lib/errors.ts';
import type { Logger } from '../platform/lib/logging/logger.ts';
import { runLoop } from '../platform/lib/concurrency/loop.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import { readPageRequest, toPage, type PageQuery } from '../platform/lib/page-request.ts';
import type { Erasure, ErasureList } from '../platform/orgs/admin.schema.ts';
import { unknownOrganization } from '../platform/orgs/organization.ts';
import { lockOrgAcrossOrgs, type OrgReference } from '../platform/orgs/orgs.store.ts';
import {
  countSharedAcrossOrgs,
  deleteRowsAcrossOrgs,
  findErasureAcrossOrgs,
  findRemainderAcrossOrgs,
  finishErasureAcrossOrgs,
  insertErasureAcrossOrgs,
  listErasuresAcrossOrgs,
  listUnfinishedAcrossOrgs,
  recordFailureAcrossOrgs,
  type ErasureRow,
  noteErasedFilesAcrossOrgs,
  type TenantTable,
} from './erasures.store.ts';
import type { SegmentStore } from '../detection/log-store/files/segment-store.ts';
import { listTables } from './backup/manifest.ts';

type EraseDeps = EraseFilesDeps & { db: Db };

const rowsMax = 5_000;
const idleMs = 10_000;
/** Deleting a row may add rows to tables that were empty before, such as former states of the feed. */
const roundsMax = 5;

/**
 * Requests the deletion of an organization and returns its record. Throws 409 unless the organization is suspended, for `default`, and if others see
 * its sources or items. Throws 404 for an unknown organization.
 */
export function requestErasure(db: Db, reference: OrgReference, operator: string): Promise<Erasure> {
  return acrossOrgs(db, async (tx) => {
    const org = await lockOrgAcrossOrgs(tx, reference);
    if (!org) throw unknownOrganization(reference);
    if (org.name === 'default') throw appError('conflict', 'The organization "default" cannot be deleted.');
    if (!org.suspended_at)
      throw appError('conflict', `Suspend the organization "${org.name}" first, so that nothing of it runs.`);
    if ((await countSharedAcrossOrgs(tx, org.id)) > 0)
      throw appError('conflict', `The organization "${org.name}" owns feed sources or items that others see.`);
    await insertErasureAcrossOrgs(tx, org, operator);
    return toErasure((await findErasureAcrossOrgs(tx, org.id))!);
  });
}

/** Returns a page of the deleted organizations, newest first. */
export async function listErasures(db: Db, query: PageQuery): Promise<ErasureList> {
  const { limit, after } = readPageRequest(query);
  const rows = await acrossOrgs(db, (tx) => listErasuresAcrossOrgs(tx, limit, after));
  const { page, nextCursor } = toPage(rows, limit, (row) => ({ at: row.requested_at, id: row.id }));
  return { erasures: page.map(toErasure), nextCursor };
}

/** Returns what was erased of an organization. Throws 404 if its deletion was never requested. */
export async function readErasure(db: Db, id: string): Promise<Erasure> {
  const row = await acrossOrgs(db, (tx) => findErasureAcrossOrgs(tx, id));
  if (!row) throw appError('not_found', `Organization ${id} was not deleted.`);
  return toErasure(row);
}

/** Erases the organizations whose deletion was requested, until `signal` aborts. One that fails does not delay the others. */
export function eraseLoop(deps: EraseDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'erase', idleMs, signal, log: deps.log }, async () => {
    const failures: unknown[] = [];
    for (const { id } of await acrossOrgs(deps.db, listUnfinishedAcrossOrgs)) {
      if (signal.aborted) return false;
      await eraseOrganization(deps, id).catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
    return false;
  });
}

/**
 * Deletes every row and every log file of an organization whose erasure was requested, verifies that nothing is left, and returns the record.
 * May be interrupted at any moment and started again, also by several processes at the same time. The record counts attempts that fail.
 */
export async function eraseOrganization(deps: EraseDeps, orgId: OrgId): Promise<Erasure> {
  try {
    await eraseEverything(deps, orgId);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // The first error is the one that matters, also if the database is what failed.
    await acrossOrgs(deps.db, (tx) => recordFailureAcrossOrgs(tx, orgId, message)).catch(() => undefined);
    throw error;
  }
  return readErasure(deps.db, orgId);
}

async function eraseEverything(deps: EraseDeps, orgId: OrgId): Promise<void> {
  const tables = await withClient(deps.db, listTenantTables);
  const childrenFirst = tables.toReversed();
  for (let round = 1; ; round += 1) {
    for (const table of childrenFirst)
      while ((await acrossOrgs(deps.db, (tx) => deleteRowsAcrossOrgs(tx, orgId, table, rowsMax))) === rowsMax);
    await eraseFiles(deps, orgId);
    const remainder = await acrossOrgs(deps.db, async (tx) => {
      const left = await findRemainderAcrossOrgs(tx, orgId, tables);
      if (left === undefined) await finishErasureAcrossOrgs(tx, orgId);
      return left;
    });
    if (remainder === undefined) return;
    if (round === roundsMax) throw new Error(`The table ${remainder} still has rows of the organization ${orgId}.`);
  }
}

async function withClient<T>(db: Db, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await db.pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

const toErasure = (row: ErasureRow): Erasure => ({
  id: row.id,
  name: row.name,
  requestedAt: row.requested_at.toISOString(),
  requestedBy: row.requested_by,
  suspendedAt: row.suspended_at?.toISOString() ?? null,
  suspendedBy: row.suspended_by,
  finishedAt: row.finished_at?.toISOString() ?? null,
  failures: row.failures,
  error: row.error,
  rows: row.row_counts,
  files: row.files,
  bytes: row.bytes,
  auditSequence: row.audit_sequence,
  auditHash: row.audit_hash?.toString('hex') ?? null,
});

type EraseFilesDeps = { db: Db; segmentStore: Pick<SegmentStore, 'list' | 'remove' | 'folderOf'> };

/** Deletes the log files of an organization from the store and its local folder, listed or not, and records their number. */
async function eraseFiles({ db, segmentStore }: EraseFilesDeps, orgId: OrgId): Promise<void> {
  for await (const { orgId: owner, files } of segmentStore.list()) {
    if (owner !== orgId) continue;
    const paths = files.map(({ path }) => path);
    await acrossOrgs(db, (tx) => noteErasedFilesAcrossOrgs(tx, orgId, paths));
    for (const path of paths) await segmentStore.remove(orgId, path);
  }
  await rm(segmentStore.folderOf(orgId), { recursive: true, force: true });
}

/** Returns the tables with rows of organizations, as the database describes them, each after the tables that it references. */
async function listTenantTables(client: pg.ClientBase): Promise<TenantTable[]> {
  return (await listTables(client)).flatMap(({ name, columns }): TenantTable[] => {
    const owner = (['organization_id', 'pool_id'] as const).find((column) => columns.includes(column));
    return owner ? [{ name, owner }] : [];
  });
}
