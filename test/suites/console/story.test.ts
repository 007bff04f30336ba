import { expect, test } from 'vitest';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { findViolations } from '../../support/browser/axe.ts';
import { startConsole, startPages } from '../../support/browser/console.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { startHits } from '../../support/detection/raised-hits.ts';
import { startModelStandIn } from '../../support/models/model-stand-in.ts';
import { createScriptedModels } from '../../support/models/scripted-models.ts';

const stand = await startModelStandIn('anthropic', ({ turns }) => {
  const rows = JSON.parse(/\n(\[\{"rowId".*\])\n/.exec(turns[0]!.text)![1]!) as { rowId: string; fields: object }[];
  const { rowId } = rows.find(({ fields }) => 'src_ip' in fields)!;
  const cites = [{ observation: 'rows', rowId, field: 'src_ip', value: '198.51.100.7' }];
  const claims = [
    { text: 'ada signed in from 198.51.100.7.', kind: 'fact', cites },
    { text: 'ada signed in from 192.0.2.1.', kind: 'fact', cites },
  ];
  const verdict = { reasoning: 'r', verdict: 'raise', severity: 'high', confidence: 80, techniques: [], nextSteps: [] };
  return { calls: [{ name: 'submit_verdict', input: { ...verdict, headline: 'ada signed in.', claims } }] };
});
stand.check(() => ({ calls: [{ name: 'answer', input: { reason: 'r', answer: 'supported' } }] }));
const started = await startConsole({ deps: { models: createScriptedModels({ m: stand.url }) } });
const { openPage } = await startPages(started);

test('has an agent write the story of an incident, which tells only what its rows prove', async () => {
  const org = await started.newOrg();
  const hits = await startHits(started.deps.db, org.id);
  await hits.raise([
    { name: 'signs in', at: 0, entity: 'ada', techniques: ['T1078'], fields: { src_ip: '198.51.100.7' } },
    { name: 'exports', at: 2, entity: 'ada', techniques: ['T1567'] },
  ]);
  await hits.place();
  const [incident] = (await callOk(org, 'GET', '/api/incidents')).incidents;
  const page = await openPage(org, `/incidents/${incident.id}`);
  await page.getByText('Composed from the verdicts of the hits.').waitFor();
  await page.getByRole('link', { name: 'Let a model write it' }).click();
  await page.waitForURL(/\/console\/agents/);
  await callOk(org, 'POST', '/api/shipped-agents/story', { modelAlias: 'm', enabled: true });
  await page.goto(`${started.origin}/console/incidents/${incident.id}`);
  await page.getByRole('button', { name: 'Let a model write it' }).click();
  await page.getByText('The agent writes the story.').waitFor();
  await executeDueRuns(started.deps, new Date());
  await page.getByText('Written by Story from the rows of the hits, and checked.').waitFor();
  const story = page.getByRole('list', { name: 'What happened' });
  const sentences = story.getByRole('button', { name: /ada signed in from/ });
  await sentences.first().waitFor();
  expect(await sentences.allInnerTexts()).toEqual([expect.stringContaining('198.51.100.7')]);
  await page.getByText(/1 sentence/).waitFor();
  await sentences.click();
  await story.getByText('198.51.100.7', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Write it again' }).waitFor();
  expect(await findViolations(page)).toEqual([]);
});
