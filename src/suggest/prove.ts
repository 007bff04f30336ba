import { uuidv7 } from '../lib/ids.ts';
import { AppError } from '../lib/errors.ts';
import type { Deps } from '../deps.ts';
import { definitionOf } from '../detections/new-agent.ts';
import type { Estimate } from '../detections/schema.ts';
import { datasetsRead } from '../logs/query.ts';
import type { Caller } from '../orgs/caller.ts';
import { estimateNoise } from '../proof/estimate.ts';
import { failureAsError } from '../proof/failure.ts';
import { testDefinition } from '../proof/run-tests.ts';
import type { Draft } from './draft.ts';

export type Proven = { estimate: Estimate } | { reason: string };

/** Runs a draft: its query over the organization's own logs, its tests over their events. Answers the noise to expect, or why it will not do. */
export async function proveDraft(
  deps: Deps,
  caller: Caller,
  { body, tests }: Pick<Draft, 'body' | 'tests'>,
): Promise<Proven> {
  const { orgId } = caller;
  try {
    const definition = definitionOf(caller, body, deps.clock());
    const of = { orgId, detectionId: uuidv7(deps.clock()), definition };
    await datasetsRead(deps, orgId, body.detectionQuery, AbortSignal.timeout(10_000));
    await deps.checkQuery?.(orgId, definition, body.detectionQuery);
    const { results } = await testDefinition(deps, of, { tests }, { judge: 'analyst' });
    const failed = results.find(({ passed }) => !passed);
    if (failed) return { reason: `Its test “${failed.name}” fails: ${failed.error ?? 'it finds something else'}` };
    const estimate = await estimateNoise(deps, of);
    return estimate ? { estimate } : { reason: 'It reads a dataset that has no events of the past.' };
  } catch (error) {
    const known = failureAsError(error);
    if (known instanceof AppError && (known.code === 'check_failed' || known.code === 'validation_failed'))
      return { reason: known.message };
    throw known;
  }
}
