import { isSeverityAtLeast, severities, type Severity } from '../analysis/candidate.ts';

/** A time in which a hit was seen, in epoch milliseconds. */
export type SeenSpan = { from: number; to: number };

/** A value by which a hit can join others. `others` is the number of other entities that had it before the hit. */
export type JoinValue = { key: string; others: number };

/** A hit with what can connect it to others. */
export type JoinHit = { id: string; severity: Severity; seen: readonly SeenSpan[]; values: readonly JoinValue[] };

/**
 * How far hits of each severity reach, in milliseconds, how many others may have a value that is specific enough to join, and the severity that
 * at least one of the hits must have, because weak signs alone are no incident.
 */
export type JoinRules = { spanMs: Readonly<Record<Severity, number>>; othersMax: number; severityMin: Severity };

/** How hits join, and when incidents of each severity are due after they were created, in milliseconds. */
export type IncidentRules = JoinRules & { dueMs: Readonly<Record<Severity, number>> };

/** Hits that a value connects within the span. */
export type JoinReason = { key: string; hitIds: string[] };

/** Two hits or more that belong together, with every reason why. IDs and reasons are sorted. */
export type JoinedHits = { hitIds: string[]; reasons: JoinReason[] };

/**
 * Returns the connected components of hits that share a specific value within the span. A hit reaches half of its span before and after it was
 * seen, and two hits with the value join if their reaches touch. The result depends on the set of hits alone, not on their order. A hit without
 * company is in none, and so are hits of which none is severe enough.
 */
export function joinHits(hits: readonly JoinHit[], rules: JoinRules): JoinedHits[] {
  const clusters = listClusters(hits, rules);
  const parents = new Map(hits.map(({ id }) => [id, id]));
  for (const { hitIds } of clusters) for (const id of hitIds) unite(parents, hitIds[0]!, id);
  const byRoot = Map.groupBy(clusters, ({ hitIds }) => findRoot(parents, hitIds[0]!));
  const severe = new Set(
    hits.filter(({ severity }) => isSeverityAtLeast(severity, rules.severityMin)).map(({ id }) => id),
  );
  return [...byRoot.values()]
    .filter((reasons) => reasons.some(({ hitIds }) => hitIds.some((id) => severe.has(id))))
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

function findRoot(parents: Map<string, string>, id: string): string {
  let root = id;
  while (parents.get(root) !== root) root = parents.get(root)!;
  // Shortens the path, so that long chains stay quick.
  for (let at = id; at !== root;) {
    const next = parents.get(at)!;
    parents.set(at, root);
    at = next;
  }
  return root;
}

function unite(parents: Map<string, string>, a: string, b: string): void {
  parents.set(findRoot(parents, b), findRoot(parents, a));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Returns the same hours, in milliseconds, for every severity. */
export const everySeverity = (hours: number): Record<Severity, number> =>
  Object.fromEntries(severities.map((severity) => [severity, hours * 3_600_000])) as Record<Severity, number>;
