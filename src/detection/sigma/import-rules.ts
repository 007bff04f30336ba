import { isDeepStrictEqual } from 'node:util';
import { asDryRun, inOrg, inOrgWithCachedPlans, type Tx } from '../../platform/db/db.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { startSlices } from '../../platform/lib/concurrency/slices.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toFileFields, toUpdateBody, withoutTests, type FileFields } from '../as-code/file-fields.ts';
import { prepareDetection, storeNewDetection } from '../detections/create-detection.ts';
import type { ImportProgress, ImportResult, ImportSigma } from '../detections/bulk/bulk.schema.ts';
import { findAgent } from '../detections/detection-views.store.ts';
import type { CreateDetection, UpdateDetection } from '../detections/record/detection-input.schema.ts';
import { toRecord } from '../detections/record/detection-record.ts';
import { updateDetection, type UpdateDetectionDeps } from '../detections/update-detection.ts';
import { mergeVersions } from '../library/update-library.ts';
import type { ConvertedRule } from './convert/convert-rules.ts';
import type { RuleQuery } from './dialects/dialect.ts';
import type { CorrelationRule, DetectionRule } from './rules/rule.ts';
import { convertForTarget, type ConvertDeps } from './convert-request.ts';
import { toDetectionFields } from './detection-fields.ts';
import {
  findImportedDetection,
  inSavepoint,
  listImports,
  lockImports,
  storeImport,
  type SigmaImport,
} from './sigma-imports.store.ts';

export type ImportSigmaDeps = ConvertDeps & UpdateDetectionDeps;
type Request = Parameters<ImportSigma>[1];
type Result = ImportResult['results'][number];

/**
 * Makes a detection of each rule that can be converted, 25 rules in a transaction, and updates those of rules that changed. Fields that
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
  for (let from = 0; from < converted.length; from += rulesPerBatch) {
    report({ phase: 'storing', rulesDone: from, rulesTotal: converted.length });
    const imported: ImportedRule[] = [];
    for (const rule of converted.slice(from, from + rulesPerBatch)) {
      imported.push(...(await importOne(importDeps, caller, rule, context)));
      // A rule that is refused waits for nothing.
      const pause = nextSlice();
      if (pause) await pause;
    }
    results.push(...(await storeBatch(importDeps, caller, imported)));
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

const rulesPerBatch = 25;

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

/** The result of a rule, or the function that stores its new detection and returns the result. */
type ImportedRule = Result | ((tx: Tx) => Promise<Result>);

/** Stores the new detections of a batch in one transaction, because a commit takes as long as the statements of a rule. */
async function storeBatch(
  { db }: ImportSigmaDeps,
  { orgId }: Caller,
  imported: readonly ImportedRule[],
): Promise<Result[]> {
  const store = async (tx: Tx | null): Promise<Result[]> => {
    const results: Result[] = [];
    for (const one of imported) results.push(typeof one === 'function' ? await one(tx!) : one);
    return results;
  };
  if (!imported.some((one) => typeof one === 'function')) return store(null);
  return inOrgWithCachedPlans(db, orgId, async (tx) => {
    await lockImports(tx, orgId);
    return store(tx);
  });
}

/** Updates the detection of a known rule. Returns nothing for filters and the parts of correlation rules, which are no detections of their own. */
async function importOne(
  deps: ImportSigmaDeps,
  caller: Caller,
  rule: ConvertedRule,
  context: Context,
): Promise<ImportedRule[]> {
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
    return [failed(result.status, detail)];
  }
  const ruleQuery = context.connectionId === null ? rule.ruleQuery : null;
  if (isPart || result.query === null || document.kind === 'filter' || document.kind === 'invalid') return [];
  const known = context.imports.get(ruleId);
  const toFailed = (error: unknown): Result => {
    if (!(error instanceof AppError)) throw error;
    return failed(error.code, error.errors?.[0]?.detail ?? error.message);
  };
  try {
    const fields = toDetectionFields(
      document,
      { query: result.query, entity, connectionId: context.connectionId },
      known ? known.fields['enabled'] !== false : context.enable,
    );
    if (known) return [await updateOne(deps, caller, { known, fields, document, ruleQuery })];
    const { dryRun } = context;
    const store = await prepareNew(deps, caller, { ruleId, fields, document, ruleQuery, dryRun });
    return [(tx) => inSavepoint(tx, store).catch(toFailed)];
  } catch (error) {
    return [toFailed(error)];
  }
}

type Rule = { fields: FileFields; document: DetectionRule | CorrelationRule; ruleQuery: RuleQuery | null };

/** Returns the function that stores the detection of a new rule. */
async function prepareNew(
  deps: ImportSigmaDeps,
  caller: Caller,
  { ruleId, fields, document, ruleQuery, dryRun }: Rule & { ruleId: string; dryRun: boolean },
): Promise<(tx: Tx) => Promise<Result>> {
  const prepared = await prepareDetection(deps, caller, withoutTests(fields) as CreateDetection);
  const { agent } = prepared;
  return async (tx) => {
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
  };
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
