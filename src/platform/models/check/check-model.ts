import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/db.ts';
import type { Caller } from '../../http/caller.ts';
import { appError } from '../../lib/errors.ts';
import type { Clock } from '../../lib/time/clock.ts';
import { addCosts } from '../budgets.ts';
import { callMetered, type MeteredModel } from '../ask-model.ts';
import { ModelError } from '../model-error.ts';
import type { Models } from '../models.ts';
import { type ModelStep, OutputWay } from '../model-request.ts';
import { createSpendMeter } from '../spend-meter.ts';
import { fingerprintOf, type AbilitiesStore } from './model-abilities.ts';
import type { ModelCheck } from './model-check.schema.ts';
import { probeLongInput, probeStructuredOutput, probeTools, probeTruncation, type Probe } from './probes.ts';

/** The longest check. Probes that are not done by then have failed. */
const checkMaxMs = 300_000;

export type CheckModelDeps = { db: Db; clock: Clock; models?: Models };

/**
 * Checks an alias for the organization, which pays for it within the budgets of the alias. Throws 404 for an alias that is not configured, or
 * that uses no model.
 */
export async function checkModel(deps: CheckModelDeps, { orgId }: Caller, alias: string): Promise<ModelCheck> {
  const model = deps.models?.find(alias);
  if (!model || !deps.models)
    throw appError('not_found', `The alias ${alias} has no model. Configure it in TOCSIN_MODELS.`);
  // The organization itself spends: the check belongs to no detection.
  const spender = { orgId, detectionId: orgId, id: randomUUID(), spent: { tokens: 0, costUsd: 0 }, elapsedMs: 0 };
  const meter = createSpendMeter(deps, { spender, overrides: {}, model }).startConversation();
  return runModelCheck({ model, ...meter }, deps.models.abilities);
}

/** Makes one real call for tools, structured output, a long input and an answer that is cut. Stores the result for every process. */
export async function runModelCheck(
  metered: Pick<MeteredModel, 'model' | 'checkBudget' | 'recordStep'>,
  abilities: AbilitiesStore,
): Promise<ModelCheck> {
  const { alias, entry, name } = metered.model;
  const checkedAt = new Date().toISOString();
  const steps: ModelStep[] = [];
  const recordStep = async (step: ModelStep): Promise<void> => {
    steps.push(step);
    await metered.recordStep(step);
  };
  // The alias itself is checked, not what answers in its place.
  const meteredAlias = { ...metered, model: { ...metered.model, fallbacks: [] }, recordStep };
  let outage: ModelError | undefined;
  const call: Probe['call'] = async (request) => {
    if (outage) throw outage;
    try {
      return await callMetered(meteredAlias, {
        kind: 'call',
        subject: 'model check',
        request: { ...request, isProbe: true },
      });
    } catch (error) {
      // A provider that does not answer the first call at all is not asked again.
      if (steps.length === 1 && error instanceof ModelError && error.pauses) outage = error;
      throw error;
    }
  };
  const probe: Probe = { entry, signal: AbortSignal.timeout(checkMaxMs), call };
  const tools = await probeTools(probe);
  const { answersBy, ...structured } = await probeStructuredOutput(probe, tools.ok);
  // A slow model may need all of the time for the long input.
  const truncation = await probeTruncation(probe);
  const checks = [tools, structured, await probeLongInput(probe), truncation];
  const report: ModelCheck = {
    alias,
    model: name,
    ok: checks.every(({ ok }) => ok),
    checkedAt,
    callsTools: tools.ok,
    answersBy,
    latencyMs: answersBy === null ? null : structured.ms,
    costUsd: steps.reduce<number | null>((sum, { costUsd }) => addCosts(sum, costUsd), 0),
    checks,
  };
  const others = OutputWay.options.filter((way) => way !== answersBy);
  const ways = answersBy === null ? others : [answersBy, ...others];
  await abilities.store({
    alias,
    fingerprint: fingerprintOf(entry),
    ways,
    callsTools: tools.ok,
    report,
    misfitKind: null,
    misfitAt: null,
  });
  return report;
}
