import { inOrg } from '../../platform/db/db.ts';
import type { Definition } from '../detections/record/definition.ts';
import { checkModelAlias } from '../detections/record/check-model-alias.ts';
import { findPromptText } from '../detections/history/prompts.store.ts';
import { findDefinition } from '../detections/history/revisions.store.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { createTrialRun } from '../runs/execution/trial-run.ts';
import type { ActiveRun } from '../runs/execution/active-run.ts';
import { listReviewedHits, type ReviewedHit } from '../hits/hit-status.store.ts';
import { openSiem, collectHitKeys, simulateTimeRange, parseTimeRange, type TrialDeps } from './preview.ts';
import type { Backtest, BacktestRequest } from './testing.schema.ts';
import type { SimulationResult, SimulatedWindow } from './simulate.ts';

/** What a detection would have raised over a stretch of the past, on event time, beside what people said of what it did raise. Stores nothing. */
export async function backtestDetection(
  deps: TrialDeps,
  caller: Caller,
  detectionId: string,
  input: BacktestRequest,
): Promise<Backtest> {
  const stretch = parseTimeRange(input.from, input.to);
  checkModelAlias(deps.models, input.modelAlias);
  const at = deps.clock();
  const ref = { orgId: caller.orgId, detectionId };
  const { definitions, reviewed } = await inOrg(deps.db, caller.orgId, async (tx) => {
    const active = await findDefinition(tx, caller.orgId, detectionId);
    if (!active) throw appError('not_found', `Detection ${detectionId} not found.`);
    const prompt =
      input.promptVersion === undefined
        ? undefined
        : await findPromptText(tx, { ...ref, version: input.promptVersion });
    if (input.promptVersion !== undefined && !prompt)
      throw fieldError('/promptVersion', 'unknown_prompt', `There is no version ${input.promptVersion} of the prompt.`);
    return { definitions: versionsOf(active, input, prompt), reviewed: await listReviewedHits(tx, ref, stretch) };
  });
  const versions: Backtest['versions'] = [];
  let first: SimulationResult | undefined;
  for (const definition of definitions) {
    const connection = await openSiem(deps, caller.orgId, definition);
    const run = createTrialRun({ ...ref, definition }, { connection, clock: 'event', model: 'analyst', at });
    const simulated = await simulateTimeRange(deps, run, stretch, at);
    first ??= simulated;
    versions.push(versionOf(run, simulated, reviewed));
  }
  const windows = first?.windows ?? [];
  return {
    from: stretch.from.toISOString(),
    to: (windows.at(-1)?.to ?? stretch.from).toISOString(),
    windows: windows.length,
    rowsTotal: windows.reduce((sum, { rowsTotal }) => sum + rowsTotal, 0),
    complete: first?.complete ?? false,
    versions,
  };
}

function versionsOf(
  active: Definition,
  { promptVersion, modelAlias }: BacktestRequest,
  prompt: Pick<Definition, 'promptId' | 'systemPrompt'> | undefined,
): Definition[] {
  if (promptVersion === undefined && modelAlias === undefined) return [active];
  const other = { ...active, ...prompt, promptVersion: promptVersion ?? active.promptVersion };
  return [active, { ...other, modelAlias: modelAlias ?? active.modelAlias }];
}

function versionOf(
  { definition, model, spent }: ActiveRun,
  { windows }: SimulationResult,
  reviewed: ReviewedHit[],
): Backtest['versions'][number] {
  const decisions = windows.flatMap((window) => window.decisions);
  const keys = collectHitKeys(decisions);
  const seen = reviewed.filter(({ key }) => keys.has(key));
  const right = reviewed.filter(({ status }) => status === 'true_positive');
  const rightSeen = seen.filter(({ status }) => status === 'true_positive').length;
  return {
    promptVersion: definition.promptVersion,
    modelAlias: definition.modelAlias,
    model,
    hits: keys.size,
    occurrences: decisions.filter(({ outcome }) => outcome === 'occurrence').length,
    hitsPerDay: perDay(windows),
    candidates: decisions.length,
    costUsd: spent.costUsd,
    reviewed: seen.length,
    precision: share(rightSeen, seen.length),
    recall: share(rightSeen, right.length),
  };
}

function perDay(windows: SimulatedWindow[]): { day: string; hits: number }[] {
  const byDay = Map.groupBy(windows, ({ from }) => from.toISOString().slice(0, 10));
  const seen = new Set<string>();
  return [...byDay].map(([day, own]) => {
    const fresh = [...collectHitKeys(own.flatMap(({ decisions }) => decisions))].filter((key) => !seen.has(key));
    for (const key of fresh) seen.add(key);
    return { day, hits: fresh.length };
  });
}

const share = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((1000 * part) / whole) / 1000;
