import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { toPublicLink } from '../../platform/lib/outbound-http/addresses.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { readPageRequest, toPage } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { findEntity } from '../entities/resolve-entities.ts';
import type { RenderedRow } from '../analysis/candidate.ts';
import { toOwnObservation, type Observation } from '../verdicts/observation.ts';
import {
  findHit,
  findHitEvidence,
  listHits,
  listOccurrences,
  type EventHitRow,
  type HitRow,
} from './read-hits.store.ts';
import type {
  Hit,
  HitDetail,
  HitEvidence,
  HitFilter,
  HitList,
  HitGroup,
  HitGroupFilter,
  HitGroupList,
} from './hits.schema.ts';
import { listStatusChanges } from './hit-status.store.ts';
import { findGroup, listGroups, type HitGroupRow } from './groups.store.ts';
import { withIsoTimes } from '../../platform/lib/time/clock.ts';

const occurrencesMax = 200;
const changesMax = 200;

type ReadHitsDeps = { db: Db };

/** Returns a page of the hits of all detections, newest first. */
export async function getHits({ db }: ReadHitsDeps, caller: Caller, filter: HitFilter): Promise<HitList> {
  const request = readPageRequest(filter);
  const { detection, status, severity, verdict, entity, value, q, group, incident } = filter;
  const from = filter.from === undefined ? undefined : new Date(filter.from);
  const to = filter.to === undefined ? undefined : new Date(filter.to);
  const { orgId } = caller;
  const rows = await inOrg(db, orgId, async (tx) => {
    const known = entity === undefined ? undefined : await findEntity(tx, orgId, { type: null, value: entity });
    const entities = known && [entity!, ...known.names.map(({ name }) => name)];
    return listHits(
      tx,
      orgId,
      { detection, status, severity, verdict, entities, value, q, group, incident, from, to },
      request,
    );
  });
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.createdAt, id: row.id }));
  return { hits: page.map(toHit), nextCursor };
}

/** Returns a hit with its rows, occurrences and status changes. */
export async function getHit({ db }: ReadHitsDeps, caller: Caller, id: string): Promise<HitDetail> {
  return inOrg(db, caller.orgId, async (tx) => {
    const row = await findHit(tx, caller.orgId, id);
    if (!row) throw appError('not_found', `Hit ${id} not found.`);
    return readHitDetail(tx, caller.orgId, row);
  });
}

/** Returns the hit of a row with its occurrences and status changes. */
export async function readHitDetail(tx: Tx, orgId: OrgId, row: EventHitRow): Promise<HitDetail> {
  const occurrences = await listOccurrences(tx, orgId, row.id, occurrencesMax);
  const history = await listStatusChanges(tx, orgId, row.id, changesMax);
  return {
    ...toHit(row),
    facts: JSON.parse(row.facts) as HitDetail['facts'],
    rows: JSON.parse(row.rows) as HitDetail['rows'],
    runs: [...new Set(occurrences.map(({ runId }) => runId))],
    occurrences: occurrences.map(({ runId, windowFrom, seenAt }) => ({
      runId,
      windowFrom: windowFrom.toISOString(),
      seenAt: seenAt.toISOString(),
    })),
    history: history.map(withIsoTimes),
  };
}

/**
 * Returns what the verdict on a hit cites, oldest first: the rows of the detection's query, then the observations of the investigation, each with the
 * query that found it.
 */
export async function getHitEvidence({ db }: ReadHitsDeps, { orgId }: Caller, id: string): Promise<HitEvidence> {
  const found = await inOrg(db, orgId, (tx) => findHitEvidence(tx, orgId, id));
  if (!found) throw appError('not_found', `Hit ${id} not found.`);
  const { query, windowFrom: from, windowTo: to, createdAt: at } = found;
  const own = toOwnObservation(JSON.parse(found.rows) as RenderedRow[], { query, from, to, at });
  return { observations: [own, ...(JSON.parse(found.observations) as Observation[])] };
}

/** Returns the hit with the link to it at the public address of the service. */
export const withLink = <H extends Hit>(hit: H, publicUrl: string | null): H => ({
  ...hit,
  url: hit.url === null ? null : toPublicLink(publicUrl, hit.url),
});

const techniqueTag = /^attack\.(t\d{4}(?:\.\d{3})?)$/;

/** Returns the techniques of a hit: those of its rows and its verdict, else those of its detection's tags. `judged` is JSON text. */
export function techniquesOfHit(hit: { techniques: string[] | null; judged: string; tags: string[] }): string[] {
  const own = [...new Set([...(hit.techniques ?? []), ...(JSON.parse(hit.judged) as string[])])];
  return own.length > 0 ? own : listTaggedTechniques(hit.tags);
}

const listTaggedTechniques = (tags: readonly string[]): string[] =>
  tags.flatMap((tag) => techniqueTag.exec(tag)?.[1]?.toUpperCase() ?? []);

/**
 * Returns the hit of a row, with the path of the console as `url`, which `withLink` and the delivery of events resolve. Its techniques are those of its rows, else those of the detection's tags.
 */
export function toHit({
  detectionName: name,
  tags,
  techniques,
  rule,
  judgedTechniques,
  arrivedAt,
  ...row
}: HitRow): Hit {
  return {
    ...withIsoTimes(row),
    url: `/console/hits/${row.id}`,
    detection: { name, tags, techniques: techniques ?? listTaggedTechniques(tags), rule },
    evidence: JSON.parse(row.evidence) as Hit['evidence'],
    claims: JSON.parse(row.claims) as Hit['claims'],
    techniques: JSON.parse(judgedTechniques) as string[],
    latencyMs: arrivedAt && Math.max(0, row.createdAt.getTime() - arrivedAt.getTime()),
  };
}

/** Returns a page of the groups of hits, newest first. */
export async function getHitGroups(
  { db }: { db: Db },
  { orgId }: Caller,
  filter: HitGroupFilter,
): Promise<HitGroupList> {
  const request = readPageRequest(filter);
  const { detection, status } = filter;
  const toDate = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));
  const query = { detection, status, from: toDate(filter.from), to: toDate(filter.to) };
  const rows = await inOrg(db, orgId, (tx) => listGroups(tx, orgId, query, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.createdAt, id: row.id }));
  return { groups: page.map(toHitGroup), nextCursor };
}

export async function getHitGroup({ db }: { db: Db }, { orgId }: Caller, id: string): Promise<HitGroup> {
  const row = await inOrg(db, orgId, (tx) => findGroup(tx, orgId, id));
  if (!row) throw appError('not_found', `Hit group ${id} not found.`);
  return toHitGroup(row);
}

const typeLabels: Record<string, string> = { ip: 'IP addresses', access_key: 'access keys', url: 'URLs' };
const pluralOf = (type: string): string =>
  typeLabels[type] ?? (/[^aeiou]y$/.test(type) ? `${type.slice(0, -1)}ies` : `${type}s`);

export function toHitGroup(row: HitGroupRow): HitGroup {
  const types = new Set(row.entities.map(({ entityType }) => entityType));
  const [type] = types;
  const noun = types.size === 1 && type !== undefined ? pluralOf(type) : 'entities';
  return {
    ...withIsoTimes(row),
    headline: `${row.detectionName}: ${row.hits} ${noun}`,
  };
}
