import { runAtOnce } from '../../platform/lib/concurrency/slices.ts';
import { appError, type FieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { selectsLogStore, SiemError, type QueryCheck } from '../siem/connector.ts';
import type { Tuning } from '../analysis/tuning.schema.ts';
import { findResultWarnings } from '../analysis/result-warnings.ts';
import { effectiveCron } from './record/cron-schedule.ts';
import { toQueryWarnings, findRunErrors } from './record/warnings.ts';
import { toDefinition, type Definition } from './record/detection-record.ts';
import type { AgentView, AgentWithPrompt } from './record/detection-row.ts';
import type { Warning } from './record/detection.schema.ts';

/** Checks a query on the SIEM of a detection and returns what the SIEM reports of it. Throws a SiemError if the query cannot run. */
export type CheckQuery = (
  orgId: OrgId,
  connection: { connectionId: string | null; siemType: string | null },
  query: string,
) => Promise<QueryCheck | void>;

/** Runs a detection's tests against a definition and returns one error for each test that fails. */
export type CheckTests = (orgId: OrgId, detectionId: string, definition: Definition) => Promise<FieldError[]>;

export type CheckDetectionDeps = { checkQuery?: CheckQuery };
export type CheckTestsDeps = { checkTests?: CheckTests };

/**
 * Implements `?validate=true`. Throws 422 `check_failed` with every reason why the detection cannot run. Queries the connected SIEM, but no
 * model. Returns warnings about a query that runs and may find nothing: datasets without events, and fields that it does not return.
 */
export async function checkCanRun(deps: CheckDetectionDeps, orgId: OrgId, agent: AgentView): Promise<Warning[]> {
  const errors: FieldError[] = findRunErrors(agent).map(({ code, field, detail }) => ({
    pointer: `/${field}`,
    code,
    detail,
  }));
  const checked = agent.siem_connected ? await checkAgentQuery(deps, orgId, agent) : undefined;
  if (checked && 'failed' in checked) errors.push(checked.failed);
  throwIfAny(errors);
  const check = checked && 'columns' in checked ? checked : undefined;
  return [...(check ? describeCheck(agent, check) : []), ...warnNotContinuous(orgId, agent, check)];
}

async function checkAgentQuery(
  { checkQuery }: CheckDetectionDeps,
  orgId: OrgId,
  { connection_id: connectionId, siem_type: siemType, detection_query: query }: AgentView,
): Promise<QueryCheck | { failed: FieldError } | void> {
  try {
    return await checkQuery?.(orgId, { connectionId, siemType }, query ?? '');
  } catch (error) {
    if (!(error instanceof SiemError)) throw error;
    return { failed: { pointer: '/detectionQuery', code: error.failure.kind, detail: error.failure.message } };
  }
}

/** Returns the warnings that a run on a window without rows would have. */
function describeCheck(agent: AgentView, { columns, warnings }: QueryCheck): Warning[] {
  const { detection_category: category, entity_field: entityField, time_field: timeField } = agent;
  const result = { groups: [], columns: columns ?? undefined, aggregate: false };
  const needed = { category: category ?? 'custom', entityField, timeField };
  return toQueryWarnings([...warnings, ...runAtOnce(findResultWarnings(result, needed))]);
}

/** Returns a warning if the detection is to be matched when events arrive and cannot be. */
function warnNotContinuous(orgId: OrgId, agent: AgentView, check: QueryCheck | undefined): Warning[] {
  if (!agent.continuous) return [];
  const detail = findContinuousObstacle({
    category: agent.detection_category,
    isScheduled: effectiveCron(agent) !== null,
    isLocal: selectsLogStore(orgId, { connectionId: agent.connection_id, siemType: agent.siem_type }),
    tuning: agent.tuning === null ? null : (JSON.parse(agent.tuning) as Tuning),
    crossEventPart: check?.crossEventPart,
  });
  return detail === null ? [] : [{ code: 'not_continuous', field: 'continuous', detail }];
}

/** Implements `?require=tests`. Throws 422 `check_failed` with the tests that fail, or if the detection has no tests. */
export async function checkTestsPass(
  { checkTests }: CheckTestsDeps,
  orgId: OrgId,
  agent: AgentWithPrompt,
): Promise<void> {
  throwIfAny((await checkTests?.(orgId, agent.id, toDefinition(agent))) ?? []);
}

function throwIfAny(errors: FieldError[]): void {
  const [first] = errors;
  if (first) throw appError('check_failed', first.detail, { errors });
}

/** The parts of a detection that decide whether it can be matched when events arrive. */
type Qualifying = {
  category: string | null;
  isScheduled: boolean;
  isLocal: boolean;
  tuning: Tuning | null;
  /** See `QueryCheck`. Undefined: not known before the query is checked. */
  crossEventPart: string | null | undefined;
};

const categoriesOfEvents = ['custom', 'privilege_escalation'];

/** Returns why a detection cannot be matched when events arrive, as a sentence, or null if it can. */
export function findContinuousObstacle({
  category,
  isScheduled,
  isLocal,
  tuning,
  crossEventPart,
}: Qualifying): string | null {
  if (!categoriesOfEvents.includes(category ?? ''))
    return `The category is ${category}, which compares events with others. Only ${categoriesOfEvents.join(' and ')} match single events.`;
  if (!isScheduled) return 'The detection has no schedule, which proves that nothing was missed.';
  const minimum = tuning?.minimumCount ?? 1;
  if (minimum > 1) return `\`tuning.minimumCount\` is ${minimum}, so that a single event is not decisive.`;
  if (!isLocal) return 'The query does not run on the embedded log store.';
  return crossEventPart ? `The query ${crossEventPart}.` : null;
}
