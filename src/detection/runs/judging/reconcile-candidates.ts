import { sql } from 'kysely';
import type { Candidate } from '../../analysis/candidate.ts';
import { rows, type Tx } from '../../../platform/db/db.ts';
import { hitKey } from '../../hits/hit-key.ts';
import { outdateHits } from '../../hits/outdate-hits.ts';
import type { Run } from '../run-types.ts';

type Old = {
  id: string;
  entity: string;
  entityType: string;
  kindKey: string;
  severity: string;
  hitId: string | null;
};

type Named = Pick<Old, 'entity' | 'entityType' | 'kindKey' | 'severity'>;

const nameOf = ({ entity, entityType, kindKey, severity }: Named): string =>
  JSON.stringify([entityType, entity, kindKey, severity]);

/**
 * Compares what a window gives now with what it gave before under the same definition: what it gives no more is outdated, with the
 * hits that stood on it alone. Answers the candidates that are new. Runs by hand moved no memory, so what they found is left out.
 */
export async function reconcileCandidates(
  tx: Tx,
  run: Run,
  { window, candidates, now }: { window: { from: Date; to: Date }; candidates: Candidate[]; now: Date },
): Promise<Candidate[]> {
  const old = await listOld(tx, run, window);
  const given = new Set(candidates.map(nameOf));
  const known = new Set(old.map(nameOf));
  const gone = old.filter((one) => !given.has(nameOf(one)));
  if (gone.length > 0) {
    await sql`update candidates set state = 'outdated' where organization_id = ${run.orgId} and id = any(${gone.map(({ id }) => id)}::uuid[])`.execute(
      tx,
    );
    const makers = gone.map((one) => hitKey(run.detectionId, one.entityType, one.entity, one.kindKey));
    const hitIds = [...new Set(gone.flatMap(({ hitId }) => hitId ?? []))];
    await outdateHits(tx, run, { hitIds, makers, windowFrom: window.from, now });
  }
  return candidates.filter((candidate) => !known.has(nameOf(candidate)));
}

function listOld(tx: Tx, run: Run, window: { from: Date }): Promise<Old[]> {
  return rows(
    tx,
    sql<Old>`
      select id, entity, entity_type as "entityType", kind_key as "kindKey", severity, hit_id as "hitId" from candidates
      where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and window_from = ${window.from}
        and generation = ${run.scope.generation} and trigger <> 'manual' and state <> 'outdated' for update`,
  );
}
