import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { executeDueRuns } from '../../../src/detection/runs/workers/execute-due-runs.ts';
import { disableTransitions, findViolations, untilDrawn } from '../../support/browser/axe.ts';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { callOk, postDetection } from '../../support/detection/detection-factory.ts';
import type { ModelRequestRecord } from '../../support/models/model-server.ts';
import { startModelStandIn } from '../../support/models/model-stand-in.ts';
import { createScriptedModels, delimitedBlocks } from '../../support/models/scripted-models.ts';

const question = 'Did the account sign in from there before?';
const query = "SELECT _id, _time, account, address FROM auth WHERE account = 'ada'";

/** Plans and searches first. Then it raises `ada`, with a sentence that nothing proves, and leaves any other account undecided. */
function investigate({ turns }: ModelRequestRecord) {
  const [facts, rows] = delimitedBlocks(turns[0]!.text);
  const { entity } = JSON.parse(facts!) as { entity: string };
  const [{ rowId }] = JSON.parse(rows!) as [{ rowId: string }];
  const [found] = delimitedBlocks(turns.at(-1)!.text);
  const common = { severity: 'high', confidence: 80, techniques: ['T1078'], answers: [] };
  const agent = { observation: 'rows', rowId, field: 'agent' };
  const isTool = { text: `${entity} signed in with curl/8.4.`, kind: 'fact', cites: [{ ...agent, value: 'curl/8.4' }] };
  if (entity !== 'ada') {
    const nextSteps = ['Is grace on the road this week?'];
    const submission = { ...common, verdict: 'undecided', headline: 'grace used a tool', claims: [isTool], nextSteps };
    return { calls: [{ name: 'submit_verdict', input: submission }] };
  }
  if (turns.length === 1)
    return {
      text: 'I compare it with earlier sign-ins.',
      calls: [
        { name: 'write_plan', input: { questions: [{ question, data: 'Sign-ins of the account' }] } },
        { name: 'search_logs', input: { query } },
      ],
    };
  const { rows: earlier } = JSON.parse(found!) as { rows: { rowId: string }[] };
  const address = { observation: 'o1', rowId: earlier[0]!.rowId, field: 'address', value: '198.51.100.4' };
  const claims = [
    isTool,
    { text: 'Earlier it signed in from 198.51.100.4.', kind: 'fact', cites: [address] },
    { text: 'The detection found 1 row.', kind: 'fact', cites: [{ fact: 'rows' }] },
    { text: 'It deleted a trail.', kind: 'fact', cites: [{ ...agent, value: 'DeleteTrail' }] },
    { text: 'This looks like a stolen password.', kind: 'assessment', cites: [] },
  ];
  const answers = [{ question, observation: 'o1' }];
  const nextSteps = ['Ask ada.'];
  const submission = { ...common, verdict: 'raise', headline: 'ada used a tool', claims, nextSteps, answers };
  return { calls: [{ name: 'submit_verdict', input: submission }] };
}

const model = await startModelStandIn('anthropic', investigate);
const started = await startConsole({ deps: { models: createScriptedModels({ m: model.url }) } });
const browser = await openBrowser();
const org = await started.newOrg();
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
await callOk(org, 'POST', '/api/logs/auth', [
  { time: hoursAgo(5), account: 'ada', address: '198.51.100.4', agent: 'Firefox' },
  { time: hoursAgo(1), account: 'ada', address: '203.0.113.7', agent: 'curl/8.4' },
  { time: hoursAgo(1), account: 'grace', address: '203.0.113.8', agent: 'curl/8.4' },
]);
const detection = await postDetection(org, {
  name: 'Sign-in with a tool',
  detectionCategory: 'custom',
  detectionQuery: "SELECT account, address, agent, 'medium' AS severity, _id, _time FROM auth WHERE agent LIKE 'curl%'",
  entityField: 'account',
  modelAlias: 'm',
  toolNames: ['search_logs'],
});
await callOk(org, 'POST', `/api/detections/${detection.id}/run`, { from: hoursAgo(2), to: hoursAgo(0) });
await executeDueRuns(started.deps, new Date());
const { hits } = await callOk(org, 'GET', '/api/hits');
const reviewed = await postDetection(org, {
  name: 'Sign-in of grace with a tool',
  detectionCategory: 'custom',
  detectionQuery: "SELECT account, address, agent, _id, _time FROM auth WHERE agent LIKE 'curl%' AND account = 'grace'",
  entityField: 'account',
  modelAlias: 'm',
  onUndecided: 'review',
});
await callOk(org, 'POST', `/api/detections/${reviewed.id}/run`, { from: hoursAgo(2), to: hoursAgo(0) });
await executeDueRuns(started.deps, new Date());
const hitOf = (entity: string) => hits.find((hit: { entity: string }) => hit.entity === entity);

const { page, context, complaints } = await newPage(browser, { reducedMotion: 'reduce' });
await disableTransitions(page);
await signIn(page, started.origin, org, '/hits');
afterAll(() => context.close());

async function openPath(path: string): Promise<Page> {
  await page.goto(`${started.origin}/console${path}`);
  await page.getByRole('main').waitFor();
  return page;
}

async function expectAccessible(): Promise<void> {
  await page.locator('[data-loading]').first().waitFor({ state: 'detached' });
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate(untilDrawn);
    expect(await findViolations(page)).toEqual([]);
  }
  expect(complaints.splice(0)).toEqual([]);
}

test('leads from a sentence to the query and the row behind it, by keyboard', async () => {
  await openPath(`/hits/${hitOf('ada').id}`);
  const sentence = page.getByRole('button', { name: 'ada signed in with curl/8.4. Supported by a second look' });
  await sentence.focus();
  await page.keyboard.press('Enter');
  const source = page.locator(`[id="${await sentence.getAttribute('aria-controls')}"]`);
  await source.getByText('The query of the detection').waitFor();
  await source.getByRole('group', { name: 'Query' }).getByText("agent LIKE 'curl%'").waitFor();
  await source.getByRole('button', { name: 'Copy' }).waitFor();
  expect(await source.locator('.bg-mark').allTextContents()).toEqual(['curl/8.4']);
  expect(await source.locator('time').count()).toBeGreaterThan(1);
  await expectAccessible();
  await page.keyboard.press('Enter');
  await source.waitFor({ state: 'detached' });
});

test('shows the rows of a tool that a sentence cites, and goes on to the investigation', async () => {
  await openPath(`/hits/${hitOf('ada').id}`);
  await page.getByRole('button', { name: /^Earlier it signed in from/ }).click();
  await page.getByText('o1 · search_logs').waitFor();
  await page.getByRole('group', { name: 'Query' }).getByText("account = 'ada'").waitFor();
  await page.getByRole('group', { name: 'Evidence' }).getByText('198.51.100.4').first().waitFor();
  await page.getByRole('link', { name: 'Items with T1078' }).waitFor();
  await page.getByRole('link', { name: 'See the investigation' }).click();
  await page.getByRole('heading', { name: 'What was asked and found' }).waitFor();
});

test('shows a fact that a sentence cites, with its value', async () => {
  await openPath(`/hits/${hitOf('ada').id}`);
  const sentence = page.getByRole('button', { name: /^The detection found 1 row\. Supported/ });
  await sentence.click();
  const source = page.locator(`[id="${await sentence.getAttribute('aria-controls')}"]`);
  await source.getByText('Fact computed from the logs').waitFor();
  expect(await source.locator('mark').allTextContents()).toEqual(['1']);
});

test('strikes through a sentence that nothing proves, with the reason in words', async () => {
  await openPath(`/hits/${hitOf('ada').id}`);
  const sentence = page.getByRole('button', { name: /^It deleted a trail\. Unproven: .*different value/ });
  expect(await sentence.locator('del').textContent()).toBe('It deleted a trail.');
  await sentence.click();
  await page.getByText('It cites agent “DeleteTrail”, which is not there.').waitFor();
  await page.getByText('This looks like a stolen password.').waitFor();
  await page.getByText('Assessment', { exact: true }).waitFor();
});

test('puts the open question of an undecided hit first, in the list and on the overview too', async () => {
  await openPath(`/hits?hit=${hitOf('grace').id}`);
  await page.getByRole('option', { name: /grace used a tool.*Undecided/ }).waitFor();
  const panel = page.getByRole('complementary');
  await panel.getByText('Undecided: a person must find out').waitFor();
  await panel.getByText('Is grace on the road this week?').first().waitFor();
  await expectAccessible();
  await openPath('/');
  await page.getByRole('link', { name: /1 open hit that the data did not decide/ }).waitFor();
});

test('decides a case of the review queue, with its question and evidence', async () => {
  await openPath('/hits');
  await page.getByRole('link', { name: 'Review queue' }).click();
  await page.getByRole('button', { name: /grace used a tool.*Is grace on the road/ }).click();
  const panel = page.getByRole('complementary');
  await panel.getByText('Undecided: a person must find out').waitFor();
  await panel.getByRole('button', { name: /^grace signed in with curl/ }).click();
  await panel.getByRole('group', { name: 'Query' }).getByText("agent LIKE 'curl%'").waitFor();
  await expectAccessible();
  await panel.getByRole('button', { name: 'Raise as a hit' }).click();
  await panel.getByLabel('Why?').fill('Nobody knows the address.');
  await panel.getByRole('button', { name: 'Raise as a hit' }).click();
  await page.getByText('It is a hit now.').waitFor();
  await panel.getByRole('heading', { name: 'This case is raised.' }).waitFor();
  await page.getByRole('main').getByText('Nothing to review').waitFor();
  await panel.getByRole('link', { name: 'See the hit' }).click();
  await page.getByRole('heading', { name: 'grace used a tool' }).waitFor();
});

test('reads a transcript as an investigation: questions, what was found, checks and what follows', async () => {
  const run = (await callOk(org, 'GET', `/api/detections/${detection.id}/runs`)).runs[0];
  await openPath(`/runs/${run.id}?tab=steps&entity=ada`);
  const questions = page.getByRole('listitem').filter({ hasText: question });
  await questions.getByText('Sign-ins of the account ·').waitFor();
  await questions.getByRole('button', { name: 'Answered by o1' }).click();
  const finding = page.getByRole('listitem').filter({ hasText: 'o1 · search_logs' });
  await page.locator('li:focus').filter({ hasText: 'o1 · search_logs' }).waitFor();
  await page.getByText('I compare it with earlier sign-ins.').waitFor();
  const rows = finding.getByRole('table');
  expect(await rows.getByRole('row').count()).toBe(3);
  await rows.getByText('198.51.100.4').waitFor();
  await page.getByText('Submitted: raise, 80 % confident.').waitFor();
  const check = page.getByRole('listitem').filter({ hasText: 'Does what it cites say this?' }).first();
  await check.getByText('Supported: The cells say so.').waitFor();
  expect(
    await page.getByRole('listitem').filter({ hasText: 'It deleted a trail.' }).last().locator('del').count(),
  ).toBe(1);
  await finding.getByText('Raw messages').click();
  await finding.getByRole('group', { name: 'Output' }).waitFor();
  await expectAccessible();
});

test('keeps its sentences, tables and queries within a narrow page', async () => {
  await page.setViewportSize({ width: 480, height: 900 });
  const run = (await callOk(org, 'GET', `/api/detections/${detection.id}/runs`)).runs[0];
  for (const path of [`/hits/${hitOf('ada').id}`, `/runs/${run.id}?tab=steps&entity=ada`, `/runs/${run.id}`]) {
    await openPath(path);
    const sentence = page.getByRole('button', { name: /^ada signed in with/ }).last();
    if (!path.endsWith(run.id)) await sentence.click();
    else await page.getByText('ada signed in with').first().waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(480);
    const overflow = `[...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > 481
      && !one.closest('.overflow-x-auto, .overflow-auto')).map((one) => one.outerHTML.slice(0, 200))`;
    expect(await page.evaluate(overflow)).toEqual([]);
    await expectAccessible();
  }
});
