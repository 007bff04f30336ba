import { entityTypes } from '../entities/entity-names.ts';
import { resolveEntities } from '../entities/resolve-entities.ts';
import { techniquesOfHit } from '../hits/read-hits.ts';
import { toConnectionKey, type Cell } from './connections.ts';
import { countInbox, listComments, listWatchers } from './discuss-incident.store.ts';
import { toIncident } from './incident-events.ts';
import {
  timelineKinds,
  type Incident,
  type IncidentCommentList,
  type IncidentDetail,
  type IncidentFilter,
  type IncidentInbox,
  type IncidentList,
  type IncidentTimeline,
  type TimelineKind,
} from './incidents.schema.ts';
import { listRisks, type IncidentRules } from './join-hits.ts';
import { toRiskPart } from './place-hits.ts';
import { listRiskMembers, type RiskMemberRow } from './place-hits.store.ts';
import {
  findIncident,
  listIncidentEntities,
  listIncidents,
  listLinks,
  listReasons,
  listStageHits,
  listTimeline,
  readChangedFields,
} from './read-incidents.store.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { toPublicLink } from '../../platform/lib/outbound-http/addresses.ts';
import {
  decodeSortCursor,
  encodeSortCursor,
  invalidCursor,
  readPageRequest,
  toPage,
  type PageQuery,
} from '../../platform/lib/page-request.ts';

export type ReadIncidentsDeps = {
  db: Db;
  clock: Clock;
  config: { publicUrl: string | null; incidents: IncidentRules };
} & TacticSources;

const listedMax = 200;

/** Returns an incident with the address of its page instead of the path. */
export const withLink = <I extends Incident>(incident: I, publicUrl: string | null): I => ({
  ...incident,
  url: incident.url === null ? null : toPublicLink(publicUrl, incident.url),
});

/** Returns a page of incidents. */
export async function getIncidents(
  { db, clock, config }: ReadIncidentsDeps,
  { orgId, personId }: Caller,
  { entity, sort = 'latest', limit, cursor, ...filter }: IncidentFilter,
): Promise<IncidentList> {
  const request = readPageRequest(limit === undefined ? {} : { limit });
  const after = cursor === undefined ? null : decodeSortCursor(cursor, sort);
  if (after === undefined || (after && Number.isNaN(Number(after.value)))) throw invalidCursor();
  const rows = await inOrg(db, orgId, async (tx) => {
    const entityKeys = entity === undefined ? undefined : await listKeys(tx, orgId, entity);
    const reader = { orgId, personId: personId ?? null, now: clock() };
    return listIncidents(tx, orgId, { ...filter, reader, sort, entityKeys, after }, request.limit);
  });
  const page = rows.slice(0, request.limit);
  const last = rows.length > request.limit ? page.at(-1) : undefined;
  return {
    incidents: page.map((row) => {
      const { sortValue: _, ...incident } = row;
      return withLink(toIncident(incident), config.publicUrl);
    }),
    nextCursor: last ? encodeSortCursor({ sort, value: last.sortValue, id: last.id }) : null,
  };
}

/** Counts the incidents that wait for the person who calls. */
export const getInbox = (
  { db, clock }: Pick<ReadIncidentsDeps, 'db' | 'clock'>,
  { orgId, personId }: Caller,
): Promise<IncidentInbox> =>
  inOrg(db, orgId, (tx) => countInbox(tx, { orgId, personId: personId ?? null, now: clock() }));

/** Lists the keys that a value has as an entity of any type, as a session and as a process. */
async function listKeys(tx: Tx, orgId: OrgId, value: string): Promise<string[]> {
  const named = await resolveEntities(
    tx,
    orgId,
    entityTypes.map((type) => ({ type, value: value.trim() })),
  );
  const unnamed = (['session', 'process'] as const).map((kind) => `${kind}:${value.trim().toLowerCase()}`);
  return [...named.map(({ key }) => key), ...unnamed].map(toConnectionKey);
}

/** Returns an incident with what happened and why its hits belong together. The ID may be that of an incident merged into it. */
export function getIncident(deps: ReadIncidentsDeps, { orgId }: Caller, id: string): Promise<IncidentDetail> {
  const { publicUrl, incidents: rules } = deps.config;
  return inOrg(deps.db, orgId, async (tx) => {
    const row = await findIncident(tx, orgId, id);
    if (!row) throw appError('not_found', `Incident ${id} not found.`);
    const hits = await listStageHits(tx, orgId, row.id);
    const reasons = await listReasons(tx, orgId, { incidentId: row.id, othersMax: rules.othersMax, limit: listedMax });
    const members = await listRiskMembers(tx, orgId, row.id, rules.othersMax);
    const links = await listLinks(tx, orgId, row.id, listedMax);
    return {
      ...withLink(toIncident(row), publicUrl),
      stages: buildStages(
        hits.map((hit) => ({ id: hit.id, techniques: techniquesOfHit(hit), from: hit.fromAt, to: hit.toAt })),
        deps,
      ),
      entities: await listIncidentEntities(tx, orgId, row.id, listedMax),
      reasons: reasons.map(({ cells, ...reason }) => ({
        ...reason,
        cells: cells
          .flatMap((text, index) =>
            (JSON.parse(text) as Cell[]).map((cell) => ({ hitId: reason.hitIds[index]!, ...cell })),
          )
          .slice(0, listedMax),
      })),
      risks: toRisks(members, rules),
      watchers: await listWatchers(tx, orgId, row.id, listedMax),
      links: links.map(withIsoTimes),
    };
  });
}

/** Returns the entities whose hits reached the risk for an incident, the highest first. */
function toRisks(members: readonly RiskMemberRow[], rules: IncidentRules): IncidentDetail['risks'] {
  const byKey = new Map(members.map((member) => [member.riskKey, member]));
  const parts = members.flatMap((member) => {
    const part = toRiskPart(member);
    return part ? [{ id: member.id, ...part }] : [];
  });
  return listRisks(parts, rules.risk)
    .toSorted((a, b) => b.risk.score - a.risk.score)
    .slice(0, listedMax)
    .map(({ key, hitIds, risk }) => ({
      type: byKey.get(key)!.type,
      value: byKey.get(key)!.value,
      score: Math.round(risk.score * 10) / 10,
      at: new Date(risk.at).toISOString(),
      hits: hitIds.length,
    }));
}

/** Returns a page of the comments on an incident and those merged into it, newest first. */
export async function getIncidentComments(
  { db }: { db: Db },
  { orgId }: Caller,
  id: string,
  query: PageQuery,
): Promise<IncidentCommentList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, orgId, async (tx) => {
    const incident = await findIncident(tx, orgId, id);
    if (!incident) throw appError('not_found', `Incident ${id} not found.`);
    return listComments(tx, orgId, incident.id, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, ({ at, id }) => ({ at, id }));
  return { comments: page.map(withIsoTimes), nextCursor };
}

/** Returns a page of what happened in an incident: hits, comments, changes and statuses of its hits, latest first. */
export async function getIncidentTimeline(
  { db }: { db: Db },
  { orgId }: Caller,
  id: string,
  { kinds = timelineKinds, ...query }: PageQuery & { kinds?: readonly TimelineKind[] },
): Promise<IncidentTimeline> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, orgId, async (tx) => {
    const incident = await findIncident(tx, orgId, id);
    if (!incident) throw appError('not_found', `Incident ${id} not found.`);
    const found = await listTimeline(tx, orgId, { incidentId: incident.id, kinds }, request);
    const changed = await readChangedFields(
      tx,
      orgId,
      found.map(({ fields }) => fields),
    );
    return found.map((row, index) => ({ ...row, fields: changed[index]! }));
  });
  const { page, nextCursor } = toPage(rows, request.limit, ({ at, id }) => ({ at, id }));
  const entries = page.map(({ at, lastAt, finding, ...entry }) => ({
    ...entry,
    at: at.toISOString(),
    lastAt: lastAt && lastAt.toISOString(),
    finding: finding === null ? null : (JSON.parse(finding) as IncidentTimeline['entries'][number]['finding']),
  }));
  return { entries, nextCursor };
}

type Tactic = { shortName: string; name: string; rank: number };

/** The ATT&CK matrix, which belongs to the feed. */
type TacticSources = {
  findTechnique: (id: string) => { tactics: string[] } | undefined;
  listTactics: () => Tactic[];
};

type StageHit = { id: string; techniques: readonly string[]; from: Date; to: Date };
type Stage = { tactic: Tactic | null; techniques: Set<string>; hitIds: string[]; from: Date; to: Date };

/**
 * Returns the stages of hits by ATT&CK tactic, in order of time. A technique of several tactics counts for the first one that does not lie before
 * the tactic of the previous hit, because attacks move forward, and else for its first one.
 */
function buildStages(hits: readonly StageHit[], sources: TacticSources): IncidentDetail['stages'] {
  const tactics = new Map(sources.listTactics().map((tactic) => [tactic.shortName, tactic]));
  const stages = new Map<string, Stage>();
  let reached = -1;
  for (const { id, techniques, from, to } of hits.toSorted((a, b) => a.from.getTime() - b.from.getTime())) {
    const options = techniques
      .flatMap((id) => sources.findTechnique(id)?.tactics ?? [])
      .flatMap((name) => tactics.get(name) ?? [])
      .toSorted((a, b) => a.rank - b.rank);
    const tactic = options.find(({ rank }) => rank >= reached) ?? options[0] ?? null;
    if (tactic) reached = tactic.rank;
    const key = tactic?.shortName ?? '';
    const stage = stages.get(key) ?? { tactic, techniques: new Set(), hitIds: [], from, to };
    stages.set(key, stage);
    stage.hitIds.push(id);
    if (to > stage.to) stage.to = to;
    for (const technique of techniques) stage.techniques.add(technique);
  }
  return [...stages.values()].map((stage) => ({
    tactic: stage.tactic?.shortName ?? null,
    name: stage.tactic?.name ?? 'No technique',
    techniques: [...stage.techniques].toSorted(),
    hits: stage.hitIds.length,
    hitIds: stage.hitIds.slice(0, listedMax),
    firstAt: stage.from.toISOString(),
    lastAt: stage.to.toISOString(),
  }));
}
