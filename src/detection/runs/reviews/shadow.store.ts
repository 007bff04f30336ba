import { sql } from 'kysely';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Compared } from '../run-details.schema.ts';

type Ref = { orgId: OrgId; detectionId: string };
export type ShadowRow = { promptVersion: number | null; modelAlias: string | null; since: Date };

export function findShadow(tx: Tx, { orgId, detectionId }: Ref): Promise<ShadowRow | undefined> {
  return row(
    tx,
    sql<ShadowRow>`
      select prompt_version as "promptVersion", model_alias as "modelAlias", created_at as since from shadows
      where organization_id = ${orgId} and detection_id = ${detectionId}`,
  );
}

/** Sets the shadow in place of the one before, whose differences say nothing of it and go. */
export async function upsertShadow(tx: Tx, ref: Ref, { promptVersion, modelAlias, since }: ShadowRow): Promise<void> {
  const { orgId, detectionId } = ref;
  await sql`delete from shadow_verdicts where organization_id = ${orgId} and detection_id = ${detectionId}`.execute(tx);
  await sql`
    insert into shadows (organization_id, detection_id, prompt_version, model_alias, created_at)
    values (${orgId}, ${detectionId}, ${promptVersion}, ${modelAlias}, ${since})
    on conflict (organization_id, detection_id) do update set prompt_version = excluded.prompt_version,
      model_alias = excluded.model_alias, created_at = excluded.created_at`.execute(tx);
}

export async function deleteShadow(tx: Tx, { orgId, detectionId }: Ref): Promise<void> {
  await sql`delete from shadows where organization_id = ${orgId} and detection_id = ${detectionId}`.execute(tx);
}

export async function insertShadowVerdicts(
  tx: Tx,
  { orgId, detectionId, runId }: Ref & { runId: string },
  { compared, now }: { compared: Compared[]; now: Date },
): Promise<void> {
  for (const one of compared) {
    await sql`
      insert into shadow_verdicts (organization_id, candidate_id, detection_id, run_id, at, differs, compared)
      values (${orgId}, ${one.candidateId}, ${detectionId}, ${runId}, ${now}, ${one.differs}::text[], ${JSON.stringify(one)})
      on conflict do nothing`.execute(tx);
  }
}

export type Differences = {
  compared: number;
  differing: number;
  latest: { runId: string; at: Date; compared: string }[];
};

export async function readDifferences(tx: Tx, { orgId, detectionId }: Ref, limit: number): Promise<Differences> {
  const mine = sql`organization_id = ${orgId} and detection_id = ${detectionId}`;
  const counts = (await row(
    tx,
    sql<{ compared: number; differing: number }>`
      select count(*) as compared, count(*) filter (where differs <> '{}') as differing from shadow_verdicts where ${mine}`,
  ))!;
  const latest = await rows(
    tx,
    sql<{ runId: string; at: Date; compared: string }>`
      select run_id as "runId", at, compared from shadow_verdicts where ${mine} and differs <> '{}' order by at desc, candidate_id limit ${limit}`,
  );
  return { ...counts, latest };
}
