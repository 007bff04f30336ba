import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Author } from '../../platform/http/caller.ts';
import type { EntityType } from './entity-names.ts';

const [ownNamesList, aliasesList] = ['own-domains', 'entity-aliases'];
/** The value lists in which people state the domains and cloud accounts of the organization, and names that are one entity. They prove nothing else. */
export const entityLists: readonly string[] = [ownNamesList, aliasesList];

/** Returns the domains and cloud accounts that people listed, and the lines in which they listed names of one entity. */
export async function listStatedNames(tx: Tx, orgId: OrgId): Promise<{ own: string[]; aliases: string[] }> {
  const rows = await queryRows<{ list: string; entry: string }>(tx)`
    select l.name as list, v.entry from value_lists l cross join lateral jsonb_array_elements_text(l.list_values::jsonb) as v (entry)
    where l.organization_id = ${orgId} and l.name = any(${entityLists}::text[])`;
  const entriesOf = (list: string | undefined): string[] =>
    rows.filter((row) => row.list === list).map(({ entry }) => entry);
  return { own: entriesOf(ownNamesList), aliases: entriesOf(aliasesList) };
}

/** What a person decided about two names, with the keys of their stems. */
export type DecisionRow = {
  id: string;
  entityType: EntityType;
  entity: string;
  aliasType: EntityType;
  alias: string;
  entityStem: string;
  aliasStem: string;
  isJoined: boolean;
  reason: string | null;
  keyId: string | null;
  actor: string | null;
  at: Date;
};

/** Serializes decisions of an organization until the transaction ends. */
export const lockDecisions = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `entity decisions ${orgId}`);

/** Lists the decisions about names with one of the stems. */
export function listDecisions(tx: Tx, orgId: OrgId, stems: readonly string[]): Promise<DecisionRow[]> {
  return queryRows<DecisionRow>(tx)`
    select id, entity_type as "entityType", entity, alias_type as "aliasType", alias, replace(entity_stem::text, '-', '') as "entityStem",
      replace(alias_stem::text, '-', '') as "aliasStem", is_joined as "isJoined", reason, key_id as "keyId", actor, at
    from entity_decisions where organization_id = ${orgId} and id in (
      select id from entity_decisions where organization_id = ${orgId} and entity_stem = any(${stems}::uuid[])
      union all select id from entity_decisions where organization_id = ${orgId} and alias_stem = any(${stems}::uuid[]))
    order by id`;
}

export async function countDecisions(tx: Tx, orgId: OrgId): Promise<number> {
  const [row] = await queryRows<{ n: number }>(
    tx,
  )`select count(*)::int as n from entity_decisions where organization_id = ${orgId}`;
  return row!.n;
}

export async function insertDecision(
  tx: Tx,
  { orgId, keyId, subject }: Author,
  row: Omit<DecisionRow, 'keyId' | 'actor'>,
): Promise<void> {
  await sql`
    insert into entity_decisions (organization_id, id, entity_type, entity, alias_type, alias, entity_stem, alias_stem, is_joined, reason,
      key_id, actor, at)
    values (${orgId}, ${row.id}, ${row.entityType}, ${row.entity}, ${row.aliasType}, ${row.alias}, ${row.entityStem}, ${row.aliasStem},
      ${row.isJoined}, ${row.reason}, ${keyId}, ${subject ?? null}, ${row.at})`.execute(tx);
}

export async function deleteDecisions(tx: Tx, orgId: OrgId, ids: readonly string[]): Promise<void> {
  await sql`delete from entity_decisions where organization_id = ${orgId} and id = any(${ids}::uuid[])`.execute(tx);
}

/** Deletes decisions about names that contain a value, and those whose reason does. */
export async function deleteDecisionsWith(tx: Tx, orgId: OrgId, value: string): Promise<void> {
  await sql`
    delete from entity_decisions where organization_id = ${orgId}
      and strpos(lower(entity || chr(10) || alias || chr(10) || coalesce(reason, '')), lower(${value})) > 0`.execute(
    tx,
  );
}

/** An entity as hits write it, with the times and number of these hits. */
export type HitNameRow = { type: string; value: string; hits: number; firstSeenAt: Date; lastSeenAt: Date };

/** Lists the entities of hits whose names have one of the stems, as the hits write them. */
export function listHitNames(tx: Tx, orgId: OrgId, stems: readonly string[], limit: number): Promise<HitNameRow[]> {
  return queryRows<HitNameRow>(tx)`
    select entity_type as type, entity as value, count(*)::int as hits, min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt"
    from hits where organization_id = ${orgId}
      and id in (select hit_id from hit_values where organization_id = ${orgId} and value_key = any(${stems}::uuid[]))
    group by 1, 2 order by 1, 2 limit ${limit}`;
}
