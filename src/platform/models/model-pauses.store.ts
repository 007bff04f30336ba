import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { ModelFailure } from './model-error.ts';

const checkInterval = sql`interval '5 minutes'`;

export type ModelPause = { alias: string; kind: string; message: string; since_at: Date; check_at: Date };

export function findModelPauses(tx: Tx, orgId: OrgId): Promise<ModelPause[]> {
  return queryRows<ModelPause>(tx)`
    select alias, kind, message, since_at, check_at from model_pauses where organization_id = ${orgId}`;
}

export function findModelPause(tx: Tx, orgId: OrgId, alias: string): Promise<ModelPause | undefined> {
  return queryRow<ModelPause>(tx)`
      select alias, kind, message, since_at, check_at from model_pauses where organization_id = ${orgId} and alias = ${alias}`;
}

/** Returns false if the alias is already paused. */
export async function insertModelPause(
  tx: Tx,
  { orgId, alias }: { orgId: OrgId; alias: string },
  { kind, message }: ModelFailure,
  now: Date,
): Promise<boolean> {
  const inserted = await queryRow(tx)`
      insert into model_pauses (organization_id, alias, kind, message, since_at, check_at)
      values (${orgId}, ${alias}, ${kind}, ${message}, ${now}, clock_timestamp() + ${checkInterval})
      on conflict do nothing returning 1`;
  return inserted !== undefined;
}

/** Returns the paused aliases whose check is due, and schedules their next check in 5 minutes. */
export function claimModelChecksAcrossOrgs(db: Db): Promise<string[]> {
  return acrossOrgs(db, async (tx) => {
    const due = await queryRows<{ alias: string }>(tx)`
        update model_pauses set check_at = clock_timestamp() + ${checkInterval}
        where (organization_id, alias) in (
          select organization_id, alias from model_pauses where check_at <= clock_timestamp() order by check_at limit 1000 for update skip locked)
        returning alias`;
    return [...new Set(due.map(({ alias }) => alias))];
  });
}

/** Returns the organizations for which the alias was paused. */
export async function deleteModelPausesAcrossOrgs(tx: Tx, alias: string): Promise<OrgId[]> {
  const deleted = await queryRows<{ orgId: OrgId }>(tx)`
    delete from model_pauses where alias = ${alias} returning organization_id as "orgId"`;
  return deleted.map(({ orgId }) => orgId);
}
