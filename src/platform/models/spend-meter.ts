import { randomUUID } from 'node:crypto';
import { inOrg, type Db, type Tx } from '../db/db.ts';
import type { Clock } from '../lib/time/clock.ts';
import { budgetExceededError } from './model-error.ts';
import { type ConfiguredModel, callCostUsd } from './models.ts';
import type { ModelStep } from './model-request.ts';
import { addCosts, type Budgets, type Spender, findExhaustedBudget, mergeBudgets, type Spend } from './budgets.ts';
import {
  countUsage,
  releaseReservation,
  type ModelUsage,
  lockAlias,
  readAllModels,
  readReserved,
  readSpendQuotas,
  readUsage,
  storeReservation,
} from './model-usage.store.ts';
import { lockQuota } from '../orgs/limits/limits.store.ts';

/**
 * `checkBudget` throws `budget_exceeded` when a budget of `model` is used up, by default that of the run. If only calls in progress of the same run leave no room, it waits
 * for one of them to end, or until `signal` aborts. `recordStep` stores a step together with its cost.
 */
export type SpendMeter = {
  checkBudget: (signal: AbortSignal, model?: ConfiguredModel) => Promise<void>;
  recordStep: (step: ModelStep) => Promise<void>;
};

/** A meter of a run whose conversations may take place at the same time. Each conversation needs its own meter. Its steps are stored with `about`. */
export type RunSpendMeter = { startConversation: (about?: Pick<ModelStep, 'candidateId'>) => SpendMeter };

/** The cost of one step. `ms` is the time since the previous step. */
export type StepUsage = ModelUsage & { ms: number };

/** `storeStep` stores the step in the caller's tables, in the transaction that counts its cost. Without it steps are not stored. */
type SpendMeterOptions = {
  spender: Spender;
  /** Budgets of the detection or agent, which override those of every alias that answers. */
  overrides: Partial<Budgets>;
  model: ConfiguredModel;
  storeStep?: (tx: Tx, step: ModelStep, usage: StepUsage) => Promise<void>;
};

type RunState = {
  deps: { db: Db; clock: Clock };
  options: SpendMeterOptions;
  calls: CallCounter;
  /** When the last step was recorded, in monotonic milliseconds. */
  lastStepAt: number;
  /** Whether no budget has been checked yet. */
  isFirst: boolean;
};

type Conversation = { id: string; isCalling: boolean };

/** Meters the spend of one run on one model, over all its conversations. Each recorded step increases `spender.spent` and `spender.elapsedMs`. */
export function createSpendMeter(deps: { db: Db; clock: Clock }, options: SpendMeterOptions): RunSpendMeter {
  const run: RunState = { deps, options, calls: createCallCounter(), lastStepAt: performance.now(), isFirst: true };
  return {
    startConversation: (about = {}) => {
      const conversation: Conversation = { id: randomUUID(), isCalling: false };
      return {
        checkBudget: (signal, model = options.model) => checkBudget(run, conversation, model, signal),
        recordStep: (step) => recordStep(run, conversation, { ...step, ...about }),
      };
    },
  };
}

const sinceLastStepMs = ({ lastStepAt }: RunState): number => Math.round(performance.now() - lastStepAt);

async function checkBudget(
  run: RunState,
  conversation: Conversation,
  model: ConfiguredModel,
  signal: AbortSignal,
): Promise<void> {
  const { deps, calls } = run;
  const { spender, overrides } = run.options;
  const budgets = mergeBudgets(model, overrides);
  for (;;) {
    signal.throwIfAborted();
    const endedBefore = calls.ended();
    const runMs = spender.elapsedMs + sinceLastStepMs(run);
    const request = { spender, conversation: conversation.id, budgets, runMs, isFirst: run.isFirst };
    run.isFirst = false;
    calls.startCheck();
    const reservation = await reserveStep(deps, request, model).catch((error: unknown) => {
      calls.endCheck('blocked');
      throw error;
    });
    calls.endCheck(reservation.outcome);
    if (reservation.outcome === 'reserved') {
      conversation.isCalling = true;
      return;
    }
    if (!(await calls.waitForEnd(endedBefore, signal))) throw budgetExceededError(reservation.problem);
  }
}

async function recordStep(run: RunState, conversation: Conversation, step: ModelStep): Promise<void> {
  const { db, clock } = run.deps;
  const { spender, model, storeStep } = run.options;
  const tokens = step.tokens.input + step.tokens.output;
  const usage = {
    alias: step.alias ?? model.alias,
    calls: Number(step.kind !== 'tool'),
    tokens,
    costUsd: step.costUsd,
    ms: sinceLastStepMs(run),
  };
  run.lastStepAt += usage.ms;
  // Added before the reservation is released, so that no other conversation misses the spend.
  spender.elapsedMs += usage.ms;
  spender.spent.tokens += tokens;
  spender.spent.costUsd = addCosts(spender.spent.costUsd, step.costUsd);
  const endsCall = step.kind !== 'tool';
  try {
    await inOrg(db, spender.orgId, async (tx) => {
      await storeStep?.(tx, step, usage);
      if (tokens > 0) await countUsage(tx, spender, usage, clock());
      const reservation = { orgId: spender.orgId, runId: spender.id, conversation: conversation.id };
      if (endsCall) await releaseReservation(tx, reservation);
    });
  } finally {
    if (endsCall && conversation.isCalling) {
      conversation.isCalling = false;
      run.calls.end();
    }
  }
}

type CallCounter = ReturnType<typeof createCallCounter>;

/**
 * Counts the calls of a run that are in progress, and those whose budget is being checked. `waitForEnd` waits until a call ends or
 * the signal aborts. It returns false if no call has ended since `endedBefore` and none is in progress.
 */
function createCallCounter() {
  let [checking, active, ended] = [0, 0, 0];
  let waiting: (() => void)[] = [];
  const wakeAll = (): void => {
    for (const wake of waiting) wake();
    waiting = [];
  };
  return {
    startCheck: () => {
      checking += 1;
    },
    endCheck: (outcome: 'reserved' | 'blocked') => {
      checking -= 1;
      if (outcome === 'reserved') active += 1;
      else if (active === 0 && checking === 0) wakeAll();
    },
    end: () => {
      active -= 1;
      ended += 1;
      wakeAll();
    },
    ended: () => ended,
    waitForEnd: async (endedBefore: number, signal: AbortSignal): Promise<boolean> => {
      const hasEnded = (): boolean => ended > endedBefore || signal.aborted;
      if (hasEnded()) return true;
      if (active === 0 && checking === 0) return false;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return hasEnded() || active > 0;
    },
  };
}

type StepRequest = {
  spender: Omit<Spender, 'elapsedMs'>;
  /** The conversation of the run that makes the step. */
  conversation: string;
  budgets: Budgets;
  runMs: number;
  /** The first step of an attempt: reservations that an earlier attempt left are deleted. */
  isFirst?: boolean;
};

/** `blocked`: only the calls in progress of the same run leave no room. The step can be tried again when one of them has ended. */
type StepReservation = { outcome: 'reserved' } | { outcome: 'blocked'; problem: string };

/**
 * Reserves the most that the next step of a conversation can use, or throws `budget_exceeded`, also if the organization's quota is used up. Reservations of other runs and of
 * other conversations of the same run count as used, so concurrent calls exceed a budget by one step at most. Recording the step
 * releases its reservation.
 */
export async function reserveStep(
  { db, clock }: { db: Db; clock: Clock },
  { spender, conversation, budgets, runMs, isFirst }: StepRequest,
  model: ConfiguredModel,
): Promise<StepReservation> {
  const { orgId, detectionId, id: runId, spent } = spender;
  const { alias, entry } = model;
  const reservation = { orgId, runId, conversation, detectionId, alias };
  const { exhausted, blocked } = await inOrg(db, orgId, async (tx) => {
    const quotas = await readSpendQuotas(tx, orgId);
    const hasQuota = quotas.usdPerDay !== null || quotas.usdPerMonth !== null;
    // All models share the quota, so that their checks wait for each other.
    if (hasQuota) await lockQuota(tx, orgId, 'modelUsdPerMonth');
    await lockAlias(tx, reservation);
    if (isFirst) await releaseReservation(tx, { orgId, runId });
    const used = await readUsage(tx, { orgId, detectionId }, alias, clock());
    const { siblings, detectionDay, organizationMonth } = await readReserved(tx, reservation);
    const allModels = hasQuota ? await readAllModels(tx, reservation, clock()) : noCost;
    const others = {
      run: spent,
      runMs,
      detectionDay: addSpend(used.detectionDay, detectionDay),
      organizationMonth: addSpend(used.organizationMonth, organizationMonth),
      allModels: { day: allModels.day, month: allModels.month },
    };
    const all = {
      run: addSpend(spent, siblings),
      runMs,
      detectionDay: addSpend(others.detectionDay, siblings),
      organizationMonth: addSpend(others.organizationMonth, siblings),
      allModels: { day: allModels.day + allModels.siblings, month: allModels.month + allModels.siblings },
    };
    const problems = {
      exhausted: findExhaustedBudget(budgets, others, quotas),
      blocked: findExhaustedBudget(budgets, all, quotas),
    };
    if (!problems.blocked)
      await storeReservation(tx, reservation, { ...maxStepSpend(model), forMs: 2 * entry.timeoutSeconds * 1000 });
    return problems;
  });
  if (exhausted) throw budgetExceededError(exhausted);
  return blocked ? { outcome: 'blocked', problem: blocked } : { outcome: 'reserved' };
}

const noCost = { day: 0, month: 0, siblings: 0 };

const addSpend = (a: Spend, b: Spend): Spend => ({
  tokens: a.tokens + b.tokens,
  costUsd: (a.costUsd ?? 0) + (b.costUsd ?? 0),
});

/** Assumes that a step writes the most tokens allowed and reads as many. */
function maxStepSpend(model: ConfiguredModel): Spend {
  const { maxOutputTokens } = model.entry;
  const costUsd = callCostUsd(model, { input: maxOutputTokens, output: maxOutputTokens });
  return { tokens: 2 * maxOutputTokens, costUsd: costUsd ?? 0 };
}
