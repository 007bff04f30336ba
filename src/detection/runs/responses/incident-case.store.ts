import type { z } from 'zod';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { type Candidate, incidentType, type RenderedRow, severities, type Severity } from '../../analysis/candidate.ts';
import type { Observation } from '../../verdicts/observation.ts';
import type { Claims } from '../../verdicts/verdicts.schema.ts';

/** A hit of an incident. `rows` and `observations` are JSON text. */
type CaseHitRow = {
  id: string;
  detection: string;
  severity: Severity;
  status: string;
  rows: string;
  observations: string;
};

const hitsMax = 100;
const rowsMax = 300;

type CaseIncidentRow = { id: string; title: string; severity: Severity; firstAt: Date; lastAt: Date };

/** Returns an incident, or the one that it was merged into. Undefined if it has no hits any more. */
export const findCaseIncident = (tx: Tx, orgId: OrgId, incidentId: string): Promise<CaseIncidentRow | undefined> =>
  queryRow<CaseIncidentRow>(tx)`
      select i.id, i.title, i.severity, i.first_at as "firstAt", i.last_at as "lastAt" from incidents c
        join incidents i on i.organization_id = c.organization_id and i.id = coalesce(c.merged_into, c.id)
      where c.organization_id = ${orgId} and c.id = ${incidentId}
        and exists (select from incident_hits h where h.organization_id = i.organization_id and h.incident_id = i.id)`;

/**
 * Returns an incident as the case of a response agent: rows of its most severe hits, with those of the observations that their verdicts cite. IDs of rows
 * say where they are from, so that `findCitedRow` finds them again. Undefined if the incident has no hits any more.
 */
export async function readIncidentCase(tx: Tx, orgId: OrgId, incidentId: string): Promise<Candidate | undefined> {
  const incident = await findCaseIncident(tx, orgId, incidentId);
  if (!incident) return undefined;
  const hits = await queryRows<CaseHitRow>(tx)`
      select h.id, a.name as detection, h.severity, h.status, h.rows, h.observations
      from incident_hits i join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
        join agents a on a.organization_id = h.organization_id and a.id = h.detection_id
      where i.organization_id = ${orgId} and i.incident_id = ${incident.id}
      order by array_position(${[...severities]}::text[], h.severity) desc, h.first_seen_at, h.id limit ${hitsMax}`;
  if (hits.length === 0) return undefined;
  return {
    entity: incident.title.slice(0, 500),
    entityType: incidentType,
    kind: 'custom',
    kindKey: '',
    severity: incident.severity,
    facts: {
      windowFrom: incident.firstAt.toISOString(),
      windowTo: incident.lastAt.toISOString(),
      ...Object.fromEntries(
        hits.map(({ id, detection, severity, status }) => [hitFact(id), `${detection}, ${severity}, ${status}`]),
      ),
    },
    rows: takeInTurn(hits.map(listRows)),
  };
}

/** The random part of an ID, which is unique among the hits of an incident and short enough for a model to copy. */
const toShortId = (hitId: string): string => hitId.slice(-12);
const hitFact = (hitId: string): string => `hit ${toShortId(hitId)}`;

function listRows({ id, rows, observations }: CaseHitRow): RenderedRow[] {
  const found = (JSON.parse(observations) as Observation[]).filter(({ source }) => source === 'events');
  const own = { id: 'rows', rows: JSON.parse(rows) as RenderedRow[], columns: null };
  return [own, ...found].flatMap(({ id: observation, rows: list, columns }) => {
    const toCaseId = (rowId: string): string => `${toShortId(id)}/${observation}/${rowId}`;
    // A column that the query of an investigation made up proves nothing.
    const isShown = (field: string): boolean =>
      columns?.some(({ name, kind }) => name === field && kind !== 'other') ?? true;
    return list.map(({ rowId, time, fields }) => ({
      rowId: toCaseId(rowId),
      time,
      fields: Object.fromEntries(Object.entries(fields).filter(([field]) => isShown(field))),
    }));
  });
}

/** Returns the first row of every hit, then the second, so that many rows of one hit leave no other out. */
function takeInTurn(lists: readonly RenderedRow[][]): RenderedRow[] {
  const longest = Math.max(...lists.map((rows) => rows.length));
  return Array.from({ length: longest }, (_, n) => lists.flatMap((rows) => rows[n] ?? []))
    .flat()
    .slice(0, rowsMax);
}

/** A citation as records have it: only the keys of its kind are set. */
type Cite = z.infer<typeof Claims>[number]['cites'][number];

/**
 * Returns what a citation of such a case refers to: a row of an observation of a hit, a hit, or a note or list as it is. Undefined for one that refers to
 * none of the hits.
 */
export function resolveCaseCitation(cite: Cite, hitIds: readonly string[]): Cite | undefined {
  const findHit = (isMeant: (id: string) => boolean): { hit: string } | undefined => {
    const id = hitIds.find(isMeant);
    return id === undefined ? undefined : { hit: id };
  };
  if (cite.fact !== undefined) return findHit((id) => hitFact(id) === cite.fact);
  if (cite.rowId === undefined) return cite.note !== undefined || cite.list !== undefined ? cite : undefined;
  const [, short, observation, rowId] = /^([^/]+)\/([^/]+)\/(.+)$/s.exec(cite.rowId) ?? [];
  const hit = findHit((id) => toShortId(id) === short);
  return hit && { ...cite, ...hit, observation: observation!, rowId: rowId! };
}

/** A completed run about a whole incident. `entities` is JSON text. */
export type IncidentRunRow = {
  runId: string;
  agentId: string;
  agentName: string;
  model: string | null;
  startedAt: Date;
  finishedAt: Date;
  entities: string;
};

/** Returns the latest completed run about an incident as a whole. */
export const findIncidentRun = (tx: Tx, orgId: OrgId, incidentId: string): Promise<IncidentRunRow | undefined> =>
  queryRow<IncidentRunRow>(tx)`
      select r.id as "runId", r.detection_id as "agentId", a.name as "agentName", r.model, r.started_at as "startedAt", r.finished_at as "finishedAt", r.entities
      from runs r join agents a on a.organization_id = r.organization_id and a.id = r.detection_id
      where r.organization_id = ${orgId} and r.incident_id = ${incidentId} and r.status = 'completed'
      order by r.due_at desc, r.id desc limit 1`;
