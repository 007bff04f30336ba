import type { RenderedRow, Severity } from '../../../src/detection/analysis/candidate.ts';
import { createDetection } from '../../../src/detection/detections/create-detection.ts';
import { insertHits, insertOccurrences, type NewHit } from '../../../src/detection/hits/write-hits.store.ts';
import { everySeverity } from '../../../src/detection/incidents/join-hits.ts';
import { placeWaitingHits, type PlaceHitsDeps } from '../../../src/detection/incidents/place-hits.ts';
import { createLogger } from '../../../src/platform/lib/logging/logger.ts';
import { operatorOf, type Caller } from '../../../src/platform/http/caller.ts';
import { inOrg, type Db } from '../../../src/platform/db/db.ts';
import { newOrgId } from '../database.ts';
import { selectIn, type SelectRows } from '../select-rows.ts';
import { hour, newDetectionInput } from './scripted-runs.ts';
import type { OrgId } from '../../../src/platform/lib/org-id.ts';

/** A hit to raise. `at` is in hours after the start of scripted runs, and its key is `name`. */
export type RaisedHit = {
  name: string;
  at: number;
  entity: string;
  entityType?: string;
  severity?: Severity;
  fields?: Record<string, string>;
  techniques?: string[];
};

export type RaisedHits = {
  orgId: OrgId;
  caller: Caller;
  deps: PlaceHitsDeps;
  detectionId: string;
  select: SelectRows;
  /** Stores hits as a run does. Returns their IDs in the same order. */
  raise: (hits: readonly RaisedHit[]) => Promise<string[]>;
  /** Places all hits that wait, at most `hitsMax` in a transaction. */
  place: (hitsMax?: number) => Promise<void>;
  /** Returns the names of the hits of each incident, sorted. */
  incidents: () => Promise<string[][]>;
};

/** Creates an organization with a detection, whose hits a test raises without runs. */
export async function startHits(db: Db, orgId?: OrgId): Promise<RaisedHits> {
  const org = orgId ?? (await newOrgId(db));
  const caller = operatorOf(org);
  const time = new Date(hour(0));
  const deps: PlaceHitsDeps = {
    db,
    clock: () => time,
    log: createLogger('error'),
    config: {
      incidents: {
        spanMs: everySeverity(48),
        othersMax: 3,
        severityMin: 'medium',
        dueMs: everySeverity(24),
        risk: { halfLifeMs: 7 * 86_400_000, threshold: 100 },
      },
    },
  };
  const { id: detectionId } = await createDetection({ db, clock: deps.clock } as never, caller, newDetectionInput);
  const select = selectIn(db, org);
  return {
    orgId: org,
    caller,
    deps,
    detectionId,
    select,
    raise: (hits) =>
      inOrg(db, org, async (tx) => {
        const newHits = hits.map((hit) => toNewHit(hit, detectionId));
        const ids = await insertHits(tx, org, newHits, time);
        const occurrences = newHits.map(({ key, windowFrom, windowTo }) => ({
          hitId: ids.get(key)!,
          runId: detectionId,
          windowFrom,
          seenAt: windowTo,
        }));
        await insertOccurrences(tx, org, occurrences, time);
        return newHits.map(({ key }) => ids.get(key)!);
      }),
    place: async (hitsMax) => {
      while (await placeWaitingHits(deps, hitsMax === undefined ? {} : { hitsMax }));
    },
    incidents: async () => {
      const rows = await select<{ names: string[] }>`
        select array_agg(h.key order by h.key) as names from incident_hits i
          join hits h on h.organization_id = i.organization_id and h.id = i.hit_id
        where i.incident_id is not null group by i.incident_id order by min(h.key)`;
      return rows.map(({ names }) => names);
    },
  };
}

function toNewHit(
  { name, at, entity, entityType = 'user', severity = 'medium', fields, techniques = [] }: RaisedHit,
  detectionId: string,
): NewHit {
  const row: RenderedRow = { rowId: 'r1', time: hour(at), fields: { user: entity, ...fields } };
  return {
    triggered: true,
    verdict: 'raise',
    entity,
    entityType,
    severity,
    confidence: 80,
    headline: `${entity} did ${name}`,
    summary: '',
    nextStep: '',
    claims: [],
    evidence: [],
    techniques,
    openQuestion: null,
    observations: [],
    key: name,
    detectionId,
    kind: 'custom',
    rows: [row],
    facts: {},
    judged: true,
    unjudgedReason: null,
    modelDisagrees: null,
    windowFrom: new Date(hour(Math.floor(at))),
    windowTo: new Date(hour(Math.floor(at) + 1)),
    late: true,
    arrivedAt: null,
  };
}
