import { randomUUID } from 'node:crypto';
import { inOrg, type Db, type Tx } from '../../db/db.ts';
import type { Clock } from '../../lib/clock.ts';
import { budgetExceededError } from '../model-error.ts';
import type { ConfiguredModel } from '../models.ts';
import type { ModelStep } from '../model-step.ts';
import { reserveStep } from './budget-check.ts';
import type { Budgets, Spender } from './budgets.ts';
import { countUsage, releaseReservation, type ModelUsage } from './model-usage.store.ts';

/**
 * `checkBudget` throws `budget_exceeded` when a budget is used up. If only calls in progress of the same run leave no room, it waits
 * for one of them to end, or until `signal` aborts. `recordStep` stores a step together with its cost.
 */
export type SpendMeter = {
  checkBudget: (signal: AbortSignal) => Promise<void>;
  recordStep: (step: ModelStep) => Promise<void>;
};

/** A meter of a run whose conversations may take place at the same time. Each conversation needs its own meter. */
export type RunSpendMeter = { startConversation: () => SpendMeter };

/** The cost of one step. `ms` is the time since the previous step. */
export type StepUsage = ModelUsage & { ms: number };

/** `storeStep` stores the step in the caller's tables, in the transaction that counts its cost. Without it steps are not stored. */
export type SpendMeterOptions = {
  spender: Spender;
  budgets: Budgets;
  model: ConfiguredModel;
  storeStep?: (tx: Tx, step: ModelStep, usage: StepUsage) => Promise<void>;
};

/** Meters the spend of one run on one model, over all its conversations. Each recorded step increases `spender.spent` and `spender.elapsedMs`. */
export function createSpendMeter(
  { db, clock }: { db: Db; clock: Clock },
  { spender, budgets, model, storeStep }: SpendMeterOptions,
): RunSpendMeter {
  let lastStepAt = performance.now();
  let isFirst = true;
  const calls = createCallCounter();
  const sinceLastStepMs = (): number => Math.round(performance.now() - lastStepAt);
  return {
    startConversation: () => {
      const conversation = randomUUID();
      let isCalling = false;
      return {
        checkBudget: async (signal) => {
          for (;;) {
            signal.throwIfAborted();
            const endedBefore = calls.ended();
            const request = { spender, conversation, budgets, runMs: spender.elapsedMs + sinceLastStepMs(), isFirst };
            isFirst = false;
            const reservation = await reserveStep({ db, clock }, request, model);
            if (reservation.outcome === 'reserved') {
              isCalling = true;
              return calls.start();
            }
            if (!(await calls.waitForEnd(endedBefore, signal))) throw budgetExceededError(reservation.problem);
          }
        },
        recordStep: async (step) => {
          const tokens = step.tokens.input + step.tokens.output;
          const usage = { alias: model.alias, tokens, costUsd: step.costUsd, ms: sinceLastStepMs() };
          lastStepAt += usage.ms;
          // Added before the reservation is released, so that no other conversation misses the spend.
          spender.elapsedMs += usage.ms;
          spender.spent.tokens += tokens;
          spender.spent.costUsd += step.costUsd;
          try {
            await inOrg(db, spender.orgId, async (tx) => {
              await storeStep?.(tx, step, usage);
              if (tokens > 0) await countUsage(tx, spender, usage, clock());
              if (step.kind !== 'tool')
                await releaseReservation(tx, { orgId: spender.orgId, runId: spender.id, conversation });
            });
          } finally {
            if (isCalling && step.kind !== 'tool') {
              isCalling = false;
              calls.end();
            }
          }
        },
      };
    },
  };
}

/** Counts the calls in progress of a run. `waitForEnd` returns false if none has ended since `endedBefore` and none is in progress. */
function createCallCounter() {
  let active = 0;
  let ended = 0;
  let waiting: (() => void)[] = [];
  return {
    start: () => {
      active += 1;
    },
    end: () => {
      active -= 1;
      ended += 1;
      for (const wake of waiting) wake();
      waiting = [];
    },
    ended: () => ended,
    waitForEnd: async (endedBefore: number, signal: AbortSignal): Promise<boolean> => {
      if (ended > endedBefore) return true;
      if (active === 0) return false;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return true;
    },
  };
}
