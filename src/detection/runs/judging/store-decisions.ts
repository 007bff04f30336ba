import type { Tx } from '../../../platform/db/db.ts';
import { insertHits, insertOccurrences, type NewHit } from '../../hits/insert-hits.store.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { lockWaiting, markJudged, upsertSuppressions } from './candidates.store.ts';
import type { Decision } from './resolve-candidates.ts';
import { newHit } from './new-hit.ts';

/** Of which detection decisions are. `runId`: of the run that judged; null: none did, and what is found counts for the run that found it. */
type Of = { orgId: OrgId; detectionId: string; runId: string | null };

/** Stores hits, their occurrences, suppressions and the candidates' ends. Answers the decisions on candidates that still waited. */
export async function storeDecisions(tx: Tx, of: Of, decisions: Decision[], now: Date): Promise<Decision[]> {
  const waiting = await lockWaiting(
    tx,
    of.orgId,
    decisions.map((decision) => decision.candidate.id),
  );
  const mine = decisions.filter((decision) => waiting.has(decision.candidate.id));
  if (mine.length === 0) return [];
  const hits = new Map<string, NewHit>();
  // Of several arrivals at one hit the first makes it.
  for (const hit of mine.flatMap((decision) => hitsOf(of, decision))) if (!hits.has(hit.key)) hits.set(hit.key, hit);
  const ids = await insertHits(tx, of.orgId, [...hits.values()], now);
  const idOf = (decision: Decision): string | null => {
    if (decision.outcome === 'negative' || decision.outcome === 'excepted') return null;
    const byKey = decision.hitKey === null ? undefined : ids.get(decision.hitKey);
    return decision.outcome === 'occurrence' ? (decision.hitId ?? byKey ?? null) : (byKey ?? null);
  };
  const occurrences = mine.flatMap((decision) => {
    const hitId = idOf(decision);
    const { runId, windowFrom, windowTo } = decision.candidate;
    return hitId === null ? [] : [{ hitId, runId: of.runId ?? runId, windowFrom, seenAt: windowTo }];
  });
  await insertOccurrences(tx, of.orgId, occurrences, now);
  const suppressions = new Map(
    mine.flatMap((one) =>
      one.outcome === 'judged' && one.suppression
        ? [[one.suppression.key, { ...one.suppression, hitId: idOf(one) }] as const]
        : [],
    ),
  );
  await upsertSuppressions(tx, of, [...suppressions.values()]);
  await markJudged(
    tx,
    { ...of, now },
    mine.map((decision) => ({
      id: decision.candidate.id,
      state: decision.outcome === 'judged' ? 'judged' : 'suppressed',
      verdict: decision.outcome === 'judged' ? decision.verified.verdict : null,
      hitId: idOf(decision),
    })),
  );
  return mine;
}

function hitsOf({ detectionId }: Of, decision: Decision): NewHit[] {
  if (decision.outcome !== 'judged' || !decision.verified.triggered) return [];
  return [newHit(detectionId, decision.candidate, decision)];
}
