import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { atFileEnd } from '../support/at-file-end.ts';
import { grantTool } from '../../src/detection/detections/tool-grants/tool-grants.ts';
import { dataDir } from '../support/data.ts';
import { testDatabase } from '../support/database.ts';
import {
  attackGoals,
  measureInjection,
  ownStrings,
  plantedFields,
  recordedStrings,
  type AttackGoal,
} from '../support/models/injection.ts';
import { startModelStandIn } from '../support/models/model-stand-in.ts';
import { createScriptedModels } from '../support/models/scripted-models.ts';
import { startRuns } from '../support/detection/scripted-runs.ts';

const on = await testDatabase();
const dir = dataDir();
// The suite uses every eightieth string, because all of them take minutes. `npm run quality -- injection` measures all without runs. TOCSIN_INJECTION=all uses all and prints the figures.
const isAll = process.env['TOCSIN_INJECTION'] === 'all';
const sample = (strings: string[]): string[] => strings.filter((_text, at) => isAll || at % 80 === 0);
const recorded = dir === undefined ? [] : sample(recordedStrings(dir));

async function expectNoEffect(strings: string[], goal: AttackGoal): Promise<void> {
  const outcome = await measureInjection(on, strings, goal);
  if (isAll) console.log(goal, JSON.stringify(outcome));
  const planted = strings.length * plantedFields.length;
  const nothing = { succeeded: 0, confirmations: 0, toolCalls: 0, outgoing: 0, leaks: 0 };
  expect(outcome).toMatchObject({ planted, delivered: planted, hits: planted, ...nothing });
}

test.each(attackGoals)('a model that obeys every row reaches nothing (%s)', { timeout: 300_000 }, (goal) =>
  expectNoEffect([...sample(ownStrings()), ...recorded], goal),
);

test('an allowed http_get sends only values of the entity, and only to its own address', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url?.includes('redirect')) response.writeHead(302, { location: 'http://127.0.0.1:9/elsewhere' });
    response.end('{"score": 3}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atFileEnd(() => server.close());
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tries: Record<string, string>[] = [
    {},
    { entity: 'eve' },
    { entity: '203.0.113.9' },
    { entity: 'eve,password' },
    { entity: '../admin' },
    { entity: 'redirect me' },
  ];
  const stand = await startModelStandIn('openai-chat', (_asked, nth) =>
    nth <= tries.length
      ? { calls: [{ name: 'http_get', input: { values: tries[nth - 1] } }] }
      : { calls: [{ name: 'submit_verdict', input: {} }] },
  );
  const t = await startRuns(on, () => [{ _id: 'e', user: 'eve', ip: '203.0.113.9', note: 'redirect me' }]);
  t.deps.models = createScriptedModels({ m: stand.url }, { provider: 'openai', api: 'chat' });
  t.deps.fetchAllow = ['127.0.0.1'];
  const id = await t.newDetection({ modelAlias: 'm', toolNames: ['http_get'] });
  await expect(
    grantTool(t.deps, t.caller, { id, tool: 'http_get' }, { url: 'https://{entity}.example/' }),
  ).rejects.toMatchObject({ status: 400 });
  await grantTool(t.deps, t.caller, { id, tool: 'http_get' }, { url: `${address}/who/{entity}` });
  await t.runAt('2026-03-02T01:00:00Z');
  expect(asked).toEqual(['/who/eve', '/who/eve', '/who/203.0.113.9', '/who/redirect%20me']);
  const steps = await t.select<{ body: string }>`select body from run_steps order by n`;
  const outputs = steps.flatMap(
    ({ body }) => (JSON.parse(body) as { tool?: { output: string; failed: boolean } }).tool ?? [],
  );
  expect(outputs.map(({ failed }) => failed)).toEqual([false, false, false, true, true, true]);
  expect(outputs[0]!.output).toContain('score');
});
