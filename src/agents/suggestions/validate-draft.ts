import { uuidv7 } from '../../platform/lib/ids.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { buildDefinition } from '../../detection/detections/record/build-detection.ts';
import type { Estimate } from '../../detection/detections/record/detection.schema.ts';
import type { Definition } from '../../detection/detections/record/detection-record.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { readQuerySources } from '../../detection/log-query/search/inspect-query.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { estimateNoise } from '../../detection/testing/estimate-cost.ts';
import { type TrialDeps, toQueryError } from '../../detection/testing/simulate-time-range.ts';
import type { CheckDetectionDeps } from '../../detection/detections/check-detection.ts';
import { describeMismatch, type RunTestsDeps, testDefinition } from '../../detection/testing/run-test-set.ts';
import type { DetectionDraft } from './draft.ts';

export type ValidateDraftDeps = TrialDeps & RunTestsDeps & Pick<CheckDetectionDeps, 'checkQuery'>;

/** The expected noise of a draft, or the reason why it cannot be used. */
export type DraftValidation = { estimate: Estimate } | { reason: string };

/** Runs a draft's query on the organization's logs or connected SIEM, and its tests on their events. */
export async function validateDraft(
  deps: ValidateDraftDeps,
  caller: Caller,
  { body, tests }: Pick<DetectionDraft, 'body' | 'tests'>,
): Promise<DraftValidation> {
  const { orgId } = caller;
  try {
    const definition = buildDefinition(caller, body, deps.clock());
    const subject = { orgId, detectionId: uuidv7(deps.clock()), definition };
    const isLogStore = definition.siemType === null;
    if (isLogStore) await readQuerySources(deps, orgId, body.detectionQuery, AbortSignal.timeout(10_000));
    const check = await deps.checkQuery?.(orgId, definition, body.detectionQuery);
    const unknown = check?.warnings.find(({ code }) => code === 'unknown_column');
    if (unknown) return { reason: unknown.detail };
    const problem = isLogStore ? undefined : await findRowProblem(deps, orgId, definition);
    if (problem !== undefined) return { reason: problem };
    const { results } = await testDefinition(deps, subject, { tests }, { judge: 'analyst' });
    const failed = results.find(({ passed }) => !passed);
    if (failed) return { reason: `The test “${failed.name}” fails: ${describeMismatch(failed)}` };
    const estimate = await estimateNoise(deps, subject);
    return estimate ? { estimate } : { reason: 'The query reads a dataset that has no past events.' };
  } catch (error) {
    const queryError = toQueryError(error);
    if (
      queryError instanceof AppError &&
      (queryError.code === 'check_failed' || queryError.code === 'validation_failed')
    )
      return { reason: queryError.message };
    throw queryError;
  }
}

const trialMs = 60_000;
const dayMs = 86_400_000;

/** Runs a query over the last day of a SIEM and checks its columns, which tests cannot do for a SIEM. Returns the problem, if any. */
async function findRowProblem(
  deps: ValidateDraftDeps,
  orgId: OrgId,
  definition: Definition,
): Promise<string | undefined> {
  const now = deps.clock();
  const window = { from: new Date(now.getTime() - dayMs), to: now, clock: 'event' as const, ingestedBefore: now };
  const limits = { rowsMax: 100, groupsMax: 100, timeoutMs: trialMs / 2 };
  const signal = AbortSignal.timeout(trialMs);
  const connection = await deps.connectionFor(orgId, definition);
  try {
    const { rows, noData } = await connection.search(definition.detectionQuery, window, limits, signal);
    if (noData) return 'The query reads a dataset that does not exist.';
    const { entityField } = definition;
    return entityField === null || rows.every((row) => entityField in row)
      ? undefined
      : `The query returns no column ${entityField}.`;
  } catch (error) {
    if (signal.aborted) return `The query takes more than ${trialMs / 1000} s for one day.`;
    throw error;
  }
}
