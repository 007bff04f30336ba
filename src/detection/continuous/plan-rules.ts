import { inOrg } from '../../platform/db/db.ts';
import type { Tuning } from '../analysis/tuning.schema.ts';
import { findContinuousObstacle } from '../detections/record/continuous.ts';
import { distinctDatasets, inspectQuery } from '../log-query/search/inspect-query.ts';
import type { SearchLogsDeps } from '../log-query/search/search-logs.ts';
import { selectsLogStore, SiemError } from '../siem/connector.ts';
import {
  listUnknownDetectionsAcrossOrgs,
  storeEligibility,
  type ContinuousDetectionRow,
  type Eligibility,
} from './continuous-detections.store.ts';
import { chooseGuards } from '../matching/rule-set.ts';
import { listFields } from '../matching/expression.ts';
import type { EventFilter, FieldPath } from '../log-engine/inspection/event-filter.ts';
import { isReservedName, textColumn } from '../log-store/catalog/catalog.ts';
import type { LogRule } from '../log-query/search/match-logs.ts';
import { toExpression } from '../portable-queries/to-expression.ts';
import { canShare, toLogRule } from '../sigma/rule-sets.ts';
import type { RuleQuery } from '../siem/dialects/dialect.ts';

/**
 * A condition on single events that is true at least of those that a detection matches. `isExact`: of no others, so that the query need not be
 * searched.
 */
export type EventRule = { rule: LogRule; isExact: boolean };

/** Returns the condition of an imported Sigma rule. Undefined if its query must be read instead. */
export const planSigmaRule = (ruleQuery: RuleQuery): EventRule | undefined =>
  canShare(ruleQuery) ? { rule: { ...toLogRule(ruleQuery), columns: [], constants: {} }, isExact: true } : undefined;

/** Returns the condition that the filter of a query stands for. Undefined: every event may match. */
export function planFilter(filter: EventFilter): EventRule | undefined {
  const where = toExpression(filter, { nameOf, canWrite: () => true });
  if (!where) return undefined;
  const fields = new Map(listFields(where).map((field) => [field!, [field!]]));
  return { rule: { where, fields, columns: [], constants: {} }, isExact: false };
}

/** Returns whether no text is known that an event must have to match, so that the condition is evaluated for every event. */
const isExpensive = (rule: EventRule | undefined): boolean =>
  rule === undefined || chooseGuards(rule.rule.where, () => 0) === undefined;

/** Returns how the log store calls a path of an event, or undefined if it has no name for it. An exact path is read as text, whatever its type. */
function nameOf({ keys, isExact }: FieldPath): string | undefined {
  if (keys.some((key) => key.includes('.') || key === '') || isReservedName(keys[0]!)) return undefined;
  return isExact ? [textColumn, ...keys].join('.') : keys.join('.');
}

const detectionsMax = 200;

/** Finds out which of the new and changed continuous detections can be matched, and stores it. Returns whether there were any. */
export async function checkNewDetections(deps: SearchLogsDeps): Promise<boolean> {
  const rows = await listUnknownDetectionsAcrossOrgs(deps.db, detectionsMax);
  for (const [orgId, own] of Map.groupBy(rows, (row) => row.orgId)) {
    const checked: Eligibility[] = [];
    for (const row of own) checked.push({ ...row, ...(await checkEligibility(deps, row)) });
    await inOrg(deps.db, orgId, async (tx) => {
      for (const one of checked) await storeEligibility(tx, one, deps.clock());
    });
  }
  return rows.length > 0;
}

async function checkEligibility(
  deps: SearchLogsDeps,
  row: ContinuousDetectionRow,
): Promise<Pick<Eligibility, 'dataset' | 'obstacle' | 'expensive'>> {
  const { orgId, category, query } = row;
  const parts = {
    category,
    isScheduled: true,
    isLocal: selectsLogStore(orgId, row),
    tuning: row.tuning === null ? null : (JSON.parse(row.tuning) as Tuning),
  };
  const obstacle = findContinuousObstacle({ ...parts, crossEventPart: undefined });
  if (obstacle !== null) return notMatched(obstacle);
  try {
    const { inspection, sources } = await inspectQuery(deps, orgId, query);
    const found = findContinuousObstacle({ ...parts, crossEventPart: inspection.crossEventPart });
    if (found !== null) return notMatched(found);
    const dataset = distinctDatasets(sources)[0]!;
    return { dataset, obstacle: null, expensive: isExpensive(planFilter(inspection.filters[dataset]!)) };
  } catch (error) {
    if (!(error instanceof SiemError) || error.failure.blame !== 'author') throw error;
    return notMatched(`The query cannot run: ${error.failure.message}`);
  }
}

const notMatched = (obstacle: string) => ({ dataset: null, obstacle, expensive: false });
