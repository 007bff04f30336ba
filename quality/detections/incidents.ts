import { openSampleEngine } from '../../src/demo/sample-engine.ts';
import { findMaxSeverity, type Candidate } from '../../src/detection/analysis/candidate.ts';
import { nameEntity, toOwnNames } from '../../src/detection/entities/entity-names.ts';
import {
  extractConnections,
  listSeenSpans,
  toEntityKey,
  type NameOf,
} from '../../src/detection/incidents/connections.ts';
import { everySeverity, joinHits, type JoinHit, type JoinRules } from '../../src/detection/incidents/join-hits.ts';
import { riskPoints } from '../../src/detection/hits/entity-risk.ts';
import { computeAnalystConfidence } from '../../src/detection/verdicts/analyst/analyst.ts';
import type { QualityFigure } from '../figures.ts';
import { listShipped } from './noise.ts';
import { readCloudTrail } from './noise-recorded.ts';
import { readHours, replayHours } from './noise-replay.ts';
import { dayMs, hourMs } from './scenario-detections.ts';
import { isAlarmOf, replayScenarios, type Alarm, type Wanted } from './scenarios.ts';

const rules: JoinRules = {
  spanMs: everySeverity(48),
  othersMax: 3,
  severityMin: 'medium',
  risk: { halfLifeMs: 7 * dayMs, threshold: 100 },
};

const own = toOwnNames([]);
const nameOf: NameOf = (raw) => nameEntity(raw, own);

type RaisedAlarm = Candidate & { detection: { name: string }; from: number; to: number };
type Hit<A extends RaisedAlarm = Alarm> = JoinHit & { alarms: A[]; entityKey: string };

/**
 * Joins the candidates of the scenarios to incidents, and compares them with the attacks that are known to be in them. Every candidate counts as a
 * hit, of any severity, since a model may raise each.
 */
export async function measureIncidents(verbose: boolean): Promise<QualityFigure[]> {
  const { wanted, alarms } = replayScenarios();
  const hits = toHits([...alarms.values()].flat());
  const incidents = joinHits(hits, rules).map(({ hitIds }) => new Set(hitIds));
  const attacks = groupAttacks(wanted);
  const attackOf = (hit: Hit): string | undefined =>
    [...attacks].find(([, list]) => hit.alarms.some((alarm) => list.some((attack) => shows(alarm, attack))))?.[0];
  const byAttack = Map.groupBy(hits, attackOf);
  const found = [...attacks.keys()].flatMap((name) => {
    const own = byAttack.get(name) ?? [];
    const pieces = new Set(own.map(({ id }) => incidents.findIndex((ids) => ids.has(id)) + 1 || id));
    return own.length === 0 ? [] : [{ name, hits: own.length, pieces: pieces.size }];
  });
  const whole = found.filter(({ pieces }) => pieces === 1);
  const benign = byAttack.get(undefined) ?? [];
  const alone = benign.filter(({ id }) => !incidents.some((ids) => ids.has(id)));
  const mixed = incidents.filter(
    (ids) => new Set(hits.filter(({ id }) => ids.has(id)).flatMap((hit) => attackOf(hit) ?? [])).size > 1,
  );
  if (verbose) {
    for (const { name, hits: count, pieces } of found) console.log(`${name}: ${count} hits in ${pieces}`);
    for (const ids of incidents) {
      const members = hits.filter(({ id }) => ids.has(id));
      if (members.every((hit) => attackOf(hit) === undefined))
        console.log('BENIGN', members.map(({ id }) => id).join(' | '));
    }
  }
  return [
    {
      name: 'attacks with all hits in one incident, or with one hit',
      measured: `${whole.length} of ${found.length} (${attacks.size - found.length} without a hit)`,
      target: String(found.length),
      isMet: whole.length === found.length,
    },
    { name: 'incidents that mix attacks', measured: String(mixed.length), target: '0', isMet: mixed.length === 0 },
    {
      name: 'hits of no attack that join none',
      measured: `${alone.length} of ${benign.length} (${((100 * alone.length) / benign.length).toFixed(1)} %)`,
      target: '≥ 95 %',
      isMet: alone.length >= 0.95 * benign.length,
    },
    await measureCloudTrail(verbose),
  ];
}

/** Runs every shipped detection of CloudTrail on a recorded attack on one account, and joins what they find. */
async function measureCloudTrail(verbose: boolean): Promise<QualityFigure> {
  const events = readCloudTrail();
  const engine = await openSampleEngine(events.map((event) => ({ dataset: 'cloudtrail', event })));
  const times = events.map((event) => Date.parse(String(event['eventTime'])));
  const end = Math.ceil((Math.max(...times) + 1) / hourMs) * hourMs;
  const hours = Math.ceil((end - Math.min(...times)) / hourMs);
  const rows = await readHours(engine, listShipped(new Set(['cloudtrail'])), { end, hours });
  engine.close();
  const hits = toHits(
    [...rows].flatMap(([detection, windows]) =>
      replayHours(detection, windows, 0).flatMap(({ from, candidates }) =>
        candidates.map((one) => ({ ...one, detection, from: from.getTime(), to: from.getTime() + hourMs })),
      ),
    ),
  );
  const incidents = joinHits(hits, rules).toSorted((a, b) => b.hitIds.length - a.hitIds.length);
  const joined = new Set(incidents.flatMap(({ hitIds }) => hitIds));
  if (verbose) {
    for (const { hitIds } of incidents) console.log('CLOUDTRAIL', hitIds.join(' | '));
    for (const { id } of hits) if (!joined.has(id)) console.log('CLOUDTRAIL alone', id);
  }
  return {
    name: 'recorded attack on an AWS account: hits of shipped detections in one incident',
    measured: `${incidents[0]?.hitIds.length ?? 0} of ${hits.length} (${incidents.length} incidents, ${hits.length - joined.size} alone)`,
  };
}

/** A victim shows the address of an attack in another role than that of its entity. */
const shows = (alarm: Alarm, attack: Wanted): boolean =>
  [alarm.entity, ...alarm.rows.flatMap(({ fields }) => Object.values(fields))].some((entity) =>
    isAlarmOf({ ...alarm, entity }, attack),
  );

/** An attack can be listed once for each of its entities, with one time. */
const groupAttacks = (wanted: readonly Wanted[]): Map<string, Wanted[]> =>
  Map.groupBy(wanted, ({ kind, entity, at }) => (kind.startsWith('spray') ? `spray ${at}` : `${kind} ${entity}`));

/** Makes a hit of the candidates of a detection with the same entity and kind, as the service does. */
function toHits<A extends RaisedAlarm>(alarms: readonly A[]): Hit<A>[] {
  const grouped = Map.groupBy(alarms, ({ detection, entity, kindKey }) => `${detection.name}: ${entity} ${kindKey}`);
  const hits = [...grouped].map(([id, list]) => {
    const [first] = list.toSorted((a, b) => a.from - b.from);
    const { entity, entityType, rows, from, to } = first!;
    const severity = findMaxSeverity(list.map((alarm) => alarm.severity))!;
    const confidence = computeAnalystConfidence(first!);
    const lastSeenAt = new Date(Math.max(...list.map((alarm) => alarm.to)));
    return {
      id,
      alarms: list,
      severity,
      points: riskPoints({ severity, confidence, status: 'open', truePositives: 0, reviews: 0 }),
      seen: listSeenSpans({ rows, windowFrom: new Date(from), windowTo: new Date(to), lastSeenAt }),
      keys: extractConnections({ entity, entityType, rows }, nameOf).map(({ key }) => key),
      entityKey: toEntityKey({ entity, entityType, rows }, nameOf),
    };
  });
  return hits.map(({ keys, ...hit }) => {
    const values = keys.map((key) => ({ key, others: countOthers(hits, hit, key) }));
    const own = values.find(({ key }) => key === hit.entityKey);
    const isSpecific = own !== undefined && own.others <= rules.othersMax;
    const at = Math.max(...hit.seen.map(({ to }) => to));
    return { ...hit, values, risk: isSpecific ? { key: hit.entityKey, at, points: hit.points } : null };
  });
}

type Counted = Pick<Hit, 'seen' | 'entityKey'> & { keys: string[] };

/** Counts the other entities that had a value in an earlier hit, like the service. */
function countOthers(
  hits: readonly Counted[],
  { seen, entityKey }: Pick<Hit, 'seen' | 'entityKey'>,
  key: string,
): number {
  const before = Math.min(...seen.map(({ from }) => from)) - 48 * hourMs;
  const earlier = hits.filter(
    (hit) => hit.keys.includes(key) && Math.min(...hit.seen.map(({ from }) => from)) < before,
  );
  return new Set(earlier.map((hit) => hit.entityKey).filter((other) => other !== entityKey && other !== key)).size;
}
