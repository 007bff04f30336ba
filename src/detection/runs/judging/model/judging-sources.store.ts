import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../../platform/db/db.ts';
import type { OrgId } from '../../../../platform/lib/org-id.ts';
import { type Facts, severities, type Severity } from '../../../analysis/candidate.ts';
import { findNotes } from '../../../entities/entities.store.ts';
import { hasValue, type JudgedHit, listHitsWithValues } from '../../../hits/read-hits.store.ts';
import type { DetectionKey } from '../../../scheduling/timeline.ts';
import { listSpellings } from '../../../entities/resolve-entities.ts';
import type { RecordRow } from '../../../tools/tool-definition.ts';
import { addRows, findListsWith } from '../../../value-lists/value-lists.store.ts';
import type { CitableHit } from '../../../verdicts/claims/case-file.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { type DismissedCase, listDismissedCases } from '../review-cases.store.ts';
import { withIsoTimes } from '../../../../platform/lib/time/clock.ts';

/** An entity as a candidate has it, and under its other names. */
type NamedEntity = { entity: string; entityType: string; otherNames: readonly string[] };

/** Selects rows of an entity under any of its names. What has its name and another type is something else. */
const isOf = ({ entity, entityType, otherNames }: NamedEntity): RawBuilder<unknown> =>
  sql`((entity = ${entity} and entity_type = ${entityType}) or (entity <> ${entity} and entity = any(${otherNames}::text[])))`;

/** Lists the latest hits of an entity that other windows raised, of all detections, with the latest reason of a status. */
export async function listEarlierHits(
  tx: Tx,
  orgId: OrgId,
  { before, ...entity }: NamedEntity & { before: Date },
  limit: number,
): Promise<CitableHit[]> {
  const hits = await queryRows<Omit<CitableHit, 'lastSeenAt'> & { lastSeenAt: Date }>(tx)`
      select h.id, a.name as detection, h.severity, h.status, h.last_seen_at as "lastSeenAt",
        coalesce((select c.key_id is not null or c.actor is not null from hit_changes c
          where c.organization_id = h.organization_id and c.hit_id = h.id order by c.at desc, c.id desc limit 1), false) as "isReviewed",
        (select c.reason from hit_changes c where c.organization_id = h.organization_id and c.hit_id = h.id and c.reason is not null
          order by c.at desc, c.id desc limit 1) as reason
      from (
          select * from hits where organization_id = ${orgId} and ${isOf(entity)} and window_from < ${before}
            and ${hasValue(orgId, [entity.entity, ...entity.otherNames])}
        ) h join agents a on a.organization_id = h.organization_id and a.id = h.detection_id
      order by h.last_seen_at desc, h.id desc limit ${limit}`;
  return hits.map(withIsoTimes);
}

/** Candidates that recurrence is counted over. Those of earlier windows are left out. */
const countedMax = 5_000;

/** How often a behavior recurred: the UTC days on which the entity showed it, and how many others showed it on how many days. */
export type Recurrence = { recurredDays: number; recurredPeers: number; recurredPeerDays: number; wasAttack: boolean };

/** What counts as the same behavior: its category and techniques and, where a category judges each kind, the kind. */
type Behavior = { kind: string; kindKey: string | null; techniques: Facts[string] | undefined; severity: Severity };

/**
 * Counts on how many days between two times a detection found the same behavior of the entity and of its peers, of the same severity or a higher one.
 * `wasAttack`: people judged one of those hits as a true positive.
 */
export async function readRecurrence(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { kind, kindKey, techniques, severity, from, to, ...entity }: NamedEntity & Behavior & { from: Date; to: Date },
): Promise<Recurrence> {
  const isEntity = isOf(entity);
  const day = sql`date_trunc('day', window_from at time zone 'utc')`;
  const isKind = kindKey === null ? sql`kind = ${kind}` : sql`kind_key = ${kindKey}`;
  const asSevere = severities.slice(severities.indexOf(severity));
  const counts = await queryRow<Recurrence>(tx)`
      select count(distinct ${day}) filter (where ${isEntity}) as "recurredDays",
        count(distinct (entity_type, entity)) filter (where not (${isEntity})) as "recurredPeers",
        count(distinct ${day}) filter (where not (${isEntity})) as "recurredPeerDays",
        coalesce(bool_or(h.status = 'true_positive'), false) as "wasAttack"
      from (
        select window_from, entity, entity_type, hit_id from candidates
        where organization_id = ${orgId} and detection_id = ${detectionId} and ${isKind} and window_from >= ${from} and window_from < ${to}
          and severity = any(${asSevere}::text[]) and facts::jsonb -> 'techniques' is not distinct from ${JSON.stringify(techniques) ?? null}::jsonb
          and state <> 'outdated' order by window_from desc limit ${countedMax}) c
      left join lateral (select status from hits where organization_id = ${orgId} and id = c.hit_id) h on true`;
  return counts!;
}

const notesMax = 10;
const hitsMax = 20;
const valuesMax = 20;
/** A value that more hits have connects nothing. */
const commonMax = 100;

/** The case that a tool belongs to. Hits of its own window are its result, not its past. */
type Case = { run: Pick<ActiveRun, 'scope'>; windowFrom: Date; entity: string };

/**
 * Returns what the organization knows of an entity: notes, value lists, hits of all detections with what people decided, latest first, and what this
 * detection remembers of it. Hits have no headline, because it quotes rows.
 */
export async function readProfile(
  tx: Tx,
  { run: { scope }, windowFrom }: Case,
  entity: string,
  limit: number,
): Promise<RecordRow[]> {
  const { orgId } = scope;
  const values = [entity, ...(await listSpellings(tx, orgId, { type: null, value: entity }, { isProof: true }))];
  const notes = await findNotes(tx, orgId, { entity: '', entityType: '', values }, notesMax);
  const lists = await addRows(tx, orgId, await findListsWith(tx, orgId, entity));
  const request = { values: [entity], since: new Date(0), commonMax: Number.MAX_SAFE_INTEGER };
  const hits = (await listHitsWithValues(tx, orgId, request, hitsMax * 5)).filter(
    (hit) => hit.entity.toLowerCase() === entity.toLowerCase() && hit.windowFrom < windowFrom,
  );
  return [
    ...notes.map(({ id, note, entity: about }) => ({ id: `note:${id}`, kind: 'note', entity: about, note })),
    ...lists.map(({ row, ...list }) => ({
      id: `list:${list.list}`,
      kind: 'list',
      ...list,
      ...(row ? { row: JSON.stringify(row) } : {}),
    })),
    ...hits.slice(0, hitsMax).map(toHitRecord),
    ...(await listDismissedCases(tx, orgId, { entity, before: windowFrom }, hitsMax)).map(toCaseRecord),
    ...(await readMemory(tx, scope, entity, limit)),
  ].slice(0, limit);
}

const toHitRecord = ({
  id,
  detection,
  entity,
  severity,
  status,
  reason,
  occurrences,
  firstSeenAt,
  lastSeenAt,
}: JudgedHit) => ({
  id: `hit:${id}`,
  kind: 'hit',
  detection,
  entity,
  severity,
  status,
  reason,
  occurrences,
  firstSeenAt,
  lastSeenAt,
});

/** A case that a person dismissed before it became a hit. */
const toCaseRecord = (dismissed: DismissedCase): RecordRow => ({ kind: 'case', status: 'benign', ...dismissed });

type MemorySummary = {
  windows: number;
  firstSeenAt: Date | null;
  lastSeenAt: Date | null;
  typicalNumber: number | null;
};

/** Returns when this detection saw an entity, its most frequent values with their number of windows, and its latest windows. */
async function readMemory(
  tx: Tx,
  { orgId, detectionId, generation }: ActiveRun['scope'],
  entity: string,
  limit: number,
): Promise<RecordRow[]> {
  const seen = (await queryRow<MemorySummary>(tx)`
      select count(distinct window_from)::int as windows, min(window_from) as "firstSeenAt", max(window_from) as "lastSeenAt",
        percentile_cont(0.5) within group (order by number) as "typicalNumber" from memory
      where organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation} and entity in (${entity}, ${entity.toLowerCase()})`)!;
  if (seen.windows === 0) return [];
  const values = await queryRows<{ value: string; windows: number }>(tx)`
      select value, count(distinct window_from)::int as windows from memory
      where organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation} and entity in (${entity}, ${entity.toLowerCase()})
        and value is not null group by value order by 2 desc, 1 limit ${valuesMax}`;
  const windows = await queryRows<{ window: Date; number: number | null; value: string | null }>(tx)`
      select window_from as "window", number, value from memory
      where organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation} and entity in (${entity}, ${entity.toLowerCase()})
      order by window_from desc, key limit ${limit}`;
  return [
    { id: 'memory', kind: 'memory', ...seen },
    ...values.map((one, index) => ({
      id: `value:${index + 1}`,
      kind: 'typical value',
      ...one,
      value: one.value,
    })),
    ...windows.map((one, index) => ({
      id: `window:${index + 1}`,
      kind: 'window',
      ...one,
      value: one.value,
    })),
  ];
}

/**
 * Returns hits since a time that share a value with a case, latest first, without the hit of the case itself, and then the cases of its entity that
 * people dismissed.
 */
export async function readRelatedHits(
  tx: Tx,
  { run: { scope }, windowFrom, entity }: Case,
  { values, since }: { values: readonly string[]; since: Date },
  limit: number,
): Promise<RecordRow[]> {
  const max = values.length === 1 ? Number.MAX_SAFE_INTEGER : commonMax;
  const found = await listHitsWithValues(tx, scope.orgId, { values, since, commonMax: max }, limit + 20);
  const dismissed = (await listDismissedCases(tx, scope.orgId, { entity, before: windowFrom }, hitsMax)).filter(
    (one) => one.lastSeenAt >= since && values.some((value) => value.toLowerCase() === one.entity.toLowerCase()),
  );
  return [
    ...found
      .filter(
        (hit) => !(hit.detectionId === scope.detectionId && hit.entity === entity && hit.windowFrom >= windowFrom),
      )
      .map((hit) => ({ ...toHitRecord(hit), shared: hit.shared.slice(0, 10) })),
    ...dismissed.map(toCaseRecord),
  ].slice(0, limit);
}
