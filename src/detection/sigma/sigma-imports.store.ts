import { createHash } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { RuleQuery } from '../siem/dialects/dialect.ts';
import type { FileFields } from '../managed/file-fields.ts';

/** A rule that an organization has imported. `fields` are those that the import gave the detection last. `sourceId`: the rule source that it came from. */
export type SigmaImport = {
  ruleId: string;
  detectionId: string;
  sourceId: string | null;
  modified: string | null;
  fields: FileFields;
};

/** The author and license of a rule. If it states none, `author` is empty and `license` is null. */
export type RuleOrigin = { author: string; license: string | null };

/** Returns the imported rules whose detections are not deleted, by rule id. */
export async function listImports(tx: Tx, orgId: OrgId): Promise<Map<string, SigmaImport>> {
  const rows = await queryRows<Omit<SigmaImport, 'fields'> & { fields: string }>(tx)`
      select i.rule_id as "ruleId", i.detection_id as "detectionId", i.rule_source_id as "sourceId", i.modified, i.fields
      from sigma_imports i join agents a on a.organization_id = i.organization_id and a.id = i.detection_id
      where i.organization_id = ${orgId} and a.deleted_at is null order by i.rule_id`;
  return new Map(rows.map((row) => [row.ruleId, { ...row, fields: JSON.parse(row.fields) as FileFields }]));
}

/** Returns the detections that imported rules became and that are not deleted, by rule id. */
export async function findImportedDetections(
  tx: Tx,
  orgId: OrgId,
  ruleIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await queryRows<{ ruleId: string; detectionId: string }>(tx)`
      select i.rule_id as "ruleId", i.detection_id as "detectionId"
      from sigma_imports i join agents a on a.organization_id = i.organization_id and a.id = i.detection_id
      where i.organization_id = ${orgId} and i.rule_id = any(${ruleIds}::text[]) and a.deleted_at is null`;
  return new Map(rows.map(({ ruleId, detectionId }) => [ruleId, detectionId]));
}

/** Returns the statement that stores what the import gave a detection, replacing an earlier detection of the same rule that was deleted. */
export const storeImportSql = (
  orgId: OrgId,
  one: SigmaImport & RuleOrigin & { ruleQuery: RuleQuery | null },
  now: Date,
): RawBuilder<unknown> => sql`
    insert into sigma_imports (organization_id, rule_id, detection_id, rule_source_id, author, license, modified, fields, dataset, query_digest, rule_query, updated_at)
    values (${orgId}, ${one.ruleId}, ${one.detectionId}, ${one.sourceId}, ${one.author}, ${one.license}, ${one.modified}, ${JSON.stringify(one.fields)},
      ${one.ruleQuery && one.ruleQuery.table}, ${one.ruleQuery && digestQuery(String(one.fields['detectionQuery']))},
      ${one.ruleQuery && JSON.stringify(one.ruleQuery)}, ${now})
    on conflict (organization_id, rule_id) do update set detection_id = excluded.detection_id,
      rule_source_id = coalesce(sigma_imports.rule_source_id, excluded.rule_source_id), author = excluded.author,
      license = excluded.license, modified = excluded.modified,
      fields = excluded.fields, dataset = excluded.dataset,
      query_digest = excluded.query_digest, rule_query = excluded.rule_query, updated_at = excluded.updated_at`;

/** Returns the datasets that the scheduled rules of the embedded log store read, by the digest of their query. */
export async function listRuleDatasets(tx: Tx, orgId: OrgId): Promise<Map<string, string>> {
  const rows = await queryRows<{ digest: string; dataset: string }>(tx)`
    select i.query_digest as digest, i.dataset
    from sigma_imports i join schedules s on s.organization_id = i.organization_id and s.detection_id = i.detection_id
    where i.organization_id = ${orgId} and s.active and i.dataset is not null`;
  return new Map(rows.map(({ digest, dataset }) => [digest, dataset]));
}

/** Returns what the queries of a dataset's scheduled rules were written from, by the digest of the query. `digests`: of these queries only. */
export async function listRuleQueries(
  tx: Tx,
  orgId: OrgId,
  dataset: string,
  digests?: readonly string[],
): Promise<Map<string, RuleQuery>> {
  const rows = await queryRows<{ digest: string; ruleQuery: string }>(tx)`
    select i.query_digest as digest, i.rule_query as "ruleQuery"
    from sigma_imports i join schedules s on s.organization_id = i.organization_id and s.detection_id = i.detection_id
    where i.organization_id = ${orgId} and s.active and i.dataset = ${dataset}
      and (${digests === undefined} or i.query_digest = any(${digests ?? []}::text[])) order by i.rule_id`;
  return new Map(rows.map(({ digest, ruleQuery }) => [digest, JSON.parse(ruleQuery) as RuleQuery]));
}

/** Returns the digest that identifies the text of a query. */
export const digestQuery = (query: string): string => createHash('sha256').update(query).digest('hex');
