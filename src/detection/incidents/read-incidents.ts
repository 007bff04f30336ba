import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError, type RecordChange } from '../../platform/lib/errors.ts';
import { toPublicLink } from '../../platform/lib/outbound-http/addresses.ts';
import {
  decodeSortCursor,
  encodeSortCursor,
  invalidCursor,
  readPageRequest,
  toPage,
  type PageQuery,
} from '../../platform/lib/page-request.ts';
import { techniquesOfHit } from '../hits/read-hits.ts';
import { entityTypes } from '../entities/entity-names.ts';
import { resolveEntities } from '../entities/resolve-entities.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { toConnectionKey, type Cell } from './connections.ts';
import { toIncident } from './incident-events.ts';
import type {
  Incident,
  IncidentCommentList,
  IncidentDetail,
  IncidentFilter,
  IncidentList,
  IncidentTimeline,
} from './incidents.schema.ts';
import type { IncidentRules } from './join-hits.ts';
import {
  findIncident,
  listComments,
  listIncidentEntities,
  listIncidents,
  listLinks,
  listReasons,
  listStageHits,
  listTimeline,
} from './read-incidents.store.ts';
import { buildStages, type TacticSources } from './stages.ts';

export type ReadIncidentsDeps = {
  db: Db;
  config: { publicUrl: string | null; incidents: IncidentRules };
} & TacticSources;

const listedMax = 200;

const withLink = <I extends Incident>(incident: I, publicUrl: string | null): I => ({
  ...incident,
  url: incident.url === null ? null : toPublicLink(publicUrl, incident.url),
});

/** Returns a page of incidents. */
export async function getIncidents(
  { db, config }: ReadIncidentsDeps,
  { orgId }: Caller,
  { state, severity, owner, entity, q, sort = 'latest', limit, cursor }: IncidentFilter,
): Promise<IncidentList> {
  const request = readPageRequest(limit === undefined ? {} : { limit });
  const after = cursor === undefined ? null : decodeSortCursor(cursor, sort);
  if (after === undefined || (after && Number.isNaN(Number(after.value)))) throw invalidCursor();
  const rows = await inOrg(db, orgId, async (tx) => {
    const entityKeys = entity === undefined ? undefined : await listKeys(tx, orgId, entity);
    return listIncidents(tx, orgId, { state, severity, owner, q, sort, entityKeys, after }, request.limit);
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

/** Returns an incident with what happened and why its hits belong together. The ID can be that of one that became part of it. */
export function getIncident(deps: ReadIncidentsDeps, { orgId }: Caller, id: string): Promise<IncidentDetail> {
  const { publicUrl, incidents: rules } = deps.config;
  return inOrg(deps.db, orgId, async (tx) => {
    const row = await findIncident(tx, orgId, id);
    if (!row) throw appError('not_found', `Incident ${id} not found.`);
    const hits = await listStageHits(tx, orgId, row.id);
    const reasons = await listReasons(tx, orgId, { incidentId: row.id, othersMax: rules.othersMax, limit: listedMax });
    const links = await listLinks(tx, orgId, row.id, listedMax);
    return {
      ...withLink(toIncident(row), publicUrl),
      stages: buildStages(
        hits.map((hit) => ({ techniques: techniquesOfHit(hit), from: hit.fromAt, to: hit.toAt })),
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
      links: links.map((link) => ({ ...link, at: link.at.toISOString() })),
    };
  });
}

/** Returns a page of the comments on an incident and those that became part of it, newest first. */
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
  return { comments: page.map(({ at, ...comment }) => ({ ...comment, at: at.toISOString() })), nextCursor };
}

/** Returns a page of what happened in an incident: hits, comments, changes and statuses of its hits, latest first. */
export async function getIncidentTimeline(
  { db }: { db: Db },
  { orgId }: Caller,
  id: string,
  query: PageQuery,
): Promise<IncidentTimeline> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, orgId, async (tx) => {
    const incident = await findIncident(tx, orgId, id);
    if (!incident) throw appError('not_found', `Incident ${id} not found.`);
    return listTimeline(tx, orgId, incident.id, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, ({ at, id }) => ({ at, id }));
  const entries = page.map(({ fields, at, lastAt, ...entry }) => ({
    ...entry,
    at: at.toISOString(),
    lastAt: lastAt && lastAt.toISOString(),
    fields: JSON.parse(fields) as RecordChange['fields'],
  }));
  return { entries, nextCursor };
}
