import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { hourMs, rhythmHours, type Shortfall } from './judge-rhythm.ts';
import { withIsoTimes } from '../../../platform/lib/time/clock.ts';

export type DatasetKey = { orgId: OrgId; dataset: string };
/** A shortfall that was noticed. `since` is the start of its span. */
export type OpenShortfall = Shortfall & { since: Date };
type HealthRow = DatasetKey & { [Field in keyof OpenShortfall]: OpenShortfall[Field] | null };

/**
 * Claims datasets that have not been checked until a time, for the transaction, and marks them as checked. Returns them with their open
 * shortfalls.
 */
export async function claimUncheckedAcrossOrgs(
  tx: Tx,
  until: Date,
  limit: number,
): Promise<(DatasetKey & { open: OpenShortfall | undefined })[]> {
  const rows = await queryRows<HealthRow>(tx)`
    insert into dataset_health as h (organization_id, dataset, checked_until)
    select d.organization_id, d.name, ${until} from datasets d
    where d.events > 0 and not exists (
      select from dataset_health c where c.organization_id = d.organization_id and c.dataset = d.name and c.checked_until >= ${until})
    order by d.organization_id, d.name limit ${limit}
    on conflict (organization_id, dataset) do update set checked_until = excluded.checked_until
      where h.checked_until < excluded.checked_until
    returning organization_id as "orgId", dataset, since, hours, events, expected`;
  return rows.map(({ orgId, dataset, since, ...shortfall }) => ({
    orgId,
    dataset,
    open: since === null ? undefined : { ...(shortfall as Shortfall), since },
  }));
}

type HourRow = DatasetKey & { hour: Date; events: number };

/** Returns the events of each of the datasets by hours since 1970, as far back as the rhythm needs. */
export function listHoursAcrossOrgs(tx: Tx, datasets: DatasetKey[], until: Date): Promise<HourRow[]> {
  const from = new Date(until.getTime() - (rhythmHours + 2) * hourMs);
  return queryRows<HourRow>(tx)`
    select h.organization_id as "orgId", h.dataset, h.hour, h.events
    from unnest(${datasets.map(({ orgId }) => orgId)}::uuid[], ${datasets.map(({ dataset }) => dataset)}::text[]) as d (org, name)
    join dataset_hours h on h.organization_id = d.org and h.dataset = d.name
    where h.hour >= ${from} and h.hour < ${until}`;
}

/** Stores the shortfall of a dataset, or that it has none. */
export async function saveShortfall(
  tx: Tx,
  { orgId, dataset }: DatasetKey,
  shortfall: OpenShortfall | undefined,
): Promise<void> {
  await sql`
    update dataset_health set since = ${shortfall?.since ?? null}, hours = ${shortfall?.hours ?? null}, events = ${shortfall?.events ?? null},
      expected = ${shortfall?.expected ?? null}
    where organization_id = ${orgId} and dataset = ${dataset}`.execute(tx);
}

/** Returns the open shortfalls of an organization's datasets, the earliest first, with `since` as ISO text. */
export async function listShortfalls(
  tx: Tx,
  orgId: OrgId,
): Promise<(Shortfall & { dataset: string; since: string })[]> {
  const rows = await queryRows<OpenShortfall & { dataset: string }>(tx)`
    select dataset, since, hours, events, expected from dataset_health
    where organization_id = ${orgId} and since is not null order by since, dataset`;
  return rows.map(withIsoTimes);
}

export async function deleteOldHoursAcrossOrgs(tx: Tx, before: Date): Promise<void> {
  await sql`delete from dataset_hours where hour < ${before}`.execute(tx);
}
