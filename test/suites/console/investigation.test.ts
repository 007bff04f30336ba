import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { sampleDismissalsAcrossOrgs } from '../../../src/detection/runs/review-queue/audit-dismissals.ts';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { findViolations, untilDrawn } from '../../support/browser/axe.ts';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn } from '../../support/browser/console.ts';
import { question, startInvestigations } from '../../support/browser/investigations.ts';
import { callOk } from '../../support/detection/detection-factory.ts';

const { started, org, detection, audited, hitOf } = await startInvestigations();
const browser = await openBrowser();
const { page, context, complaints } = await newPage(browser);
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

test('shows what the audit of dismissals found, and adds a wrong one to the tests of its detection', async () => {
  const tomorrow = { ...started.deps, clock: () => new Date(Date.now() + 86_400_000) };
  expect(await sampleDismissalsAcrossOrgs(tomorrow)).toBe(true);
  await openPath(`/detections/${audited.id}`);
  await page.getByText('No dismissal has been audited.').waitFor();
  await page.getByText(/^Judges dismissed 1 candidate in 90 days, .* No other model alias/).waitFor();
  await page.getByRole('link', { name: '1 dismissal to look at' }).click();
  await page.getByRole('list', { name: 'Review queue' }).getByRole('button').click();
  const panel = page.getByRole('complementary');
  await panel.getByText('The judge dismissed it. Was that right?').waitFor();
  await panel.getByRole('button', { name: /^The runbook says that such sign-ins are planned/ }).waitFor();
  await expectAccessible();
  await panel.getByRole('button', { name: 'Raise as a hit' }).click();
  await panel.getByLabel('Why?').fill('Nobody planned it.');
  await page.keyboard.press('Enter');
  await panel.getByText('Nobody planned it.').waitFor();
  await panel.getByRole('button', { name: 'Add as a test case' }).click();
  await page.getByText('The test case is added.').waitFor();
  await openPath(`/detections/${audited.id}`);
  await page.getByText('1 wrong of 1 audited: at most 100 % of dismissals, 95 %').waitFor();
  await openPath(`/detections/${audited.id}?tab=tests`);
  await page.getByText('alan').first().waitFor();
});

test('writes a response agent with its inputs and triggers', async () => {
  await openPath('/detections');
  await page.getByRole('link', { name: 'Response agents' }).click();
  await page.getByRole('grid', { name: 'Response agents' }).getByText('Built in').first().waitFor();
  await page.getByRole('button', { name: 'Add Triage' }).click();
  const adding = page.getByRole('dialog');
  await adding.getByLabel('Model').selectOption('m');
  await adding.getByRole('button', { name: 'Add Triage' }).click();
  await page.getByRole('heading', { name: 'Triage', exact: true }).waitFor();
  await page.goBack();
  await page.getByRole('grid', { name: 'Response agents' }).getByText('Triage').waitFor();
  await page.keyboard.press('n');
  await page.getByRole('button', { name: 'Create response agent' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Look into sign-ins');
  await page.getByLabel('Prompt', { exact: true }).fill('Find out who signed in.');
  await page.getByLabel('Model', { exact: true }).selectOption('m');
  await page.getByText('Inputs', { exact: true }).click();
  await page.getByRole('button', { name: 'Add input' }).click();
  const input = page.getByRole('group', { name: 'Input 1' });
  await input.getByLabel('Name').fill('address');
  await page.getByText('Structured output').click();
  await page.getByLabel('JSON schema').fill('{');
  await page.getByRole('button', { name: 'Create response agent' }).click();
  await page.getByText('This is not JSON.').first().waitFor();
  await page.getByLabel('JSON schema').fill('');
  await expectAccessible();
  await page.getByRole('button', { name: 'Create response agent' }).click();
  await page.getByRole('button', { name: 'Add trigger' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Severity, at least').selectOption('critical');
  await dialog.getByLabel('Only of these detections').fill(detection.name);
  await dialog.getByRole('button', { name: detection.name, exact: true }).click();
  await dialog.getByText(`Detection${detection.name}`).waitFor();
  await dialog.getByLabel('Where address comes from').selectOption('from');
  await dialog.getByLabel('From the event').fill('/entity');
  await dialog.getByRole('button', { name: 'Add trigger' }).click();
  await page.getByText('Every new hit, severity critical or higher, of 1 detection, at most 60 runs an hour').waitFor();
  await page.getByRole('button', { name: 'Add trigger' }).click();
  await dialog.getByLabel('Source').selectOption('webhook');
  await dialog.getByLabel('Name').fill('From the ticket system');
  await dialog.getByRole('button', { name: 'Add trigger' }).click();
  await dialog.getByText(/^whsec_/).waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('group', { name: 'Address' }).getByText('/api/hooks/').waitFor();
  await expectAccessible();
  await page.getByRole('button', { name: 'Actions for From the ticket system' }).click();
  await page.getByRole('menuitem', { name: 'Turn off' }).click();
  await page.getByText('Off', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).last().click();
  await page.getByText('From the ticket system (off)').waitFor();
});

test('asks an agent about a hit, reads its comment and its run, and approves what it proposes', async () => {
  const hit = hitOf('ada');
  await openPath(`/hits/${hit.id}`);
  await page.getByLabel('Comment (Markdown)').fill('I know this account.');
  await page.getByRole('button', { name: 'Add comment' }).click();
  const comments = page.getByRole('list', { name: 'Comments' });
  await comments.getByText('I know this account.').waitFor();
  await page.getByRole('button', { name: 'Ask about this hit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Question').fill('Was it ada?');
  await dialog.getByLabel('address').fill('203.0.113.7');
  await dialog.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('The agent is investigating.').waitFor();
  await executeDueRuns(started.deps, new Date());
  await page.getByText('The agent answered in a comment.').waitFor();
  await comments.getByText(/Found:\n- ada signed in with curl/).waitFor();
  const proposals = page.getByRole('list', { name: 'Proposals of agents' });
  await proposals.getByText('"status": "true_positive"').waitFor();
  await expectAccessible();
  await page.getByRole('status').getByRole('link', { name: 'See its run' }).click();
  await page.getByRole('link', { name: 'Look into sign-ins' }).waitFor();
  await page.getByText('Was it ada?').waitFor();
  await page.getByText('Harmful').first().waitFor();
  await expectAccessible();
  await page.getByRole('link', { name: 'Investigations' }).click();
  await page.getByRole('button', { name: 'Answered by o1' }).waitFor();
  await openPath('/');
  await page.getByRole('link', { name: /1 proposal of agents/ }).click();
  await page.getByRole('button', { name: /^Mark true positive/ }).click();
  const panel = page.getByRole('complementary');
  await panel.getByRole('group', { name: 'Arguments' }).getByText('true_positive').waitFor();
  await expectAccessible();
  await panel.getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Approved and executed.').waitFor();
  await page.getByText('Nothing waits for approval').waitFor();
  expect(await callOk(org, 'GET', `/api/hits/${hit.id}`)).toMatchObject({ status: 'true_positive' });
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
