import { acrossOrgs, inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { severities, type RenderedRow, type Severity } from '../analysis/candidate.ts';
import { riskPoints } from '../hits/entity-risk.ts';
import { learnAliases } from '../entities/entity-aliases.ts';
import { resolveEntities } from '../entities/resolve-entities.ts';
import { extractConnections, listParts, listSeenSpans, toEntityKey, type NameOf } from './connections.ts';
import { joinHits, riskSpanMs, type IncidentRules, type JoinHit, type JoinRules, type RiskPart } from './join-hits.ts';
import { announceIncidents } from './incident-events.ts';
import {
  createIncident,
  listTargets,
  mergeEmptyIncidents,
  refreshIncidents,
  reopenIncident,
  type TargetRow,
} from './incidents.store.ts';
import {
  assignHits,
  countOthers,
  listHitsToPlace,
  listNearHits,
  listSpecificValues,
  listWaitingOrgsAcrossOrgs,
  lockIncidents,
  replaceConnections,
  replaceLinks,
  takeQueuedHits,
  type NearHitRow,
  type NewLink,
  type Reach,
  type RiskFactorsRow,
} from './place-hits.store.ts';

export type PlaceHitsDeps = { db: Db; clock: Clock; log: Logger; config: { incidents: IncidentRules } };

const idleMs = 500;
const retryMs = 30_000;
const organizationsAtOnce = 50;
const hitsAtOnce = 500;

/** Organizations whose hits could not be placed, with the monotonic time in milliseconds of the next attempt. */
type Failed = Map<OrgId, number>;

/** Assigns new and changed hits to incidents. Several processes may do so concurrently. */
export function placeHitsLoop(deps: PlaceHitsDeps, signal: AbortSignal): Promise<void> {
  const failed: Failed = new Map();
  return runLoop({ name: 'placeHits', idleMs, signal, log: deps.log }, () => placeWaitingHits(deps, { failed }));
}

/**
 * Places the waiting hits of some organizations, at most `hitsMax` of each. One whose hits cannot be placed is tried again later, and delays no other.
 * Returns whether there may be more.
 */
export async function placeWaitingHits(
  { db, clock, log, config }: PlaceHitsDeps,
  { hitsMax = hitsAtOnce, failed = new Map() }: { hitsMax?: number; failed?: Failed } = {},
): Promise<boolean> {
  for (const [orgId, retryAt] of failed) if (retryAt <= performance.now()) failed.delete(orgId);
  const orgIds = await acrossOrgs(db, (tx) => listWaitingOrgsAcrossOrgs(tx, organizationsAtOnce, [...failed.keys()]));
  let placed = 0;
  for (const orgId of orgIds)
    try {
      placed += await inOrg(db, orgId, (tx) =>
        placeHits(tx, orgId, { rules: config.incidents, hitsMax, now: clock() }),
      );
    } catch (error) {
      failed.set(orgId, performance.now() + retryMs);
      log.error({ err: error, orgId }, 'hits were not placed in incidents');
    }
  return placed > 0;
}

type PlaceOptions = { rules: IncidentRules; hitsMax: number; now: Date };

async function placeHits(tx: Tx, orgId: OrgId, { rules, hitsMax, now }: PlaceOptions): Promise<number> {
  await lockIncidents(tx, orgId);
  const queued = await takeQueuedHits(tx, orgId, hitsMax);
  if (queued.length === 0) return 0;
  await storeConnections(tx, orgId, queued, now);
  const reach: Reach = {
    spanMs: Math.max(...Object.values(rules.spanMs)),
    riskSpanMs: riskSpanMs(rules.risk),
    othersMax: rules.othersMax,
  };
  const recounted = await countOthers(tx, orgId, queued, reach);
  const seeds = new Set([...queued, ...recounted]);
  const near = await listReachableHits(tx, orgId, seeds, reach);
  const values = Map.groupBy(
    await listSpecificValues(
      tx,
      orgId,
      near.map(({ id }) => id),
      rules.othersMax,
    ),
    ({ hitId }) => hitId,
  );
  const toJoin = (hit: NearHitRow): JoinHit => ({
    id: hit.id,
    severity: hit.severity,
    seen: JSON.parse(hit.seen) as JoinHit['seen'],
    values: values.get(hit.id) ?? [],
    risk: toRiskPart(hit),
  });
  // A hit whose events were withdrawn no longer describes anything that happened.
  const isFree = (hit: NearHitRow): boolean => !hit.isPinned && !hit.isTouched;
  const free = near.filter((hit) => isFree(hit) && hit.status !== 'outdated');
  const fixed = near.filter((hit) => hit.isTouched && hit.incidentId !== null);
  // Hits that people work on or have dealt with do not count again.
  const withoutRisk = { ...rules, risk: { ...rules.risk, threshold: Infinity } };
  const links = listLinks(free.filter(({ id }) => seeds.has(id)).map(toJoin), { fixed, toJoin, rules: withoutRisk });
  const targets = await listTargets(tx, orgId, [...new Set(links.map(({ incidentId }) => incidentId))]);
  const sets = joinHits(free.map(toJoin), rules).map(({ hitIds }) => hitIds);
  const joined = new Set(sets.flat());
  const alone = near.filter((hit) => isFree(hit) && !joined.has(hit.id));
  const changed = await storeSets(tx, orgId, { sets, alone, near, seeds, links, targets, rules, now });
  await announceIncidents(tx, orgId, changed);
  return queued.length;
}

/** Returns what a hit adds to the risk of its entity. Null if that is nothing, or if many others have the entity. */
export function toRiskPart({
  riskKey,
  toAt,
  ...hit
}: RiskFactorsRow & Pick<NearHitRow, 'severity' | 'status'>): RiskPart | null {
  const points = riskKey === null ? 0 : riskPoints(hit);
  return riskKey === null || points === 0 ? null : { key: riskKey, at: toAt.getTime(), points };
}

/** Stores what connects hits, as it follows from their rows. */
export async function storeConnections(tx: Tx, orgId: OrgId, hitIds: readonly string[], now: Date): Promise<void> {
  const hits = (await listHitsToPlace(tx, orgId, hitIds)).map((hit) => ({
    ...hit,
    rows: JSON.parse(hit.rows) as RenderedRow[],
  }));
  await learnAliases(tx, orgId, hits, now);
  const nameOf = await readNames(tx, orgId, hits.flatMap(listParts));
  const contents = hits.map((hit) => ({
    hitId: hit.id,
    entityKey: toEntityKey(hit, nameOf),
    seen: listSeenSpans(hit),
    connections: extractConnections(hit, nameOf),
  }));
  await replaceConnections(tx, orgId, contents);
}

/**
 * Lists hits with all that can become part of the same incident. Hits of one incident are read together. Those that are alone, such as weak ones
 * that only join by another, lead to further hits.
 */
async function listReachableHits(
  tx: Tx,
  orgId: OrgId,
  seeds: ReadonlySet<string>,
  reach: Reach,
): Promise<NearHitRow[]> {
  const reached = new Map<string, NearHitRow>();
  const expanded = new Set(seeds);
  for (let from = [...seeds]; from.length > 0;) {
    for (const hit of await listNearHits(tx, orgId, from, reach)) reached.set(hit.id, hit);
    from = [...reached.values()].flatMap(({ id, incidentId }) =>
      incidentId === null && !expanded.has(id) ? [id] : [],
    );
    for (const id of from) expanded.add(id);
  }
  return [...reached.values()];
}

/** Resolves raw values to entities, each once. Returns a function that looks up these values only. */
async function readNames(tx: Tx, orgId: OrgId, raws: readonly Parameters<NameOf>[0][]): Promise<NameOf> {
  const idOf = ({ type, value, host = '' }: Parameters<NameOf>[0]): string => `${host}\n${type}:${value}`;
  const distinct = new Map(raws.map((raw) => [idOf(raw), raw]));
  const named = await resolveEntities(tx, orgId, [...distinct.values()]);
  const byId = new Map([...distinct.keys()].map((id, index) => [id, named[index]!]));
  return (raw) => byId.get(idOf(raw)) ?? { key: idOf(raw), type: 'entity', name: raw.value, isShared: true };
}

/** Returns for each hit one value that connects it with each incident that people touched. */
function listLinks(
  hits: readonly JoinHit[],
  { fixed, toJoin, rules }: { fixed: readonly NearHitRow[]; toJoin: (hit: NearHitRow) => JoinHit; rules: JoinRules },
): NewLink[] {
  const byIncident = Map.groupBy(fixed, ({ incidentId }) => incidentId!);
  return [...byIncident].flatMap(([incidentId, members]) => {
    const known = members.map(toJoin);
    return hits.flatMap((hit) => {
      const keys = new Set(hit.values.map(({ key }) => key));
      for (const member of known) {
        if (!member.values.some(({ key }) => keys.has(key))) continue;
        const [reason] = joinHits([hit, member], rules)[0]?.reasons ?? [];
        if (reason) return [{ incidentId, hitId: hit.id, key: reason.key }];
      }
      return [];
    });
  });
}

type Sets = {
  sets: readonly string[][];
  alone: readonly NearHitRow[];
  near: readonly NearHitRow[];
  seeds: ReadonlySet<string>;
  links: readonly NewLink[];
  targets: readonly TargetRow[];
  rules: IncidentRules;
  now: Date;
};

/** Stores which hits belong together. Returns the incidents that changed. */
async function storeSets(
  tx: Tx,
  orgId: OrgId,
  { sets, alone, near, seeds, links, targets, rules, now }: Sets,
): Promise<string[]> {
  const byId = new Map(near.map((hit) => [hit.id, hit]));
  const changed = new Set<string>();
  const taken = new Set<string>();
  const successors = new Map<string, string>();
  const put = async (hitIds: readonly string[], incidentId: string | null): Promise<void> => {
    const moved = hitIds.filter((id) => byId.get(id)!.incidentId !== incidentId);
    if (moved.length === 0) return;
    if (incidentId !== null) changed.add(incidentId);
    for (const former of new Set(moved.flatMap((id) => byId.get(id)!.incidentId ?? []))) {
      changed.add(former);
      if (incidentId !== null && !successors.has(former)) successors.set(former, incidentId);
    }
    await assignHits(tx, orgId, { hitIds: moved, incidentId });
  };
  const targetOf = new Map<string, string>();
  for (const hitIds of [...sets, ...alone.map(({ id }) => [id])]) {
    const target = findTarget(hitIds, { byId, links, targets });
    if (target) {
      for (const id of hitIds) targetOf.set(id, target.id);
      await put(hitIds, target.id);
      await reopenIncident(tx, orgId, target, now);
    } else if (hitIds.length === 1) await put(hitIds, null);
    else {
      // The oldest incident of the hits continues, and the others become part of it.
      const former = [...new Set(hitIds.flatMap((id) => byId.get(id)!.incidentId ?? []))].toSorted();
      const kept = former.find((id) => !taken.has(id)) ?? uuidv7(now);
      if (!former.includes(kept)) await createIncident(tx, orgId, { id: kept, now });
      taken.add(kept);
      await put(hitIds, kept);
    }
  }
  const kept = links.filter(({ hitId, incidentId }) => targetOf.get(hitId) !== incidentId);
  await replaceLinks(tx, orgId, { hitIds: [...seeds, ...targetOf.keys()], links: kept }, now);
  await mergeEmptyIncidents(tx, orgId, successors, now);
  await refreshIncidents(tx, orgId, [...changed], { dueMs: rules.dueMs, now });
  return [...changed];
}

const rankOf = (severity: Severity): number => severities.indexOf(severity);

/** Returns the incident that people touched which hits join because one of them is more severe. The most severe and oldest comes first. */
function findTarget(
  hitIds: readonly string[],
  { byId, links, targets }: { byId: ReadonlyMap<string, NearHitRow> } & Pick<Sets, 'links' | 'targets'>,
): TargetRow | undefined {
  const members = new Set(hitIds);
  const reached = links.filter(({ hitId }) => members.has(hitId));
  return targets
    .filter(({ id, severity }) =>
      reached.some(
        ({ incidentId, hitId }) => incidentId === id && rankOf(byId.get(hitId)!.severity) > rankOf(severity),
      ),
    )
    .toSorted((a, b) => rankOf(b.severity) - rankOf(a.severity) || (a.id < b.id ? -1 : 1))[0];
}
