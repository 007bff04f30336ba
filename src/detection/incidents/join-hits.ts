import { connectNodes } from '../../platform/lib/connected-components.ts';
import { isSeverityAtLeast, severities, type Severity } from '../analysis/candidate.ts';

/** A time in which a hit was seen, in epoch milliseconds. */
export type SeenSpan = { from: number; to: number };

/** A value by which a hit can join others. `others` is the number of other entities that had it before the hit. */
export type JoinValue = { key: string; others: number };

/** The points that a hit adds to the risk of its entity. `at` is when they begin to count, in epoch milliseconds. */
export type RiskPart = { key: string; at: number; points: number };

/** A hit with what can connect it to others. `risk` is null if its entity is one that many others have. */
export type JoinHit = {
  id: string;
  severity: Severity;
  seen: readonly SeenSpan[];
  values: readonly JoinValue[];
  risk: RiskPart | null;
};

/** When half of the points of a hit are gone, and how many an entity needs for an incident of its own. */
export type RiskRules = { halfLifeMs: number; threshold: number };

/**
 * How far hits of each severity reach, in milliseconds, how many others may have a value that is specific enough to join, and the severity that
 * at least one of the hits must have, because weak signs alone are no incident. Many of them are one by their risk.
 */
export type JoinRules = {
  spanMs: Readonly<Record<Severity, number>>;
  othersMax: number;
  severityMin: Severity;
  risk: RiskRules;
};

/** How hits join, and when incidents of each severity are due after they were created, in milliseconds. */
export type IncidentRules = JoinRules & { dueMs: Readonly<Record<Severity, number>> };

/** Hits that a value connects within the span, or by the risk that they add to it. */
export type JoinReason = { key: string; hitIds: string[]; risk?: ReachedRisk };

/** The highest risk that hits reached together, and when in epoch milliseconds. */
export type ReachedRisk = { score: number; at: number };

/** Two hits or more that belong together, with every reason why. IDs and reasons are sorted. */
export type JoinedHits = { hitIds: string[]; reasons: JoinReason[] };

/**
 * Returns the connected components of hits that share a specific value within the span, or that together reach the risk for an incident. A hit
 * reaches half of its span before and after it was seen, and two hits with the value join if their reaches touch. The result depends on the set of
 * hits alone, not on their order. A hit without company is in none, and so are hits of which none is severe enough and whose risk is too low.
 */
export function joinHits(hits: readonly JoinHit[], rules: JoinRules): JoinedHits[] {
  const risks = listRisks(
    hits.flatMap(({ id, risk }) => (risk ? [{ id, ...risk }] : [])),
    rules.risk,
  );
  const clusters: JoinReason[] = [...listClusters(hits, rules), ...risks];
  const componentOf = connectNodes(
    hits.map(({ id }) => id),
    clusters.flatMap(({ hitIds: [a, ...others] }) => others.map((b) => ({ a: a!, b }))),
  );
  const byComponent = Map.groupBy(clusters, ({ hitIds }) => componentOf.get(hitIds[0]!)!);
  const severe = new Set(
    hits.filter(({ severity }) => isSeverityAtLeast(severity, rules.severityMin)).map(({ id }) => id),
  );
  return [...byComponent.values()]
    .filter((reasons) => reasons.some(({ risk, hitIds }) => risk || hitIds.some((id) => severe.has(id))))
    .map((reasons) => ({
      hitIds: [...new Set(reasons.flatMap(({ hitIds }) => hitIds))].toSorted(),
      reasons: reasons.toSorted((a, b) => compare(a.key, b.key) || compare(a.hitIds[0]!, b.hitIds[0]!)),
    }))
    .toSorted((a, b) => compare(a.hitIds[0]!, b.hitIds[0]!));
}

type Reach = SeenSpan & { id: string };

/** Lists for each value the groups of two hits or more whose reaches overlap in a chain. */
function listClusters(hits: readonly JoinHit[], { spanMs, othersMax }: JoinRules): JoinReason[] {
  const reaches = new Map<string, Reach[]>();
  for (const { id, severity, seen, values } of hits) {
    const half = spanMs[severity] / 2;
    for (const { key, others } of values) {
      if (others > othersMax) continue;
      const list = reaches.get(key) ?? [];
      if (list.length === 0) reaches.set(key, list);
      for (const { from, to } of seen) list.push({ id, from: from - half, to: to + half });
    }
  }
  return [...reaches].flatMap(([key, list]) => {
    const groups: Set<string>[] = [];
    let end = -Infinity;
    for (const { id, from, to } of list.toSorted((a, b) => a.from - b.from)) {
      if (from > end) groups.push(new Set());
      groups.at(-1)!.add(id);
      end = Math.max(end, to);
    }
    return groups.filter(({ size }) => size > 1).map((ids) => ({ key, hitIds: [...ids].toSorted() }));
  });
}

/** Hits count for this many half-lives. After that, less than a quarter of their points remains. */
const riskHalfLives = 2;

/** Returns for how long before and after a hit others can reach a risk together with it. */
export const riskSpanMs = ({ halfLifeMs }: RiskRules): number => riskHalfLives * halfLifeMs;

/** Lists for each entity the groups of two hits or more whose points reached the threshold at the time of one of them. */
export function listRisks(
  parts: readonly (RiskPart & { id: string })[],
  rules: RiskRules,
): (JoinReason & { risk: ReachedRisk })[] {
  const left = (points: number, ms: number): number => points * 0.5 ** (ms / rules.halfLifeMs);
  return [...Map.groupBy(parts, ({ key }) => key)].flatMap(([key, list]) => {
    const sorted = list.toSorted((a, b) => a.at - b.at || compare(a.id, b.id));
    const groups: { first: number; last: number; risk: ReachedRisk }[] = [];
    let [first, score] = [0, 0];
    for (const [last, { at, points }] of sorted.entries()) {
      score = left(score, last === 0 ? 0 : at - sorted[last - 1]!.at) + points;
      for (; sorted[first]!.at < at - riskSpanMs(rules); first++)
        score -= left(sorted[first]!.points, at - sorted[first]!.at);
      // Floating-point sums are not exact.
      if (score < rules.threshold - 1e-6) continue;
      const group = groups.at(-1);
      if (!group || group.last < first) groups.push({ first, last, risk: { score, at } });
      else Object.assign(group, { last, risk: group.risk.score >= score ? group.risk : { score, at } });
    }
    return groups
      .filter((group) => group.last > group.first)
      .map((group) => ({
        key,
        hitIds: sorted
          .slice(group.first, group.last + 1)
          .map(({ id }) => id)
          .toSorted(),
        risk: group.risk,
      }));
  });
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Returns the same hours, in milliseconds, for every severity. */
export const everySeverity = (hours: number): Record<Severity, number> =>
  Object.fromEntries(severities.map((severity) => [severity, hours * 3_600_000])) as Record<Severity, number>;
