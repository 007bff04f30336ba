import { sql } from 'kysely';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { RenderedRow } from '../analysis/candidate.ts';
import { replaceHitValues } from './read-hits.store.ts';
import { listIdsWithValue, replaceValue } from '../../platform/db/erasure.store.ts';
import { deleteEmptyGroupsAcrossOrgs } from './groups.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** Deletes at most `limit` hits last seen before a time, with their candidates and suppressions. Returns their number. */
export async function deleteOldHitsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<number> {
  const { before } = expiry;
  const { rows } = await sql`
    with old as materialized (
      select organization_id, id from hits where last_seen_at < ${before} and updated_at < ${before} and ${belongsTo(expiry)} limit ${limit} for update skip locked
    ), deleted_occurrences as (
      delete from hit_occurrences o using old where o.organization_id = old.organization_id and o.hit_id = old.id
    ), deleted_candidates as (
      delete from candidates c using old where c.organization_id = old.organization_id and c.hit_id = old.id
    ), deleted_suppressions as (
      delete from suppressions s using old where s.organization_id = old.organization_id and s.hit_id = old.id
    )
    select organization_id, id from old`.execute(tx);
  const ids = rows as { organization_id: string; id: string }[];
  await sql`
    delete from hits h using unnest(${ids.map((row) => row.organization_id)}::uuid[], ${ids.map((row) => row.id)}::uuid[]) as o (organization_id, id)
    where h.organization_id = o.organization_id and h.id = o.id`.execute(tx);
  await deleteEmptyGroupsAcrossOrgs(tx, expiry, limit);
  return ids.length;
}

const reindexedAtOnce = 200;

/** Replaces a value in hits, in the values by which they are found, and in the reasons of their changes. Returns the number of hits. */
export async function eraseFromHits(tx: Tx, orgId: OrgId, value: string): Promise<{ hits: number }> {
  const columns = [
    'entity',
    'headline',
    'summary',
    'next_step',
    'evidence',
    'rows',
    'facts',
    'model_disagrees',
    'claims',
    'observations',
    'open_question',
  ];
  const changed = await listIdsWithValue(tx, { orgId, table: 'hits', columns: ['entity', 'rows'] }, value);
  const hits = await replaceValue(tx, { orgId, table: 'hits', columns }, value);
  for (let from = 0; from < changed.length; from += reindexedAtOnce) {
    const contents = await queryRows<{ id: string; entity: string; entityType: string; rows: string }>(tx)`
      select id, entity, entity_type as "entityType", rows from hits where organization_id = ${orgId} and id = any(${changed.slice(from, from + reindexedAtOnce)}::uuid[])`;
    await replaceHitValues(
      tx,
      orgId,
      contents.map(({ rows, ...hit }) => ({ ...hit, rows: JSON.parse(rows) as RenderedRow[] })),
    );
  }
  await replaceValue(tx, { orgId, table: 'hit_changes', columns: ['reason'] }, value);
  await replaceValue(tx, { orgId, table: 'hit_comments', columns: ['body'] }, value);
  return { hits };
}
