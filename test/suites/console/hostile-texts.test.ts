import { afterAll, expect, test } from 'vitest';
import { executeDueRuns } from '../../../src/detection/runs/workers/run-loops.ts';
import { newPage, openBrowser } from '../../support/browser/browser.ts';
import { signIn, startConsole } from '../../support/browser/console.ts';
import { callOk, postDetection, postSuggestion } from '../../support/detection/detection-factory.ts';
import { startModelStandIn } from '../../support/models/model-stand-in.ts';
import { createScriptedModels, delimitedBlocks } from '../../support/models/scripted-models.ts';

/** Markup that would run a script or load something wherever it is not shown as text. `mark` says which place it was stored in. */
const hostile = (mark: string): string =>
  `<img src=x onerror=alert(1)>"><svg onload=alert(2)><a href="javascript:alert(3)">${mark}</a>{{7*7}}`;

/** The same with an override of the direction of writing, which would show `gpj.exe` as `exe.jpg`. */
const reversed = (mark: string): string => `${hostile(mark)}\u202Egpj.exe`;

/** Texts of the model. What must stand, its headline and a claim, is a value of the rows. */
const written = (mark: string): string => `<details open ontoggle=confirm()>${mark} <object data=x>`;

const model = await startModelStandIn('anthropic', ({ turns }) => {
  const [, rows] = delimitedBlocks(turns[0]!.text);
  const [{ rowId, fields }] = JSON.parse(rows!);
  const plan = { questions: [{ question: written('model-question'), data: written('model-data') }] };
  if (turns.length === 1)
    return {
      text: written('model-words'),
      calls: [
        { name: 'write_plan', input: plan },
        { name: 'get_rows', input: { contains: hostile('row-agent').slice(0, 200) } },
      ],
    };
  const cites = [{ observation: 'rows', rowId, field: 'agent', value: fields.agent }];
  const submission = {
    verdict: 'undecided',
    confidence: 90,
    severity: 'high',
    headline: fields.agent,
    claims: [
      { text: fields.agent, kind: 'fact', cites },
      { text: written('model-claim'), kind: 'fact', cites },
      { text: written('model-unproven'), kind: 'fact', cites: [{ document: written('model-document'), quote: 'x' }] },
      { text: written('model-assessment'), kind: 'assessment', cites: [] },
    ],
    techniques: [written('T1059')],
    nextSteps: [written('model-next')],
    answers: [],
  };
  return { calls: [{ name: 'submit_verdict', input: submission }] };
});
model.check(() => ({ calls: [{ name: 'answer', input: { answer: 'supported', reason: written('model-check') } }] }));
const started = await startConsole({ deps: { models: createScriptedModels({ m: model.url }) } });
const browser = await openBrowser();
const org = await started.newOrg();

const at = new Date(Date.now() - 3_600_000).toISOString();
const events = ['row-account', 'row-other'].map((account) => ({
  time: at,
  account: hostile(account),
  agent: hostile('row-agent'),
}));
await callOk(org, 'POST', '/api/logs/auth', events);
const detection = await postDetection(org, {
  name: reversed('detection'),
  description: reversed('description'),
  detectionCategory: 'custom',
  systemPrompt: hostile('prompt'),
  detectionQuery: "SELECT account, agent, 'high' AS severity, _id, _time FROM auth",
  entityField: 'account',
  modelAlias: 'm',
  toolNames: ['get_rows'],
  tags: ['hostile', 'attack.t1059'],
});
const from = new Date(Date.now() - 2 * 3_600_000).toISOString();
await callOk(org, 'POST', `/api/detections/${detection.id}/run`, { from, to: new Date().toISOString() });
await executeDueRuns(started.deps, new Date());
const [hit] = (await callOk(org, 'GET', '/api/hits')).hits;
const [run] = (await callOk(org, 'GET', `/api/detections/${detection.id}/runs`)).runs;
await callOk(org, 'POST', `/api/hits/${hit.id}/status`, { status: 'benign', reason: reversed('reason') });
await callOk(org, 'POST', `/api/hits/${hit.id}/status`, { status: 'open' });
await callOk(org, 'POST', `/api/detections/${detection.id}/exceptions`, {
  field: 'account',
  value: hostile('exception'),
  reason: reversed('exception-reason'),
});
const item = await callOk(org, 'POST', '/api/feed/items', {
  title: reversed('item'),
  text: `${hostile('report')} ran PowerShell and was seen at evil-bank[.]top. It dropped Emotet.`,
  publisher: reversed('publisher'),
});
const suggestion = await postSuggestion(org, {
  name: reversed('suggestion'),
  rationale: reversed('rationale'),
  sourceItemIds: [item.id],
  evidence: [{ itemId: item.id, evidenceRef: 'provenance.supportingPassages[0]' }],
});
await callOk(org, 'POST', '/api/views', { name: hostile('view').slice(0, 100), page: 'detections', query: 'q=x' });
await callOk(org, 'POST', '/api/keys', { name: reversed('key'), scopes: ['hits:read'] });
await callOk(org, 'POST', '/api/connections', {
  name: reversed('connection'),
  kind: 'elasticsearch',
  settings: { url: 'https://elastic.invalid' },
  credentials: { apiKey: 'any' },
});
const destination = await callOk(org, 'POST', '/api/destinations', {
  name: reversed('destination'),
  kind: 'webhook',
  url: 'https://tickets.invalid/hook',
  eventTypes: ['hit.created'],
});
const source = await callOk(org, 'POST', '/api/feed/sources', {
  name: reversed('source'),
  kind: 'rss',
  url: 'https://feeds.invalid/rss',
  visibility: 'private',
});

const { page, context, complaints } = await newPage(browser);
afterAll(() => context.close());
const dialogs: string[] = [];
page.on('dialog', (dialog) => {
  dialogs.push(dialog.message());
  void dialog.dismiss();
});
await signIn(page, started.origin, org, '/settings/organization');

const path = `/detections/${detection.id}`;
const modelMarks = ['model-claim', 'model-unproven', 'model-assessment', 'model-next'];
/** Every place, and marks of what it must show. */
const places: [path: string, marks: string[]][] = [
  ['/hits', ['row-agent']],
  [`/hits?hit=${hit.id}`, ['row-agent', 'reason', ...modelMarks]],
  [`/hits/${hit.id}`, ['row-agent', 'reason', ...modelMarks]],
  ['/detections', ['detection']],
  [path, ['detection']],
  [`${path}?tab=definition`, ['detection']],
  [`${path}?tab=prompts`, ['prompt']],
  [`${path}?tab=exceptions`, ['exception', 'exception-reason']],
  [`/runs/${run.id}`, ['detection']],
  [`/runs/${run.id}?tab=verdicts`, ['row-account', 'model-claim']],
  [
    `/runs/${run.id}?tab=steps`,
    [
      'detection',
      'row-account',
      'row-agent',
      'model-question',
      'model-data',
      'model-words',
      'model-check',
      ...modelMarks,
    ],
  ],
  ['/logs?dataset=auth&range=7d', ['row-agent']],
  ['/coverage?technique=T1059', ['detection']],
  ['/suggestions', ['suggestion']],
  [`/suggestions?suggestion=${suggestion.id}`, ['suggestion']],
  ['/feed', ['item']],
  [`/feed?item=${item.id}`, ['item', 'publisher']],
  [`/feed/${item.id}`, ['item', 'report']],
  ['/entities?kind=malware&name=Emotet', ['item', 'publisher']],
  ['/indicators?values=evil-bank.top&value=evil-bank.top', ['item']],
  ['/sources', ['source']],
  [`/sources?source=${source.id}`, ['source']],
  ['/settings/keys', ['key']],
  ['/settings/connections', ['connection']],
  ['/settings/destinations', ['destination']],
  [`/settings/destinations/${destination.id}`, ['destination']],
  ['/settings/audit', ['detection']],
];

const shownAs = (mark: string): string => (mark.startsWith('model-') ? `ontoggle=confirm()>${mark}` : `">${mark}</a>`);

test.each(places)('shows stored markup as text, and overrides of direction escaped, at %s', async (place, marks) => {
  await page.goto(`${started.origin}/console${place}`);
  for (const mark of marks) await page.getByText(shownAs(mark)).first().waitFor({ state: 'attached' });
  await page.waitForLoadState('networkidle');
  const planted = 'img, object, [ontoggle], [onerror], [onload], main script, iframe, a[href^="javascript:" i]';
  expect(await page.locator(planted).count()).toBe(0);
  expect(await page.title()).not.toContain('49');
  const shown = [await page.title(), await page.locator('body').innerText()].join('\n');
  expect(shown).not.toMatch(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/);
  const named = marks.some((mark) => !/^(row|model)-/.test(mark));
  if (named && !place.includes('tab=')) expect(shown).toContain(String.raw`\u202egpj.exe`);
  expect([dialogs, complaints]).toEqual([[], []]);
});
