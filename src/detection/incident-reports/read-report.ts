import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { findOrgName } from '../../platform/orgs/orgs.store.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { HitDetail } from '../hits/hits.schema.ts';
import { listHitsById } from '../hits/read-hits.store.ts';
import { toHit, withLink } from '../hits/read-hits.ts';
import { getIncident, getIncidentTimeline, type ReadIncidentsDeps } from '../incidents/read-incidents.ts';
import { composeStory } from './compose-story.ts';
import type { IncidentReport } from './incident-reports.schema.ts';

export type ReportDeps = ReadIncidentsDeps & { clock: Clock };

const hitsMax = 200;
const entriesMax = 500;

/** Returns the report on an incident: its story, its hits in order of time and its time line, with the numbers of what exceeds the limits. */
export async function getIncidentReport(deps: ReportDeps, caller: Caller, id: string): Promise<IncidentReport> {
  const incident = await getIncident(deps, caller, id);
  const ids = [...new Set(incident.stages.flatMap(({ hitIds }) => hitIds))].slice(0, hitsMax);
  const { hits, organization } = await inOrg(deps.db, caller.orgId, async (tx) => ({
    hits: (await listHitsById(tx, caller.orgId, ids)).map(({ rows: _rows, facts, ...row }) => ({
      ...withLink(toHit(row), deps.config.publicUrl),
      facts: JSON.parse(facts) as HitDetail['facts'],
    })),
    organization: (await findOrgName(tx, caller.orgId)) ?? '',
  }));
  const inOrder = hits.toSorted((a, b) => (a.firstSeenAt < b.firstSeenAt ? -1 : a.firstSeenAt > b.firstSeenAt ? 1 : 0));
  const { entries, isCut } = await listEntries(deps, caller, incident.id);
  return {
    createdAt: deps.clock().toISOString(),
    organization,
    incident,
    story: composeStory(incident, inOrder),
    hits: inOrder.map(({ facts: _facts, ...hit }) => hit),
    timeline: entries,
    leftOut: { hits: incident.hits - inOrder.length, isTimelineCut: isCut },
  };
}

async function listEntries(
  deps: { db: Db },
  caller: Caller,
  id: string,
): Promise<{ entries: IncidentReport['timeline']; isCut: boolean }> {
  const entries: IncidentReport['timeline'] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof getIncidentTimeline>> = await getIncidentTimeline(deps, caller, id, {
      limit: '100',
      ...(cursor === null ? {} : { cursor }),
    });
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null && entries.length < entriesMax);
  return { entries: entries.slice(0, entriesMax), isCut: cursor !== null || entries.length > entriesMax };
}
