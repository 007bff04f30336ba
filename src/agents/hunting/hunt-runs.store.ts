import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';
import type { HuntFinding, HuntRun } from './hunts.schema.ts';

/** `asked` is JSON text of the question as it was, `queries` and `warnings` are JSON texts. */
export type HuntRunRow = Omit<
  HuntRun,
  'kind' | 'question' | 'from' | 'to' | 'queries' | 'warnings' | 'createdAt' | 'finishedAt'
> & {
  asked: string;
  fromAt: Date;
  toAt: Date;
  queries: string;
  warnings: string;
  createdAt: Date;
  finishedAt: Date | null;
};

const runColumns = sql`r.id, r.hunt_id as "huntId", r.state, r.is_scheduled as "isScheduled", r.question as asked, r.from_at as "fromAt", r.to_at as "toAt",
  r.findings, r.new_findings as "newFindings", r.gone_findings as "goneFindings", r.previous_run_id as "previousRunId", r.is_complete as "isComplete",
  r.queries, r.queries_sent as "queriesSent", r.warnings, r.failure, r.ms, r.created_at as "createdAt", r.finished_at as "finishedAt"`;

/** Lists the newest run of each hunt. */
export const listLastRuns = (tx: Tx, orgId: OrgId): Promise<HuntRunRow[]> =>
  queryRows<HuntRunRow>(tx)`
    select distinct on (r.hunt_id) ${runColumns} from hunt_runs r where r.organization_id = ${orgId} order by r.hunt_id, r.created_at desc, r.id desc`;

export const listRunRows = (
  tx: Tx,
  orgId: OrgId,
  huntId: string,
  { limit, after }: PageRequest,
): Promise<HuntRunRow[]> =>
  queryRows<HuntRunRow>(tx)`
    select ${runColumns} from hunt_runs r where r.organization_id = ${orgId} and r.hunt_id = ${huntId}
      ${after ? sql`and (r.created_at, r.id) < (${after.at}, ${after.id}::uuid)` : sql``}
    order by r.created_at desc, r.id desc limit ${limit + 1}`;

export const findHuntRun = (
  tx: Tx,
  orgId: OrgId,
  id: string,
): Promise<(HuntRunRow & { huntName: string }) | undefined> =>
  queryRow<HuntRunRow & { huntName: string }>(tx)`
    select ${runColumns}, h.name as "huntName" from hunt_runs r join hunts h on h.organization_id = r.organization_id and h.id = r.hunt_id
    where r.organization_id = ${orgId} and r.id = ${id}`;

/** The question of a hunt, as its runs store it. */
const asked = sql`json_build_object('kind', h.kind, 'question', h.question, 'connectionId', h.connection_id)::text`;
const newRun = (isScheduled: boolean, now: Date): RawBuilder<unknown> => sql`
  insert into hunt_runs (organization_id, id, hunt_id, state, is_scheduled, question, from_at, to_at, created_at)
  select h.organization_id, gen_random_uuid(), h.id, 'queued', ${isScheduled}::boolean, ${asked},
    coalesce(h.from_at, ${now}::timestamptz - make_interval(days => h.span_days)), coalesce(h.to_at, ${now}::timestamptz), ${now}::timestamptz`;
const onceAtATime = sql`on conflict (organization_id, hunt_id) where state in ('queued', 'running') do nothing`;

/** Queues a run of a hunt, unless one waits or runs. Returns the ID of the run. */
export async function queueRun(tx: Tx, orgId: OrgId, huntId: string, now: Date): Promise<string> {
  await sql`
    ${newRun(false, now)} from hunts h
      where h.organization_id = ${orgId} and h.id = ${huntId} ${onceAtATime}`.execute(tx);
  const run = await queryRow<{ id: string }>(tx)`
    select id from hunt_runs where organization_id = ${orgId} and hunt_id = ${huntId} and state in ('queued', 'running')`;
  return run!.id;
}

/** Queues the runs of hunts that are due, and plans the next ones. */
export async function queueDueRunsAcrossOrgs(tx: Tx, now: Date): Promise<void> {
  await sql`
    with due as (
      update hunts set next_run_at = ${now}::timestamptz + case cadence when 'weekly' then interval '7 days' else interval '1 day' end
      where next_run_at <= ${now} and cadence is not null and ${isNotSuspended(sql`organization_id`)} returning *
    )
    ${newRun(true, now)} from due h ${onceAtATime}`.execute(tx);
}

/** A run to work on. `attempts` counts this one. */
export type ClaimedRun = {
  orgId: OrgId;
  id: string;
  huntId: string;
  huntName: string;
  isScheduled: boolean;
  asked: string;
  fromAt: Date;
  toAt: Date;
  attempts: number;
};

/** Claims the run that waits longest until `leaseUntil`. Hunts of an organization run one after another, so that none keeps the others waiting. */
export async function claimRunAcrossOrgs(tx: Tx, now: Date, leaseUntil: Date): Promise<ClaimedRun | undefined> {
  await lockName(tx, 'hunt claims');
  return queryRow<ClaimedRun>(tx)`
    with due as (
      select r.organization_id, r.id from hunt_runs r
      where (r.state = 'queued' or r.state = 'running' and r.lease_until < ${now}) and ${isNotSuspended(sql`r.organization_id`)}
        and not exists (select from hunt_runs o where o.organization_id = r.organization_id and o.state = 'running' and o.lease_until >= ${now})
      order by r.created_at, r.id limit 1
    )
    update hunt_runs r set state = 'running', lease_until = ${leaseUntil}, attempts = r.attempts + 1 from due, hunts h
    where r.organization_id = due.organization_id and r.id = due.id and h.organization_id = r.organization_id and h.id = r.hunt_id
    returning r.organization_id as "orgId", r.id, r.hunt_id as "huntId", h.name as "huntName", r.is_scheduled as "isScheduled", r.question as asked,
      r.from_at as "fromAt", r.to_at as "toAt", r.attempts`;
}

const isOwn = ({ orgId, id, attempts }: ClaimedRun): RawBuilder<unknown> =>
  sql`organization_id = ${orgId} and id = ${id} and state = 'running' and attempts = ${attempts}`;

/** Lets another process repeat a run that was interrupted. */
export async function releaseRun(tx: Tx, run: ClaimedRun): Promise<void> {
  await sql`
    update hunt_runs set state = 'queued', attempts = attempts - 1, lease_until = null where ${isOwn(run)}`.execute(tx);
}

/** A finding as a run stores it. `fields` is JSON text. */
export type NewFinding = Pick<HuntFinding, 'dataset' | 'rowId' | 'entity' | 'detail'> & {
  key: string;
  at: Date | null;
  fields: string;
  queryIndex: number;
};

export type RunOutcome = {
  findings: readonly NewFinding[];
  queries: HuntRun['queries'];
  queriesSent: number;
  warnings: readonly string[];
  isComplete: boolean;
  failure: string | null;
  ms: number;
  now: Date;
};

/**
 * Stores the outcome of a run, compared with the last completed run of the same question. Returns undefined if the lease was lost.
 */
export async function finishRun(
  tx: Tx,
  run: ClaimedRun,
  outcome: RunOutcome,
): Promise<{ newFindings: number } | undefined> {
  const { orgId, id, huntId } = run;
  const { findings, queries, queriesSent, warnings, isComplete, failure, ms, now } = outcome;
  const previous = await queryRow<{ id: string }>(tx)`
    select id from hunt_runs where organization_id = ${orgId} and hunt_id = ${huntId} and state = 'completed' and question = ${run.asked}
    order by created_at desc, id desc limit 1`;
  const owned = await queryRow<{ id: string }>(tx)`select id from hunt_runs where ${isOwn(run)} for update`;
  if (!owned) return undefined;
  const column = <Name extends keyof NewFinding>(name: Name): NewFinding[Name][] => findings.map((one) => one[name]);
  await sql`
    insert into hunt_findings (organization_id, id, run_id, finding_key, is_new, at, dataset, row_id, entity, detail, fields, query_index)
    select ${orgId}, f.id, ${id}, f.key, p.id is null, f.at, f.dataset, f.row_id, f.entity, f.detail, f.fields, f.query_index
    from unnest(${findings.map(() => uuidv7(now))}::uuid[], ${column('key')}::text[], ${column('at')}::timestamptz[], ${column('dataset')}::text[],
        ${column('rowId')}::text[], ${column('entity')}::text[], ${column('detail')}::text[], ${column('fields')}::text[], ${column('queryIndex')}::int[])
        as f (id, key, at, dataset, row_id, entity, detail, fields, query_index)
      left join hunt_findings p on p.organization_id = ${orgId} and p.run_id = ${previous?.id ?? null}::uuid
        and p.finding_key = f.key`.execute(tx);
  const finished = await queryRow<{ newFindings: number }>(tx)`
    update hunt_runs r set state = ${failure === null ? 'completed' : 'failed'}, lease_until = null, previous_run_id = ${previous?.id ?? null},
      findings = ${findings.length}, new_findings = (select count(*) from hunt_findings where organization_id = ${orgId} and run_id = ${id} and is_new),
      gone_findings = ${failure === null ? sql`(select count(*) from hunt_findings f where ${isGone(orgId, sql`r.id`, sql`${previous?.id ?? null}::uuid`)})` : 0},
      queries = ${JSON.stringify(queries)}, queries_sent = ${queriesSent}, warnings = ${JSON.stringify(warnings)}, is_complete = ${isComplete},
      failure = ${failure}, ms = ${ms}, finished_at = ${now}
    where r.organization_id = ${orgId} and r.id = ${id} returning r.new_findings as "newFindings"`;
  return finished;
}

/** Condition that a finding `f` of the previous run is in the span of run `r` and not among its findings. */
const isGone = (
  orgId: OrgId,
  runId: RawBuilder<unknown>,
  previousRunId: RawBuilder<unknown>,
): RawBuilder<boolean> => sql`
  f.organization_id = ${orgId} and f.run_id = ${previousRunId} and (f.at is null or f.at >= r.from_at and f.at < r.to_at)
  and not exists (select from hunt_findings n where n.organization_id = f.organization_id and n.run_id = ${runId} and n.finding_key = f.finding_key)`;

/** `fields` is JSON text, and `queries` that of the run that has the finding. */
export type FindingRow = Omit<HuntFinding, 'at' | 'fields' | 'query'> & {
  key: string;
  at: Date | null;
  sortAt: Date;
  fields: string;
  queries: string;
  queryIndex: number;
};

const findingColumns = sql`f.id, f.run_id as "runId", f.finding_key as key, f.at, coalesce(f.at, o.created_at) as "sortAt", f.dataset, f.row_id as "rowId",
  f.entity, f.detail, f.fields, f.query_index as "queryIndex", o.queries,
  array(select i.incident_id::text from incident_findings i where i.organization_id = f.organization_id and i.finding_key = f.finding_key order by 1) as "incidentIds"`;

type FindingFilter = { runId: string; change: HuntFinding['change'] | undefined; ids?: readonly string[] };

/** Lists `limit` + 1 findings of a run, latest first. Gone ones are those of the previous run. */
export function listFindings(
  tx: Tx,
  orgId: OrgId,
  { runId, change, ids }: FindingFilter,
  { limit, after }: PageRequest,
): Promise<FindingRow[]> {
  const isOfRun = sql`f.organization_id = ${orgId} and f.run_id = r.id`;
  const where =
    change === 'gone'
      ? isGone(orgId, sql`r.id`, sql`r.previous_run_id`)
      : change === undefined
        ? isOfRun
        : sql`${isOfRun} and f.is_new = ${change === 'new'}`;
  return queryRows<FindingRow>(tx)`
    select * from (
      select ${findingColumns}, case when f.run_id <> r.id then 'gone' when f.is_new then 'new' else 'same' end as change
      from hunt_runs r join hunt_findings f on ${where} join hunt_runs o on o.organization_id = f.organization_id and o.id = f.run_id
      where r.organization_id = ${orgId} and r.id = ${runId} ${ids ? sql`and f.id = any(${ids}::uuid[])` : sql``}
    ) f ${after ? sql`where ("sortAt", id) < (${after.at}, ${after.id}::uuid)` : sql``} order by "sortAt" desc, id desc limit ${limit + 1}`;
}

/** Deletes at most `limit` finished runs. */
export async function deleteOldHuntRunsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<number> {
  const { rows } = await sql`
    delete from hunt_runs where (organization_id, id) in (
      select organization_id, id from hunt_runs where finished_at < ${expiry.before} and ${belongsTo(expiry)} limit ${limit})
    returning id`.execute(tx);
  return rows.length;
}
