import { isDeepStrictEqual } from 'node:util';
import { asDryRun, inOrg } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import { startSlices } from '../../../platform/lib/concurrency/slices.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { toFileFields, toUpdateBody, withoutTests, type FileFields } from '../../as-code/file-fields.ts';
import { prepareDetection, storeNewDetection } from '../../detections/create-detection.ts';
import type { ImportProgress, ImportResult, ImportSigma } from '../../detections/bulk/bulk.schema.ts';
import { findAgent } from '../../detections/detection-views.store.ts';
import type { CreateDetection, UpdateDetection } from '../../detections/record/detection-input.schema.ts';
import { toRecord } from '../../detections/record/detection-record.ts';
import { updateDetection, type UpdateDetectionDeps } from '../../detections/updates/update-detection.ts';
import { mergeVersions } from '../../library/update-library.ts';
import type { ConvertedRule } from '../convert/convert-rules.ts';
import type { RuleQuery } from '../dialects/dialect.ts';
import type { CorrelationRule, DetectionRule } from '../model/rule.ts';
import { convertForTarget, type ConvertDeps } from '../requests/convert-request.ts';
import { toDetectionFields } from './detection-fields.ts';
import {
  findImportedDetection,
  listImports,
  lockImports,
  storeImport,
  type SigmaImport,
} from './sigma-imports.store.ts';

export type ImportSigmaDeps = ConvertDeps & UpdateDetectionDeps;
type Request = Parameters<ImportSigma>[1];
type Result = ImportResult['results'][number];

/**
 * Makes a detection of each rule that can be converted, in a transaction of its own, and updates those of rules that changed. Fields that
 * the organization edited keep their value and are reported. Rules that are no longer sent are proposed for deletion if the request has all rules.
 */
export async function importSigma(
  deps: ImportSigmaDeps,
  caller: Caller,
  { dryRun = false, enable = false, complete, ...request }: Request,
  report: (progress: ImportProgress) => void = () => undefined,
): Promise<ImportResult> {
  const converted = await convertForTarget(deps, caller.orgId, request, () =>
    report({ phase: 'converting', rulesDone: 0, rulesTotal: null }),
  );
  const importDeps = dryRun ? { ...deps, db: asDryRun(deps.db) } : deps;
  const imports = await inOrg(deps.db, caller.orgId, (tx) => listImports(tx, caller.orgId));
  const context: Context = { imports, connectionId: toConnectionId(request.target), enable, dryRun };
  const results: Result[] = [];
  const nextSlice = startSlices();
  for (const [index, rule] of converted.entries()) {
    if (index % rulesPerReport === 0) report({ phase: 'storing', rulesDone: index, rulesTotal: converted.length });
    const result = await importOne(importDeps, caller, rule, context);
    if (result) results.push(result);
    // A rule that is refused waits for nothing.
    const pause = nextSlice();
    if (pause) await pause;
  }
  const sent = new Set(converted.map((rule) => ruleIdOf(rule)));
  const missing = [...imports.values()].filter(({ ruleId }) => !sent.has(ruleId));
  // One file of many says nothing about the others.
  const isComplete = complete ?? missing.length <= imports.size / 2;
  const proposedDeletions = (isComplete ? missing : []).map(({ ruleId, detectionId, fields }) => ({
    ruleId,
    id: detectionId,
    name: String(fields['name']),
  }));
  return { dryRun, results, proposedDeletions };
}

const rulesPerReport = 25;

type Context = {
  imports: ReadonlyMap<string, SigmaImport>;
  connectionId: string | null;
  enable: boolean;
  dryRun: boolean;
};

const toConnectionId = (target: string | undefined): string | null =>
  target === undefined || target === 'local' ? null : target;

/** A rule without an id is identified by its title. */
const ruleIdOf = ({ result: { id, title } }: ConvertedRule): string => id ?? `title:${title}`;

/** Filters and the parts of correlation rules are no detections of their own. */
async function importOne(
  deps: ImportSigmaDeps,
  caller: Caller,
  rule: ConvertedRule,
  context: Context,
): Promise<Result | undefined> {
  const { document, result, entity, isPart } = rule;
  const ruleId = ruleIdOf(rule);
  const failed = (code: string, detail: string): Result => ({
    ruleId,
    id: null,
    name: result.title,
    outcome: 'failed',
    code,
    detail,
    kept: [],
  });
  if (result.status !== 'converted') {
    const detail = result.errors.map(({ line, message }) => `line ${line}: ${message}`).join('; ');
    return failed(result.status, detail);
  }
  const ruleQuery = context.connectionId === null ? rule.ruleQuery : null;
  if (isPart || result.query === null || document.kind === 'filter' || document.kind === 'invalid') return undefined;
  const known = context.imports.get(ruleId);
  try {
    const fields = toDetectionFields(
      document,
      { query: result.query, entity, connectionId: context.connectionId },
      known ? known.fields['enabled'] !== false : context.enable,
    );
    if (known) return await updateOne(deps, caller, { known, fields, document, ruleQuery });
    return await createOne(deps, caller, {
      ruleId,
      fields,
      document,
      ruleQuery,
      dryRun: context.dryRun,
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return failed(error.code, error.errors?.[0]?.detail ?? error.message);
  }
}

type Rule = { fields: FileFields; document: DetectionRule | CorrelationRule; ruleQuery: RuleQuery | null };

async function createOne(
  deps: ImportSigmaDeps,
  caller: Caller,
  { ruleId, fields, document, ruleQuery, dryRun }: Rule & { ruleId: string; dryRun: boolean },
): Promise<Result> {
  const prepared = await prepareDetection(deps, caller, withoutTests(fields) as CreateDetection);
  const { agent } = prepared;
  return inOrg(deps.db, caller.orgId, async (tx): Promise<Result> => {
    await lockImports(tx, caller.orgId);
    const known = await findImportedDetection(tx, caller.orgId, ruleId);
    const base = { ruleId, name: agent.name, code: null, detail: null, kept: [] };
    if (known !== undefined) return { ...base, id: known, outcome: 'unchanged' };
    await storeNewDetection(tx, caller, prepared);
    await storeImport(
      tx,
      caller.orgId,
      { ruleId, detectionId: agent.id, modified: document.modified, fields, ruleQuery },
      agent.updated_at,
    );
    // A dry run rolls the detection back.
    return { ...base, id: dryRun ? null : agent.id, outcome: 'created' };
  });
}

async function updateOne(
  deps: ImportSigmaDeps,
  caller: Caller,
  { known, fields, document, ruleQuery }: Rule & { known: SigmaImport },
): Promise<Result> {
  const { ruleId, detectionId: id, modified } = known;
  const base = { ruleId, id, name: document.title, code: null, detail: null };
  if (modified !== null && (document.modified ?? '') < modified)
    return {
      ...base,
      outcome: 'unchanged',
      detail: `The rule of ${document.modified ?? 'no date'} is older than the imported one of ${modified}.`,
      kept: [],
    };
  const agent = await inOrg(deps.db, caller.orgId, (tx) =>
    findAgent(tx, { orgId: caller.orgId, now: deps.clock() }, id),
  );
  if (!agent) return { ...base, outcome: 'unchanged', kept: [] };
  const current = toFileFields(toRecord(agent), { tests: [], localQuery: null });
  const { changes, kept } = mergeVersions(known.fields, fields, current);
  const next: FileFields = { ...current, ...Object.fromEntries(changes.map(({ field, after }) => [field, after])) };
  const input = toUpdateBody(changes, next) as UpdateDetection;
  if (Object.keys(input).length > 0) await updateDetection(deps, caller, { id, input });
  const stored = { ...known, modified: document.modified, fields };
  if (!isDeepStrictEqual(stored, known))
    await inOrg(deps.db, caller.orgId, (tx) => storeImport(tx, caller.orgId, { ...stored, ruleQuery }, deps.clock()));
  return { ...base, outcome: changes.length > 0 ? 'updated' : 'unchanged', kept };
}
