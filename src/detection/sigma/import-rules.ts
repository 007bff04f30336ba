import { isDeepStrictEqual } from 'node:util';
import { inOrg } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { ImportProgress, ImportResult, ImportSigma } from '../detections/bulk/bulk.schema.ts';
import type { UpdateDetectionDeps } from '../detections/update-detection.ts';
import { mergeVersions, parseFields, type FileFields } from '../managed/file-fields.ts';
import { syncDetections, syncStep, type Origin, type Synced, type SyncStep } from '../managed/sync-detections.ts';
import type { ConvertedRule } from './convert/convert-rules.ts';
import { convertForTarget, type ConvertDeps } from './convert/convert-request.ts';
import {
  findImportedDetections,
  listImports,
  storeImportSql,
  type RuleOrigin,
  type SigmaImport,
} from './sigma-imports.store.ts';
import { techniquesOf } from './convert/convert-rule.ts';
import type { CorrelationRule, DetectionRule } from './rules/rule.ts';

type Result = ImportResult['results'][number];

/** Converts rules and stores them as `storeRules` does. Rules that are no longer sent are proposed for deletion if the request has all rules. */
export async function importSigma(
  deps: ConvertDeps & UpdateDetectionDeps,
  caller: Caller,
  { dryRun = false, enable = false, continuous = true, complete, ...request }: Parameters<ImportSigma>[1],
  report: (progress: ImportProgress) => void = () => undefined,
): Promise<ImportResult> {
  const converted = await convertForTarget(deps, caller.orgId, request, () =>
    report({ phase: 'converting', rulesDone: 0, rulesTotal: null }),
  );
  const options = { connectionId: toConnectionId(request.target), enable, continuous, sourceId: null };
  const { results, imports, missing } = await storeRules(deps, caller, converted, {
    ...options,
    dryRun,
    onBatch: (rulesDone) => report({ phase: 'storing', rulesDone, rulesTotal: converted.length }),
  });
  // One file of many says nothing about the others.
  const isComplete = complete ?? missing.length <= imports / 2;
  const proposedDeletions = (isComplete ? missing : []).map(({ ruleId, detectionId, fields }) => ({
    ruleId,
    id: detectionId,
    name: String(fields['name']),
  }));
  return { dryRun, results, proposedDeletions };
}

/** The outcome of each rule, the number of rules that had been imported, and those of them that were not sent. */
export type StoredRules = { results: Result[]; imports: number; missing: SigmaImport[] };

/**
 * Makes a detection of each rule that can be converted, 25 rules in a transaction, and updates those of rules that changed. Fields that
 * the organization edited keep their value and are reported.
 */
export async function storeRules(
  deps: UpdateDetectionDeps,
  caller: Caller,
  converted: readonly ConvertedRule[],
  { dryRun, onBatch, ...options }: RuleOptions & { dryRun: boolean; onBatch?: (rulesDone: number) => void },
): Promise<StoredRules> {
  const { orgId } = caller;
  const imports = await inOrg(deps.db, orgId, (tx) => listImports(tx, orgId));
  const items = converted.map((rule) => ({ key: ruleIdOf(rule), rule, applied: imports.get(ruleIdOf(rule)) }));
  const synced = await syncDetections(deps, caller, openRules(orgId, options), {
    items,
    dryRun,
    batchSize: rulesPerBatch,
    ...(onBatch ? { onBatch } : {}),
  });
  const sent = new Set(items.map(({ key }) => key));
  const missing = [...imports.values()].filter(({ ruleId }) => !sent.has(ruleId));
  return { results: synced.flatMap((one) => toResults(one)), imports: imports.size, missing };
}

const rulesPerBatch = 25;

const toConnectionId = (target: string | undefined): string | null =>
  target === undefined || target === 'local' ? null : target;

/** A rule without an id is identified by its title. */
export const ruleIdOf = ({ result: { id, title } }: ConvertedRule): string => id ?? `title:${title}`;

type RuleItem = { key: string; rule: ConvertedRule; applied: SigmaImport | undefined };
/** `connectionId` is null for the embedded log store, and `sourceId` for rules that were sent. */
type RuleOptions = { connectionId: string | null; enable: boolean; continuous: boolean; sourceId: string | null };

const openRules = (orgId: OrgId, options: RuleOptions): Origin<RuleItem> => ({
  lock: `sigma ${orgId}`,
  // Rules have no test cases. Those of a detection are the organization's.
  hasTests: false,
  plan: (item, readCurrent) => planRule(item, options, readCurrent),
  find: (tx, ruleIds) => findImportedDetections(tx, orgId, ruleIds),
  storeSql: ({ key: ruleId, rule }, applied, now) => {
    const ruleQuery = options.connectionId === null ? rule.ruleQuery : null;
    const { sourceId } = options;
    return storeImportSql(orgId, { ...applied, ruleId, sourceId, ruleQuery, ...originOf(rule) }, now);
  },
});

const originOf = ({ document }: ConvertedRule): RuleOrigin & { modified: string | null } => {
  if (document.kind === 'invalid') return { author: '', license: null, modified: null };
  const { author, license, modified } = document;
  return { author, license, modified };
};

/** Returns whether a rule becomes a detection. Filters, and the parts of correlation rules, are no detections of their own. */
export const isDetection = (
  rule: ConvertedRule,
): rule is ConvertedRule & { document: DetectionRule | CorrelationRule } =>
  !rule.isPart && rule.document.kind !== 'filter' && rule.document.kind !== 'invalid';

/** Compares a rule with its import. */
async function planRule(
  { rule, applied }: RuleItem,
  { connectionId, enable, continuous }: RuleOptions,
  readCurrent: Parameters<Origin<RuleItem>['plan']>[1],
): Promise<SyncStep> {
  const { result, entity } = rule;
  if (!isDetection(rule) || result.query === null) return syncStep('none');
  const { document } = rule;
  // The matching follows one dataset.
  const isContinuous = continuous && connectionId === null && !result.dataset!.includes(', ');
  const conversion = { query: result.query, entity, connectionId, isContinuous };
  const fields = toDetectionFields(document, conversion, applied ? applied.fields['enabled'] !== false : enable);
  if (!applied) return syncStep('create', { fields });
  const { modified } = applied;
  if (modified !== null && (document.modified ?? '') < modified) {
    const detail = `The rule of ${document.modified ?? 'no date'} is older than the imported one of ${modified}.`;
    return syncStep('none', { detail });
  }
  if (isDeepStrictEqual([modified, applied.fields], [document.modified, fields])) return syncStep('none');
  const current = await readCurrent();
  if (!current) return syncStep('none');
  return syncStep('update', { fields, ...mergeVersions(applied.fields, fields, current) });
}

/** Returns the result of a rule, or nothing for one that is no detection of its own. */
function toResults({ item: { key: ruleId, rule }, step, outcome, detectionId, error }: Synced<RuleItem>): Result[] {
  const { document, result, isPart } = rule;
  const base = { ruleId, name: result.title, kept: [] };
  if (result.status !== 'converted') {
    const detail = result.errors.map(({ line, message }) => `line ${line}: ${message}`).join('; ');
    return [{ ...base, id: null, outcome: 'failed', code: result.status, detail }];
  }
  if (isPart || result.query === null || document.kind === 'filter') return [];
  if (error) {
    const detail = error.errors?.[0]?.detail ?? error.message;
    return [{ ...base, id: null, outcome: 'failed', code: error.code, detail }];
  }
  const { action, fields, detail, kept } = step;
  // A new detection's name may be shorter than the title.
  const name = action === 'create' ? String(fields!['name']) : result.title;
  const shown = outcome === 'created' || outcome === 'updated' ? outcome : 'unchanged';
  return [{ ...base, id: detectionId, name, outcome: shown, code: null, detail, kept }];
}

/** The converted form of a rule. `connectionId` is null for the embedded log store. */
type RuleConversion = { query: string; entity: string | null; connectionId: string | null; isContinuous: boolean };

const descriptionMax = 1000;
const nameMax = 255;
const tagMax = 100;

/**
 * Returns the fields of the detection for a rule: its query, a prompt that says what to check, and in the description who wrote the rule under
 * which license. The detection is disabled unless `isEnabled`.
 */
function toDetectionFields(
  rule: DetectionRule | CorrelationRule,
  { query, entity, connectionId, isContinuous }: RuleConversion,
  isEnabled: boolean,
): FileFields {
  return parseFields({
    name: rule.title.slice(0, nameMax),
    description: describeRule(rule),
    detectionCategory: 'custom',
    systemPrompt: writePrompt(rule),
    detectionQuery: query,
    detectionCadence: 'hourly',
    enabled: isEnabled,
    tags: tagsOf(rule),
    ...(entity === null ? {} : { entityField: entity }),
    ...(connectionId === null ? {} : { connectionId }),
    ...(isContinuous ? { continuous: true } : {}),
  });
}

function tagsOf({ tags, level, status }: DetectionRule | CorrelationRule): string[] {
  const own = ['sigma', ...(level ? [`level:${level}`] : []), ...(status ? [`status:${status}`] : []), ...tags];
  return [...new Set(own.map((tag) => tag.toLowerCase().trim().slice(0, tagMax)))].filter((tag) => tag !== '');
}

/** The origin stands first, so that a long description does not displace it. */
function describeRule({ id, author, license, references, description }: DetectionRule | CorrelationRule): string {
  const parts = [
    `Sigma rule${id ? ` ${id}` : ''}${author ? ` by ${author.slice(0, 300)}` : ''}, license ${license ?? 'DRL 1.1 unless its source says otherwise'}.`,
    description.trim(),
    ...(references.length > 0 ? [`References: ${references.join(' ')}`] : []),
  ];
  const text = parts.filter((part) => part !== '').join('\n');
  return text.length <= descriptionMax ? text : `${text.slice(0, descriptionMax - 1)}…`;
}

function writePrompt(rule: DetectionRule | CorrelationRule): string {
  const techniques = techniquesOf(rule.tags);
  const list = (title: string, entries: readonly string[]): string[] =>
    entries.length > 0 ? [`${title}\n${entries.map((entry) => `- ${entry}`).join('\n')}`] : [];
  return [
    `The rows match the Sigma rule "${rule.title}". Decide whether they show what the rule is meant to detect.`,
    rule.description.trim(),
    techniques.length > 0 ? `ATT&CK techniques: ${techniques.join(', ')}.` : '',
    ...list('Check whether one of these known causes of false positives explains the rows:', rule.falsePositives),
    ...list('References:', rule.references),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}
