import { expect, test } from 'vitest';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';

const started = await startConsole();
const browser = await openBrowser();

test('edits the prompt and the documents of a response agent, shows what each revision changed, and restores one', async () => {
  const org = await started.newOrg();
  const agent = await callOk(org, 'POST', '/api/agents', { name: 'Look', systemPrompt: 'Look.' });
  const read = () => callOk(org, 'GET', `/api/agents/${agent.id}`);
  const { page, context, complaints } = await newPage(browser);
  await signIn(page, started.origin, org, `/agents/${agent.id}?tab=definition`);
  await page.getByText('Documents', { exact: true }).click();
  await page.getByRole('button', { name: 'Add document' }).click();
  await page.getByLabel('Document name').fill('runbook');
  await page.getByLabel('Document text').fill('Backups run at night.\nNobody signs in.');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('No changes').waitFor();
  const document = { name: 'runbook', content: 'Backups run at night.\nNobody signs in.' };
  expect((await read()).contextDocs).toMatchObject([document]);
  await page.getByLabel('Document text').fill('Backups run at noon.\nNobody signs in.');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('No changes').waitFor();

  await page.getByRole('link', { name: 'Prompts' }).click();
  await page.getByRole('button', { name: 'Write a new version' }).click();
  await page.getByRole('textbox', { name: 'Prompt' }).fill('Look twice.');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByRole('main').getByRole('button', { name: 'Use this version' }).click();
  await expect.poll(async () => (await read()).activeSystemPrompt.prompt).toBe('Look twice.');

  await page.getByRole('link', { name: 'Revisions' }).click();
  const list = page.getByRole('navigation', { name: 'Revisions' });
  await list.getByRole('button', { name: /^Revision 4 ?Active.*system prompt/ }).waitFor();
  await list.getByRole('button', { name: /^Revision 3.*context docs/ }).click();
  // Only the changed line of the document, not the whole.
  await page.getByText('Backups run at noon.').waitFor();
  expect(await page.locator('.line-through').allInnerTexts()).toEqual([expect.stringContaining('at night.')]);
  await list.getByRole('button', { name: /^Revision 2/ }).click();
  await page.getByRole('button', { name: 'Restore this revision' }).click();
  await list.getByRole('button', { name: /^Revision 5 ?Active/ }).waitFor();
  expect(await read()).toMatchObject({ contextDocs: [document], activeSystemPrompt: { prompt: 'Look.' } });
  await context.close();
  expect(complaints).toEqual([]);
});
