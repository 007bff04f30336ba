import { expect, test } from 'vitest';
import type { Judge } from '../../../src/detection/runs/judging/judge.ts';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk, postDetection } from '../../support/detection/detection-factory.ts';
import { createScriptedSiem } from '../../support/detection/scripted-runs.ts';
import { upstreamModelError } from '../../../src/platform/models/model-error.ts';
import type { QueryRow } from '../../../src/detection/siem/connector.ts';

/** The search with this number waits until it is stopped or `release` is called. */
let heldSearch = Infinity;
let release = (): void => undefined;
let stoppedSearches = 0;
let found: QueryRow[] = [];
const siem = createScriptedSiem(async (_request, signal) => {
  if (siem.requests.length !== heldSearch) return found;
  const { promise, resolve } = Promise.withResolvers<void>();
  release = resolve;
  signal.addEventListener('abort', () => {
    stoppedSearches++;
    resolve();
  });
  await promise;
  return [];
});
const started = await startConsole({ deps: { connectionFor: () => Promise.resolve(siem) } });
const { openPage } = await startPages(started);

async function openDetection(tab: string) {
  siem.requests.length = 0;
  found = [];
  const org = await started.newOrg();
  const { id } = await postDetection(org, { detectionCategory: 'custom', detectionCadence: 'hourly' });
  const page = await openPage(org, `/detections/${id}?tab=${tab}`);
  return { org, id, page };
}

test('shows how far a backtest is, cancels it with its query, and shows the result of the next one', async () => {
  const { page } = await openDetection('backtest');
  heldSearch = 4;
  await page.getByLabel('Time').selectOption('Last 6 hours');
  await page.getByRole('button', { name: 'Start backtest' }).click();
  const bar = page.getByRole('progressbar', { name: /^Examined 3 of [67] windows$/ });
  await bar.waitFor();
  expect(Number(await bar.getAttribute('aria-valuenow'))).toBeGreaterThan(40);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await bar.waitFor({ state: 'detached' });
  await expect.poll(() => stoppedSearches).toBe(1);
  expect(siem.requests).toHaveLength(4);
  await page.getByRole('button', { name: 'Start backtest' }).click();
  await page.getByRole('heading', { name: 'Hits per day' }).waitFor();
});

test('stops a run', async () => {
  const { org, id, page } = await openDetection('runs');
  heldSearch = 1;
  const range = { from: new Date(Date.now() - 7_200_000).toISOString(), to: new Date().toISOString() };
  await callOk(org, 'POST', `/api/detections/${id}/run`, range);
  const executing = executeDueRuns(started.deps, new Date());
  await expect.poll(() => siem.requests.length).toBe(1);
  const [run] = (await callOk(org, 'GET', `/api/detections/${id}/runs`)).runs;
  await page.goto(`${started.origin}/console/runs/${run.id}`);
  await page.getByText('Examining', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Cancel run' }).click();
  await page.getByText('The run stops after the query in progress.').waitFor();
  release();
  await executing;
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Cancel run' }).waitFor({ state: 'detached' });
  expect(await callOk(org, 'GET', `/api/runs/${run.id}`)).toMatchObject({ status: 'cancelled' });
  expect(siem.requests).toHaveLength(1);
});

const unavailable: Judge = {
  model: 'scripted',
  instant: false,
  judge: () => Promise.reject(upstreamModelError('model_unavailable', 'No route.', { retryable: true, pauses: true })),
};

test('shows that a run waits for its model, and cancels it', async () => {
  const { org, id, page } = await openDetection('runs');
  heldSearch = Infinity;
  found = [{ _id: 'a', user: 'root' }];
  await callOk(org, 'POST', `/api/detections/${id}/run`, {});
  await executeDueRuns(started.deps, new Date(), { judge: unavailable, skipWaiting: true });
  await page.reload();
  await page.getByText('Judging', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Cancel run' }).click();
  await page.getByText('Cancelled', { exact: true }).first().waitFor();
  const [run] = (await callOk(org, 'GET', `/api/detections/${id}/runs`)).runs;
  expect(run).toMatchObject({ status: 'cancelled', phase: null });
});
