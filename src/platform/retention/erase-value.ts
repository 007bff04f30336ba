import { createHash } from 'node:crypto';
import { inOrg, type Db, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { insertAudit } from '../orgs/audit.store.ts';
import type { Author, Caller } from '../http/caller.ts';
import type { EraseRequest, Erasure } from './retention.schema.ts';

/** Removes a value from the tables of one slice. Returns the counts that belong to the response. */
export type ValueEraser = (
  tx: Tx,
  orgId: OrgId,
  value: string,
  author: Author,
) => Promise<Partial<Omit<Erasure, 'logs'>>>;

export type EraseValueDeps = {
  db: Db;
  /** Replaces the value in the events that have it in the field. Returns the number of events. */
  eraseFromLogs: (orgId: OrgId, target: { field: string; value: string }) => Promise<number>;
  erasers: readonly ValueEraser[];
};

/**
 * Replaces a value with `[erased]` in logs and in everything derived from them. Logs come first, so that no run derives the value
 * again. The audit entry contains only the value's hash.
 */
export async function eraseValue(
  { db, eraseFromLogs, erasers }: EraseValueDeps,
  caller: Caller,
  { field, value }: EraseRequest,
): Promise<Erasure> {
  const { orgId } = caller;
  const logs = await eraseFromLogs(orgId, { field, value });
  return inOrg(db, orgId, async (tx) => {
    const none = {
      hits: 0,
      rows: 0,
      runs: 0,
      steps: 0,
      memory: 0,
      outbox: 0,
      exceptions: 0,
      tests: 0,
      notes: 0,
      valueLists: 0,
      skills: 0,
    };
    const erasure: Erasure = { logs, ...none };
    for (const erase of erasers) Object.assign(erasure, await erase(tx, orgId, value, caller));
    const valueSha256 = createHash('sha256').update(value).digest('hex');
    await insertAudit(tx, caller, {
      action: 'privacy.erased',
      resourceType: 'organization',
      resourceId: orgId,
      before: null,
      after: { field, valueSha256, ...erasure },
    });
    return erasure;
  });
}
