import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { readAllPages } from '../../platform/lib/page-request.ts';
import { findOrgName } from '../../platform/orgs/orgs.store.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { HitDetail } from '../hits/hits.schema.ts';
import { listHitsById, type EventHitRow } from '../hits/read-hits.store.ts';
import { toHit, withLink } from '../hits/read-hits.ts';
import { getIncident, getIncidentTimeline, type ReadIncidentsDeps } from '../incidents/read-incidents.ts';
import { composeStory } from './compose-story.ts';
import type { IncidentReport } from './incident-reports.schema.ts';

export type ReportDeps = ReadIncidentsDeps & { clock: Clock };

const hitsMax = 200;
const entriesMax = 500;

/**
 * Returns the report on an incident: its story, its hits in order of time and its time line, with the numbers of what exceeds the limits. `rows` are the
 * hits as they are stored, in the same order.
 */
export async function getIncidentReport(
  deps: ReportDeps,
  caller: Caller,
  id: string,
): Promise<{ report: IncidentReport; rows: EventHitRow[] }> {
  const incident = await getIncident(deps, caller, id);
  const ids = [...new Set(incident.stages.flatMap(({ hitIds }) => hitIds))].slice(0, hitsMax);
  const { found, organization } = await inOrg(deps.db, caller.orgId, async (tx) => ({
    found: await listHitsById(tx, caller.orgId, ids),
    organization: (await findOrgName(tx, caller.orgId)) ?? '',
  }));
  const rows = found.toSorted((a, b) => a.firstSeenAt.getTime() - b.firstSeenAt.getTime());
  const hits = rows.map(({ rows: _rows, facts, ...row }) => ({
    ...withLink(toHit(row), deps.config.publicUrl),
    facts: JSON.parse(facts) as HitDetail['facts'],
  }));
  const { entries, isCut } = await readAllPages(
    (query) => getIncidentTimeline(deps, caller, incident.id, query),
    entriesMax,
  );
  const report: IncidentReport = {
    createdAt: deps.clock().toISOString(),
    organization,
    incident,
    story: composeStory(incident, hits),
    hits: hits.map(({ facts: _facts, ...hit }) => hit),
    timeline: entries,
    leftOut: { hits: incident.hits - hits.length, isTimelineCut: isCut },
  };
  return { report, rows };
}
