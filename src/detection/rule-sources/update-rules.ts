import { createHash } from 'node:crypto';
import { inOrg, type Db, acrossOrgs } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { auditRecord } from '../../platform/orgs/audit.store.ts';
import type { ImportProgress } from '../detections/bulk/bulk.schema.ts';
import { deleteDetection } from '../detections/life-cycle.ts';
import type { UpdateDetectionDeps } from '../detections/update-detection.ts';
import { listDatasets } from '../log-query/datasets/list-datasets.ts';
import { createLogRuleSet, matchLogs, planMatches } from '../log-query/search/match-logs.ts';
import type { SearchLogsDeps } from '../log-query/search/search-logs.ts';
import { convertForTarget, type ConvertDeps } from '../sigma/convert/convert-request.ts';
import type { ConvertedRule } from '../sigma/convert/convert-rules.ts';
import { isDetection, ruleIdOf, storeRules, type StoredRules } from '../sigma/import-rules.ts';
import { listImports } from '../sigma/sigma-imports.store.ts';
import { logSourceName } from '../sigma/mappings/map-rule.ts';
import { canShare, toLogRule } from '../sigma/rule-sets.ts';
import { levels, type CorrelationRule, type DetectionRule } from '../sigma/rules/rule.ts';
import {
  type AppliedUpdate,
  type ApplyUpdate,
  type RuleChange,
  type RuleUpdate,
  toAddress,
} from './rule-sources.schema.ts';
import { requireSource } from './rule-sources.ts';
import {
  findArchive,
  findRuleSource,
  storeApplied,
  type RuleSourceRow,
  claimDueCheckAcrossOrgs,
  storeCheck,
  type CheckOutcome,
  type RuleSourceCheck,
} from './rule-sources.store.ts';
import { fetchBytes } from '../../platform/lib/outbound-http/fetch.ts';
import { runLoops } from '../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';

type UpdateRulesDeps = ConvertDeps & UpdateDetectionDeps & SearchLogsDeps & { db: Db };

const missingLogsMax = 20;
const noiseMs = 86_400_000;

/**
 * Returns what the newest version of a rule source would change, with how many events of the last 24 hours each new or changed rule matches.
 * Changes nothing. Throws 404, and 409 if no archive was fetched yet or the archive cannot be read.
 */
export async function planUpdate(deps: UpdateRulesDeps, caller: Caller, id: string): Promise<RuleUpdate> {
  const { source, version, selected, leftOut } = await readSelected(deps, caller, id);
  const imports = await inOrg(deps.db, caller.orgId, (tx) => listImports(tx, caller.orgId));
  // A new rule needs no dry run: it becomes a detection.
  const known = selected.filter((rule) => imports.has(ruleIdOf(rule)));
  const created = selected.filter((rule) => isDetection(rule) && !imports.has(ruleIdOf(rule)));
  const { results, missing } = await storeRules(deps, caller, known, optionsOf(source, true));
  const changed = new Set(results.filter(({ outcome }) => outcome === 'updated').map(({ ruleId }) => ruleId));
  const updated = known.filter((rule) => changed.has(ruleIdOf(rule)));
  const noise = await countMatches(deps, caller.orgId, [...created, ...updated]);
  const describe = (rules: readonly ConvertedRule[]): RuleChange[] =>
    rules
      .map((rule) => ({
        ruleId: ruleIdOf(rule),
        name: rule.result.title ?? ruleIdOf(rule),
        level: levelOf(rule),
        dataset: rule.result.dataset,
        detectionId: imports.get(ruleIdOf(rule))?.detectionId ?? null,
        matches24h: noise.get(ruleIdOf(rule)) ?? null,
      }))
      .toSorted((a, b) => (b.matches24h ?? -1) - (a.matches24h ?? -1));
  return {
    version,
    created: describe(created),
    updated: describe(updated),
    removed: listRemoved(source, missing).map(({ ruleId, detectionId, fields }) => ({
      ruleId,
      detectionId,
      name: String(fields['name']),
    })),
    unchanged: results.filter(({ outcome }) => outcome === 'unchanged').length,
    leftOut,
  };
}

/**
 * Imports the rules of a version, enabled. Fields that the organization edited keep their value. Throws 404, and 409 if the newest version is
 * not the one that was reviewed.
 */
export async function applyUpdate(
  deps: UpdateRulesDeps,
  caller: Caller,
  { id, version, removeMissing = false }: ApplyUpdate & { id: string },
  report: (progress: ImportProgress) => void = () => undefined,
): Promise<AppliedUpdate> {
  const {
    source,
    selected,
    version: available,
  } = await readSelected(deps, caller, id, () => report({ phase: 'converting', rulesDone: 0, rulesTotal: null }));
  if (available !== version)
    throw appError('conflict', `The newest version is ${available} by now, not ${version}. Look at its changes first.`);
  const { results, missing } = await storeRules(deps, caller, selected, {
    ...optionsOf(source, false),
    onBatch: (rulesDone) => report({ phase: 'storing', rulesDone, rulesTotal: selected.length }),
  });
  const removed = removeMissing ? listRemoved(source, missing) : [];
  for (const { detectionId } of removed) await deleteDetection(deps, caller, detectionId);
  const count = (outcome: string): number => results.filter((one) => one.outcome === outcome).length;
  const applied = { version, created: count('created'), updated: count('updated'), removed: removed.length };
  await inOrg(deps.db, caller.orgId, async (tx) => {
    await storeApplied(tx, { orgId: caller.orgId, id }, version, deps.clock());
    await auditRecord(tx, caller, 'rule_source.applied', { before: null, after: { id, ...applied } });
  });
  const failed = results
    .filter(({ outcome }) => outcome === 'failed')
    .map(({ ruleId, name, detail }) => ({ ruleId: ruleId!, name: name ?? ruleId!, detail: detail ?? '' }));
  return { ...applied, failed };
}

const optionsOf = ({ id }: RuleSourceRow, dryRun: boolean) => ({
  connectionId: null,
  enable: true,
  continuous: true,
  sourceId: id,
  dryRun,
});

/** The detections of a source whose rules its newest version does not have. */
const listRemoved = ({ id }: RuleSourceRow, missing: StoredRules['missing']): StoredRules['missing'] =>
  missing.filter(({ sourceId }) => sourceId === id);

type Selected = {
  source: RuleSourceRow;
  version: string;
  selected: ConvertedRule[];
  leftOut: RuleUpdate['leftOut'];
};

/** Converts the rules of the newest version and selects those of the wanted levels and statuses for whose log source there is a dataset. */
async function readSelected(
  deps: UpdateRulesDeps,
  { orgId }: Caller,
  id: string,
  onStart?: () => void,
): Promise<Selected> {
  const { source, archive, available } = await inOrg(deps.db, orgId, async (tx) => ({
    source: requireSource(await findRuleSource(tx, orgId, id), id),
    ...requireSource(await findArchive(tx, orgId, id), id),
  }));
  if (!archive || available === null)
    throw appError(
      'conflict',
      `Nothing has been fetched from ${source.url} yet.${source.failure === null ? '' : ` The last check failed: ${source.failure}.`}`,
    );
  const converted = await convertArchive(deps, orgId, archive, onStart);
  const names = new Set((await listDatasets(deps, orgId)).datasets.map(({ name }) => name));
  const groups = Map.groupBy(converted, (rule) => reasonToLeaveOut(source, names, rule));
  const count = (reason: Reason): number => groups.get(reason)?.length ?? 0;
  const without = groups.get('withoutLogs') ?? [];
  const missing = Map.groupBy(without, ({ document }) =>
    describeLogSource(document as DetectionRule | CorrelationRule),
  );
  return {
    source,
    version: available,
    selected: groups.get('') ?? [],
    leftOut: {
      byLevel: count('byLevel'),
      byStatus: count('byStatus'),
      notConverted: count('notConverted'),
      withoutLogs: without.length,
      missingLogs: [...missing]
        .map(([logSource, rules]) => ({ logSource, rules: rules.length }))
        .toSorted((a, b) => b.rules - a.rules || (a.logSource < b.logSource ? -1 : 1))
        .slice(0, missingLogsMax),
    },
  };
}

async function convertArchive(
  deps: ConvertDeps,
  orgId: OrgId,
  archive: Buffer,
  onStart?: () => void,
): Promise<ConvertedRule[]> {
  try {
    return await convertForTarget(deps, orgId, { rules: archive }, onStart);
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    throw appError('conflict', `The archive cannot be used: ${error.message}.`);
  }
}

type Reason = 'byLevel' | 'byStatus' | 'notConverted' | 'withoutLogs' | '';

/** Returns why a rule is left out, or an empty text for one that is imported, or part of one. */
function reasonToLeaveOut(source: RuleSourceRow, datasets: ReadonlySet<string>, rule: ConvertedRule): Reason {
  if (rule.result.status !== 'converted') return 'notConverted';
  if (!isDetection(rule)) return '';
  const { status, level } = rule.document;
  if (!(source.statuses as string[]).includes(status ?? 'test')) return 'byStatus';
  if (levels.indexOf(level ?? 'medium') < levels.indexOf(source.minLevel)) return 'byLevel';
  return rule.result.dataset !== null && !datasets.has(rule.result.dataset) ? 'withoutLogs' : '';
}

const levelOf = ({ document }: ConvertedRule): RuleChange['level'] =>
  document.kind === 'invalid' ? 'medium' : (document.level ?? 'medium');

const describeLogSource = (document: DetectionRule | CorrelationRule): string =>
  document.kind === 'rule' ? logSourceName(document.logSource) : 'correlation';

/** Returns how many events of the last 24 hours each rule about single events matches, by rule. Each dataset is read once. */
async function countMatches(
  deps: UpdateRulesDeps,
  orgId: OrgId,
  rules: readonly ConvertedRule[],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const to = deps.clock();
  const window = { from: new Date(to.getTime() - noiseMs), to, clock: 'event' as const };
  const shared = rules.filter(({ ruleQuery }) => ruleQuery && canShare(ruleQuery));
  for (const [dataset, group] of Map.groupBy(shared, ({ ruleQuery }) => ruleQuery!.table)) {
    const plan = await planMatches(deps, orgId, { dataset, window }, AbortSignal.timeout(60_000));
    const matched =
      plan &&
      (await matchLogs(deps, orgId, plan, createLogRuleSet(group.map(({ ruleQuery }) => toLogRule(ruleQuery!)))));
    for (const [index, rule] of group.entries()) {
      const total = matched?.[index]?.total;
      if (total !== undefined) counts.set(ruleIdOf(rule), total);
    }
  }
  return counts;
}

type CheckDeps = { db: Db; clock: Clock; log: Logger; config: { fetchAllow: readonly string[] } };

const bytesMax = 16 * 1024 * 1024;
const idleMs = 2_000;
/** Of one process, so that a slow address does not delay those of other organizations. */
const concurrentChecks = 3;
const versionDigits = 12;

/** Fetches the archives of rule sources when they are due, until the signal aborts. */
export const ruleSourcesLoop = (deps: CheckDeps, signal: AbortSignal): Promise<void> =>
  runLoops(concurrentChecks, { name: 'rule sources', idleMs, signal, log: deps.log }, () =>
    checkNextSource(deps, signal),
  );

/** Checks the rule source that has been due longest. Returns false if none is due. */
export async function checkNextSource(deps: CheckDeps, signal: AbortSignal): Promise<boolean> {
  const due = await acrossOrgs(deps.db, (tx) => claimDueCheckAcrossOrgs(tx, deps.clock()));
  if (!due) return false;
  const outcome = await fetchArchive(deps, due, signal);
  await inOrg(deps.db, due.orgId, (tx) => storeCheck(tx, due, outcome, deps.clock()));
  return true;
}

async function fetchArchive(
  { config }: CheckDeps,
  { url, etag }: RuleSourceCheck,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  try {
    const conditional = etag === null ? {} : { etag };
    const fetched = await fetchBytes({
      url: toAddress(url),
      allow: config.fetchAllow,
      bytesMax,
      signal,
      ...conditional,
    });
    if (fetched.kind === 'not-modified') return 'unchanged';
    const version = createHash('sha256').update(fetched.bytes).digest('hex').slice(0, versionDigits);
    return { archive: fetched.bytes, version, etag: fetched.etag ?? null };
  } catch (error) {
    if (signal.aborted || !(error instanceof ExternalError)) throw error;
    return { failure: error.message };
  }
}
