import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { asked, made } from '../../../../test/support/detection/detection-factory.ts';

const { newOrg, newKey } = await startApp();
const org = await newOrg();
const keyOf = (key: string): string => key.split('_')[1]!;

test('versions are listed newest first with author and time, one of them active, page by page', async () => {
  const { id } = await made(org, { systemPrompt: 'one' });
  const other = await newKey(org, ['detections:write']);
  await other.call('PUT', `/api/detections/${id}`, { systemPrompt: 'two' });
  await asked(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'three' });
  const { prompts, nextCursor } = await asked(org, 'GET', `/api/detections/${id}/prompts`);
  expect(nextCursor).toBeNull();
  expect(prompts.map(({ version, prompt, active }: Json) => [version, prompt, active])).toEqual([
    [3, 'three', true],
    [2, 'two', false],
    [1, 'one', false],
  ]);
  expect(prompts.map(({ author }: Json) => author)).toEqual([
    { keyId: keyOf(org.key), name: 'test' },
    { keyId: keyOf(other.key), name: 'test' },
    { keyId: keyOf(org.key), name: 'test' },
  ]);
  const first = await asked(org, 'GET', `/api/detections/${id}/prompts?limit=2`);
  const rest = await asked(org, 'GET', `/api/detections/${id}/prompts?limit=2&cursor=${first.nextCursor}`);
  expect([...first.prompts, ...rest.prompts]).toEqual(prompts);
  expect(await asked(org, 'GET', `/api/detections/${id}/prompts/2`)).toEqual(prompts[1]);
  expect((await org.call('GET', `/api/detections/${id}/prompts?cursor=eA`)).status).toBe(400);
});

type Json = ReturnType<typeof JSON.parse>;

test('two versions are compared line by line', async () => {
  const { id } = await made(org, { systemPrompt: 'Judge.\nBenign: travel.\nAct.' });
  await asked(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'Judge.\nBenign: nothing.\nAct.\nSoon.' });
  expect(await asked(org, 'GET', `/api/detections/${id}/prompts/diff?from=1&to=2`)).toMatchObject({
    from: 1,
    to: 2,
    lines: expect.arrayContaining([
      { op: 'same', text: 'Judge.' },
      { op: 'removed', text: 'Benign: travel.' },
      { op: 'added', text: 'Benign: nothing.' },
      { op: 'added', text: 'Soon.' },
    ]),
  });
  expect(await asked(org, 'GET', `/api/detections/${id}/prompts/diff?from=2&to=2`)).toMatchObject({
    added: 0,
    removed: 0,
  });
});

test('two long texts with nothing in common are compared at once', async () => {
  const text = (mark: string): string => Array.from({ length: 60_000 }, (_, n) => `${mark}${n}`).join('\n');
  const { id } = await made(org, { systemPrompt: text('a') });
  await asked(org, 'PUT', `/api/detections/${id}`, { systemPrompt: text('b') });
  const begun = performance.now();
  const { added, removed } = await asked(org, 'GET', `/api/detections/${id}/prompts/diff?from=1&to=2`);
  expect([added, removed]).toEqual([60_000, 60_000]);
  expect(performance.now() - begun).toBeLessThan(5_000);
});

test('activating moves the active prompt and the revision, once; the next text gets a number of its own', async () => {
  const { id, revision } = await made(org, { systemPrompt: 'one' });
  const two = await asked(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'two' });
  const back = await asked(org, 'POST', `/api/detections/${id}/prompts/1/activate`);
  expect(back).toMatchObject({ revision: revision + 2, activeSystemPrompt: { version: 1, prompt: 'one' } });
  expect(back.updatedAt > two.updatedAt).toBe(true);
  expect(await asked(org, 'POST', `/api/detections/${id}/prompts/1/activate`)).toEqual(back);
  const three = await asked(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'three' });
  expect(three.activeSystemPrompt).toMatchObject({ version: 3, prompt: 'three' });
  const late = await org.call('POST', `/api/detections/${id}/prompts/1/activate`, undefined, { 'if-match': '"old"' });
  expect(late.status).toBe(412);
});

test('a version can be written, compared and tried before it is active', async () => {
  const { id, revision, updatedAt } = await made(org, { systemPrompt: 'one' });
  const draft = await asked(org, 'POST', `/api/detections/${id}/prompts`, { prompt: 'two', description: 'stricter' });
  expect(draft).toMatchObject({ version: 2, active: false, description: 'stricter' });
  expect(await asked(org, 'GET', `/api/detections/${id}`)).toMatchObject({
    revision,
    updatedAt,
    activeSystemPrompt: { version: 1 },
  });
  await asked(org, 'PUT', `/api/detections/${id}/shadow`, { promptVersion: 2 });
  const active = await asked(org, 'POST', `/api/detections/${id}/prompts/2/activate`);
  expect(active.activeSystemPrompt).toMatchObject({ version: 2, description: 'stricter', id: draft.id });
});

test('what is not there, not theirs or deleted is refused in the right words', async () => {
  const { id } = await made(org);
  const stranger = await newOrg();
  const url = `/api/detections/${id}/prompts`;
  for (const [method, path] of [
    ['GET', url],
    ['GET', `${url}/1`],
    ['GET', `${url}/diff?from=1&to=1`],
    ['POST', `${url}/1/activate`],
  ] as const)
    expect((await stranger.call(method, path)).status, path).toBe(404);
  expect((await stranger.call('POST', url, { prompt: 'x' })).status).toBe(404);
  expect((await org.call('GET', `${url}/2`)).status).toBe(404);
  expect((await org.call('POST', `${url}/2/activate`)).status).toBe(404);
  expect((await org.call('GET', `${url}/0`)).status).toBe(400);
  const missing = await org.call('GET', `${url}/diff?from=1&to=9`);
  expect([missing.status, missing.body.errors[0].pointer]).toEqual([400, 'query/to']);
  const { agents } = await asked(org, 'GET', '/api/agents?limit=200');
  const builtIn = agents.find((one: { isBuiltIn: boolean }) => one.isBuiltIn);
  expect((await org.call('GET', `/api/detections/${builtIn.id}/prompts`)).status).toBe(404);
  await asked(org, 'DELETE', `/api/detections/${id}`);
  expect((await org.call('GET', url)).status).toBe(200);
  expect((await org.call('POST', `${url}/1/activate`)).status).toBe(409);
  expect((await org.call('POST', url, { prompt: 'x' })).status).toBe(409);
});
