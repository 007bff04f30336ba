import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimInTurnAcrossOrgs } from '../../platform/orgs/claim-in-turn.store.ts';
import type { RuleSourceInput } from './rule-sources.schema.ts';

/** A rule source without its archive. `rules`: how many detections it has. */
export type RuleSourceRow = RuleSourceInput & {
  id: string;
  version: string | null;
  appliedAt: Date | null;
  available: string | null;
  availableAt: Date | null;
  etag: string | null;
  checkedAt: Date | null;
  failure: string | null;
  rules: number;
  createdAt: Date;
  updatedAt: Date;
};

const columns = sql`s.id, s.name, s.url, s.min_level as "minLevel", s.statuses, s.enabled, s.version, s.applied_at as "appliedAt",
  s.available, s.available_at as "availableAt", s.etag, s.checked_at as "checkedAt", s.failure,
  (select count(*) from sigma_imports i join agents a on a.organization_id = i.organization_id and a.id = i.detection_id
    where i.organization_id = s.organization_id and i.rule_source_id = s.id and a.deleted_at is null) as rules,
  s.created_at as "createdAt", s.updated_at as "updatedAt"`;

/** Lists the rule sources of an organization, by name. */
export const listRuleSources = (tx: Tx, orgId: OrgId): Promise<RuleSourceRow[]> =>
  queryRows<RuleSourceRow>(tx)`
    select ${columns} from rule_sources s where s.organization_id = ${orgId} order by s.name, s.id`;

export const findRuleSource = (tx: Tx, orgId: OrgId, id: string): Promise<RuleSourceRow | undefined> =>
  queryRow<RuleSourceRow>(tx)`
    select ${columns} from rule_sources s where s.organization_id = ${orgId} and s.id = ${id}`;

/** Locks a rule source until the transaction ends and returns it. */
export async function lockRuleSource(tx: Tx, orgId: OrgId, id: string): Promise<RuleSourceRow | undefined> {
  await sql`select 1 from rule_sources where organization_id = ${orgId} and id = ${id} for update`.execute(tx);
  return findRuleSource(tx, orgId, id);
}

/** Returns the newest archive of a rule source, and its version. */
export const findArchive = (
  tx: Tx,
  orgId: OrgId,
  id: string,
): Promise<{ archive: Buffer | null; available: string | null } | undefined> =>
  queryRow<{ archive: Buffer | null; available: string | null }>(tx)`
    select archive, available from rule_sources where organization_id = ${orgId} and id = ${id}`;

/** Stores a new rule source, or new settings of one. A source that is enabled or gets another address is checked immediately. A new address discards the `ETag` of the old one. */
export async function storeRuleSource(
  tx: Tx,
  orgId: OrgId,
  { id, name, url, minLevel, statuses, enabled }: RuleSourceInput & { id: string },
  now: Date,
): Promise<void> {
  await sql`
    insert into rule_sources as s (organization_id, id, name, url, min_level, statuses, enabled, next_check_at, created_at, updated_at)
    values (${orgId}, ${id}, ${name}, ${url}, ${minLevel}, ${statuses}::text[], ${enabled}, ${enabled ? now : null}, ${now}, ${now})
    on conflict (organization_id, id) do update set name = excluded.name, url = excluded.url, min_level = excluded.min_level,
      statuses = excluded.statuses, enabled = excluded.enabled,
      etag = case when s.url = excluded.url then s.etag end,
      claimed_until = case when s.url = excluded.url then s.claimed_until end,
      next_check_at = case when s.url <> excluded.url or not s.enabled or not excluded.enabled then excluded.next_check_at else s.next_check_at end,
      updated_at = greatest(excluded.updated_at, s.updated_at + interval '1 millisecond')`.execute(tx);
}

/** Deletes a rule source. Its detections stay, and belong to no source. */
export async function deleteRuleSource(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`
    update sigma_imports set rule_source_id = null
      where organization_id = ${orgId} and rule_source_id = ${id}`.execute(tx);
  await sql`delete from rule_sources where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

const checkMs = 86_400_000;

/** A rule source whose address is to be fetched. */
export type RuleSourceCheck = { orgId: OrgId; id: string; url: string; etag: string | null };

/** Claims a rule source whose check is due, in the turn of its organization. `now` is the time of the service. */
export async function claimDueCheckAcrossOrgs(tx: Tx, now: Date): Promise<RuleSourceCheck | undefined> {
  const due = await claimInTurnAcrossOrgs(tx, 'rule_sources', now);
  return (
    due &&
    queryRow<RuleSourceCheck>(tx)`
      select organization_id as "orgId", id, url, etag from rule_sources where organization_id = ${due.orgId} and id = ${due.id}`
  );
}

/** The outcome of a check: the archive is unchanged, there is a new one, or it could not be fetched. */
export type CheckOutcome =
  | { failure: string }
  | { archive: Buffer; version: string; etag: string | null }
  | 'unchanged';

/** Stores the outcome of a check and plans the next one a day later, if the address is still the one that was checked. */
export async function storeCheck(
  tx: Tx,
  { orgId, id, url }: RuleSourceCheck,
  outcome: CheckOutcome,
  now: Date,
): Promise<void> {
  const next = new Date(now.getTime() + checkMs);
  const failure = typeof outcome === 'object' && 'failure' in outcome ? outcome.failure : null;
  const found = typeof outcome === 'object' && 'archive' in outcome ? outcome : undefined;
  await sql`
    update rule_sources set claimed_until = null, checked_at = ${now}, failure = ${failure}, next_check_at = case when enabled then ${next}::timestamptz end,
      archive = coalesce(${found?.archive ?? null}::bytea, archive), etag = ${found ? found.etag : sql`etag`},
      available_at = case when available is distinct from ${found?.version ?? null}::text and ${found !== undefined} then ${now}::timestamptz else available_at end,
      available = coalesce(${found?.version ?? null}::text, available)
    where organization_id = ${orgId} and id = ${id} and url = ${url}`.execute(tx);
}

/** Has a rule source checked at the next opportunity. */
export async function requestCheck(tx: Tx, orgId: OrgId, id: string, now: Date): Promise<void> {
  await sql`update rule_sources set next_check_at = ${now} where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Records that the rules of a version were imported. */
export async function storeApplied(
  tx: Tx,
  { orgId, id }: { orgId: OrgId; id: string },
  version: string,
  now: Date,
): Promise<void> {
  await sql`
    update rule_sources set version = ${version}, applied_at = ${now}, updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}
