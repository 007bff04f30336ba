import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { VerdictComparison } from '../run-details.schema.ts';

export type ShadowRow = { promptVersion: number | null; modelAlias: string | null; since: Date };

export function findShadow(tx: Tx, { orgId, detectionId }: DetectionKey): Promise<ShadowRow | undefined> {
  return queryRow<ShadowRow>(tx)`
      select prompt_version as "promptVersion", model_alias as "modelAlias", created_at as since from shadows
      where organization_id = ${orgId} and detection_id = ${detectionId}`;
}

/** Sets the shadow of a detection and deletes the comparisons with the previous one. Its time moves strictly forward. */
export async function upsertShadow(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { promptVersion, modelAlias, since }: ShadowRow,
): Promise<void> {
  await sql`delete from shadow_verdicts where organization_id = ${orgId} and detection_id = ${detectionId}`.execute(tx);
  await sql`
    insert into shadows (organization_id, detection_id, prompt_version, model_alias, created_at)
    values (${orgId}, ${detectionId}, ${promptVersion}, ${modelAlias}, ${since})
    on conflict (organization_id, detection_id) do update set prompt_version = excluded.prompt_version,
      model_alias = excluded.model_alias, created_at = greatest(excluded.created_at, shadows.created_at + interval '1 millisecond')`.execute(
    tx,
  );
}

export async function deleteShadow(tx: Tx, { orgId, detectionId }: DetectionKey): Promise<void> {
  await sql`delete from shadows where organization_id = ${orgId} and detection_id = ${detectionId}`.execute(tx);
}

export async function insertShadowVerdicts(
  tx: Tx,
  { orgId, detectionId, runId }: DetectionKey & { runId: string },
  { compared, now }: { compared: VerdictComparison[]; now: Date },
): Promise<void> {
  for (const comparison of compared) {
    await sql`
      insert into shadow_verdicts (organization_id, candidate_id, detection_id, run_id, at, differs, compared)
      values (${orgId}, ${comparison.candidateId}, ${detectionId}, ${runId}, ${now}, ${comparison.differs}::text[],
        ${JSON.stringify(comparison)})
      on conflict do nothing`.execute(tx);
  }
}

/** `latest` lists comparisons that differ. Their `compared` is JSON text. */
export type ShadowDifferences = {
  compared: number;
  differing: number;
  latest: { runId: string; at: Date; compared: string }[];
};

export async function readShadowDifferences(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  limit: number,
): Promise<ShadowDifferences> {
  const ofDetection = sql`organization_id = ${orgId} and detection_id = ${detectionId}`;
  const counts = await queryRow<{ compared: number; differing: number }>(tx)`
      select count(*) as compared, count(*) filter (where differs <> '{}') as differing from shadow_verdicts where ${ofDetection}`;
  const latest = await queryRows<ShadowDifferences['latest'][number]>(tx)`
      select run_id as "runId", at, compared from shadow_verdicts where ${ofDetection} and differs <> '{}'
      order by at desc, candidate_id limit ${limit}`;
  return { ...counts!, latest };
}
