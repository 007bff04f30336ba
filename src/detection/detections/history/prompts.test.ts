import { expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { callOk, postDetection } from '../../../../test/support/detection/detection-factory.ts';
import { expectLinearTime } from '../../../../test/support/linear-time.ts';

const { newOrg, newKey } = await startApp();
const org = await newOrg();
const keyOf = (key: string): string => key.split('_')[1]!;

test('lists versions in pages, newest first, with author, time and the active one', async () => {
  const { id } = await postDetection(org, { systemPrompt: 'one' });
  const other = await newKey(org, ['detections:write']);
  await other.call('PUT', `/api/detections/${id}`, { systemPrompt: 'two' });
  await callOk(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'three' });
  const { prompts, nextCursor } = await callOk(org, 'GET', `/api/detections/${id}/prompts`);
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
  const first = await callOk(org, 'GET', `/api/detections/${id}/prompts?limit=2`);
  const rest = await callOk(org, 'GET', `/api/detections/${id}/prompts?limit=2&cursor=${first.nextCursor}`);
  expect([...first.prompts, ...rest.prompts]).toEqual(prompts);
  expect(await callOk(org, 'GET', `/api/detections/${id}/prompts/2`)).toEqual(prompts[1]);
  expect((await org.call('GET', `/api/detections/${id}/prompts?cursor=eA`)).status).toBe(400);
});

type Json = ReturnType<typeof JSON.parse>;

test('compares two versions line by line', async () => {
  const { id } = await postDetection(org, { systemPrompt: 'Judge.\nBenign: travel.\nAct.' });
  await callOk(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'Judge.\nBenign: nothing.\nAct.\nSoon.' });
  expect(await callOk(org, 'GET', `/api/detections/${id}/prompts/diff?from=1&to=2`)).toMatchObject({
    from: 1,
    to: 2,
    lines: expect.arrayContaining([
      { op: 'same', text: 'Judge.' },
      { op: 'removed', text: 'Benign: travel.' },
      { op: 'added', text: 'Benign: nothing.' },
      { op: 'added', text: 'Soon.' },
    ]),
  });
  expect(await callOk(org, 'GET', `/api/detections/${id}/prompts/diff?from=2&to=2`)).toMatchObject({
    added: 0,
    removed: 0,
  });
});

test('compares two long texts with nothing in common in linear time', async () => {
  const text = (mark: string, lines: number): string =>
    Array.from({ length: lines }, (_, n) => `${mark}${n}`).join('\n');
  const detectionWith = async (lines: number): Promise<{ id: string; lines: number }> => {
    const { id } = await postDetection(org, { systemPrompt: text('a', lines) });
    await callOk(org, 'PUT', `/api/detections/${id}`, { systemPrompt: text('b', lines) });
    return { id, lines };
  };
  const compare = async (given: ReturnType<typeof detectionWith>): Promise<void> => {
    const { id, lines } = await given;
    const { added, removed } = await callOk(org, 'GET', `/api/detections/${id}/prompts/diff?from=1&to=2`);
    expect([added, removed]).toEqual([lines, lines]);
  };
  await expectLinearTime(detectionWith, compare, 60_000);
});

test('activates a version with a new revision only once, and numbers the next text after the highest version', async () => {
  const { id, revision } = await postDetection(org, { systemPrompt: 'one' });
  const two = await callOk(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'two' });
  const activated = await callOk(org, 'POST', `/api/detections/${id}/prompts/1/activate`);
  expect(activated).toMatchObject({ revision: revision + 2, activeSystemPrompt: { version: 1, prompt: 'one' } });
  expect(activated.updatedAt > two.updatedAt).toBe(true);
  expect(await callOk(org, 'POST', `/api/detections/${id}/prompts/1/activate`)).toEqual(activated);
  const three = await callOk(org, 'PUT', `/api/detections/${id}`, { systemPrompt: 'three' });
  expect(three.activeSystemPrompt).toMatchObject({ version: 3, prompt: 'three' });
  const late = await org.call('POST', `/api/detections/${id}/prompts/1/activate`, undefined, { 'if-match': '"old"' });
  expect(late.status).toBe(412);
});

test('allows writing, comparing and trying a version before it is active', async () => {
  const { id, revision, updatedAt } = await postDetection(org, { systemPrompt: 'one' });
  const draft = await callOk(org, 'POST', `/api/detections/${id}/prompts`, { prompt: 'two', description: 'stricter' });
  expect(draft).toMatchObject({ version: 2, active: false, description: 'stricter' });
  expect(await callOk(org, 'GET', `/api/detections/${id}`)).toMatchObject({
    revision,
    updatedAt,
    activeSystemPrompt: { version: 1 },
  });
  await callOk(org, 'PUT', `/api/detections/${id}/shadow`, { promptVersion: 2 });
  const active = await callOk(org, 'POST', `/api/detections/${id}/prompts/2/activate`);
  expect(active.activeSystemPrompt).toMatchObject({ version: 2, description: 'stricter', id: draft.id });
});

test('rejects missing versions, other organizations and deleted detections with the right error', async () => {
  const { id } = await postDetection(org);
  const otherOrg = await newOrg();
  const url = `/api/detections/${id}/prompts`;
  for (const [method, path] of [
    ['GET', url],
    ['GET', `${url}/1`],
    ['GET', `${url}/diff?from=1&to=1`],
    ['POST', `${url}/1/activate`],
  ] as const)
    expect((await otherOrg.call(method, path)).status, path).toBe(404);
  expect((await otherOrg.call('POST', url, { prompt: 'x' })).status).toBe(404);
  expect((await org.call('GET', `${url}/2`)).status).toBe(404);
  expect((await org.call('POST', `${url}/2/activate`)).status).toBe(404);
  expect((await org.call('GET', `${url}/0`)).status).toBe(400);
  const missing = await org.call('GET', `${url}/diff?from=1&to=9`);
  expect([missing.status, missing.body.errors[0].pointer]).toEqual([400, 'query/to']);
  const { agents } = await callOk(org, 'GET', '/api/agents?limit=200');
  const builtIn = agents.find((one: { isBuiltIn: boolean }) => one.isBuiltIn);
  expect((await org.call('GET', `/api/detections/${builtIn.id}/prompts`)).status).toBe(404);
  await callOk(org, 'DELETE', `/api/detections/${id}`);
  expect((await org.call('GET', url)).status).toBe(200);
  expect((await org.call('POST', `${url}/1/activate`)).status).toBe(409);
  expect((await org.call('POST', url, { prompt: 'x' })).status).toBe(409);
});

test('keeps prompts and revisions of a response agent like those of a detection, and of no built-in agent', async () => {
  const { id } = await callOk(org, 'POST', '/api/agents', {
    name: 'Look',
    systemPrompt: 'one',
    toolNames: ['get_rows'],
  });
  await callOk(org, 'POST', `/api/detections/${id}/prompts`, { prompt: 'two' });
  expect(await callOk(org, 'POST', `/api/detections/${id}/prompts/2/activate`)).toMatchObject({ revision: 2 });
  await callOk(org, 'PUT', `/api/agents/${id}`, { toolNames: [] });
  const { changes } = await callOk(org, 'GET', `/api/detections/${id}/revisions/diff?from=1&to=3`);
  expect(changes.map(({ field }: Json) => field)).toEqual(['promptVersion', 'systemPrompt', 'toolNames']);
  const restored = await callOk(org, 'POST', `/api/detections/${id}/revisions/1/restore`);
  expect(restored).toMatchObject({
    agentType: 'response',
    toolNames: ['get_rows'],
    activeSystemPrompt: { version: 1 },
  });
  const { entries } = await callOk(org, 'GET', '/api/audit');
  const own = entries.filter(({ resourceType, resourceId }: Json) => resourceType === 'agent' && resourceId === id);
  expect(own.map(({ action }: Json) => action)).toEqual([
    'agent.updated',
    'agent.updated',
    'agent.updated',
    'agent.prompt_written',
    'agent.created',
  ]);
  const { agents } = await callOk(org, 'GET', '/api/agents?builtIn=true');
  expect((await org.call('GET', `/api/detections/${agents[0].id}/prompts`)).status).toBe(404);
});
