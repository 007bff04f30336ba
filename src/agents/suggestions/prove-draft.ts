import { uuidv7 } from '../../platform/lib/ids.ts';
import { AppError } from '../../platform/lib/errors.ts';
import type { Deps } from '../../app/deps.ts';
import { definitionOf } from '../../detection/detections/record/new-detection.ts';
import type { Estimate } from '../../detection/detections/record/detection.schema.ts';
import type { Definition } from '../../detection/detections/record/definition.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { datasetsRead } from '../../detection/logs/query/inspect-query.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { estimateNoise } from '../../detection/testing/estimate-noise.ts';
import { failureAsError } from '../../detection/testing/query-failure.ts';
import { testDefinition } from '../../detection/testing/run-tests.ts';
import { wrongWith } from '../../detection/testing/run-test-set.ts';
import type { Draft } from './draft.ts';

export type Proven = { estimate: Estimate } | { reason: string };

/**
 * Runs a draft: its query over the organization's own logs or the SIEM that it names, its tests over their events. Answers the noise to
 * expect, or why it will not do.
 */
export async function proveDraft(
  deps: Deps,
  caller: Caller,
  { body, tests }: Pick<Draft, 'body' | 'tests'>,
): Promise<Proven> {
  const { orgId } = caller;
  try {
    const definition = definitionOf(caller, body, deps.clock());
    const of = { orgId, detectionId: uuidv7(deps.clock()), definition };
    if (definition.siemType === null) await datasetsRead(deps, orgId, body.detectionQuery, AbortSignal.timeout(10_000));
    await deps.checkQuery?.(orgId, definition, body.detectionQuery);
    const problem = definition.siemType === null ? undefined : await problemOfRows(deps, orgId, definition);
    if (problem !== undefined) return { reason: problem };
    const { results } = await testDefinition(deps, of, { tests }, { judge: 'analyst' });
    const failed = results.find(({ passed }) => !passed);
    if (failed) return { reason: `Its test “${failed.name}” fails: ${wrongWith(failed)}` };
    const estimate = await estimateNoise(deps, of);
    return estimate ? { estimate } : { reason: 'It reads a dataset that has no events of the past.' };
  } catch (error) {
    const known = failureAsError(error);
    if (known instanceof AppError && (known.code === 'check_failed' || known.code === 'validation_failed'))
      return { reason: known.message };
    throw known;
  }
}

const triedMs = 60_000;
const dayMs = 86_400_000;

/** What is wrong with the rows that a query has in the last day of a SIEM, whose columns no test can know. */
async function problemOfRows(deps: Deps, orgId: OrgId, definition: Definition): Promise<string | undefined> {
  const now = deps.clock();
  const window = { from: new Date(now.getTime() - dayMs), to: now, clock: 'event' as const, ingestedBefore: now };
  const limits = { rowsMax: 100, groupsMax: 100, timeoutMs: triedMs / 2 };
  const signal = AbortSignal.timeout(triedMs);
  const connection = await deps.connectionFor(orgId, definition);
  try {
    const { rows, noData } = await connection.search(definition.detectionQuery, window, limits, signal);
    if (noData) return 'It reads a dataset that there is none of.';
    return rows.every((row) => 'entity' in row) ? undefined : 'Its rows have no column entity.';
  } catch (error) {
    if (signal.aborted) return `It takes more than ${triedMs / 1000} s over one day.`;
    throw error;
  }
}
