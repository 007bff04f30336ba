import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { listRuns, startResponses } from '../../../test/support/detection/response-runs.ts';
import { hour } from '../../../test/support/detection/scripted-runs.ts';
import { updateAgent } from '../detections/built-in-agents.ts';
import { deleteAgent } from '../detections/life-cycle.ts';
import { findTool } from '../tools/tools.ts';
import { addShippedAgent, listShippedAgents, loadShippedAgents, updateShippedAgent } from './shipped-agents.ts';
import { getTriggers } from './agent-triggers.ts';

const testDb = await testDatabase();

test('the shipped agents have tools that only read, and triggers with a limit', () => {
  const agents = [...loadShippedAgents().values()];
  expect(agents.map(({ id }) => id)).toEqual(['story', 'triage']);
  for (const { body, triggers } of agents) {
    expect((body.toolNames ?? []).map((name) => findTool(name)?.effect)).toEqual(body.toolNames!.map(() => 'read'));
    expect(triggers.every(({ source }) => /^hit\.created$|^incident\./.test(source))).toBe(true);
  }
});

test('triage is added once with one call, looks into each new hit, and is updated without what was edited', async () => {
  const { t, deps, stand } = await startResponses(testDb, ['root']);
  const all = { ...deps, models: t.deps.models };
  expect((await listShippedAgents(deps, t.caller)).agents).toMatchObject([
    { id: 'story', added: null },
    { id: 'triage', added: null },
  ]);
  const enabled = { enabled: true };
  await expect(addShippedAgent(all, t.caller, 'triag', enabled)).rejects.toThrow('did you mean triage');
  await expect(addShippedAgent(all, t.caller, 'triage', enabled)).rejects.toThrow('No model is configured');
  const options = { modelAlias: 'm', enabled: true, runsPerHourMax: 5, filter: { severity: 'none' as const } };
  const [first, second] = await Promise.allSettled([
    addShippedAgent(all, t.caller, 'triage', options),
    addShippedAgent(all, t.caller, 'triage', options),
  ]);
  const results = [first, second].toSorted((a, b) => (a.status < b.status ? -1 : 1));
  expect(results[1]).toMatchObject({ reason: { message: expect.stringContaining('was added before') } });
  const agent = (results[0] as PromiseFulfilledResult<Awaited<ReturnType<typeof addShippedAgent>>>).value;
  expect(agent).toMatchObject({
    agentType: 'response',
    modelAlias: 'm',
    planningMode: 'always',
    triggerSummary: [{ source: 'hit.created', name: 'New hits', enabled: true }],
  });
  expect((await getTriggers(deps, t.caller, agent.id)).triggers).toMatchObject([
    { runsPerHourMax: 5, filter: { severity: 'none' } },
  ]);
  await t.runAt(hour(1));
  expect(await listRuns(t, agent.id)).toMatchObject([{ status: 'completed' }]);
  // The model reads what the detection looked for, as data.
  const [triaged] = stand.asked.filter(({ system }) => system.includes('you are the first to look into it'));
  expect(triaged!.turns[0]!.text).toContain('"category":"custom","query":');
  // An earlier version had another description and other tools. The organization changed its tools.
  await t.select`update library_installs set version = 'old',
    fields = replace(replace(fields, 'Looks into each new hit', 'Looked'), '"get_rows",', '')`;
  await t.select`update agents set description = 'Looked, comments what it found and what it could not find out, and proposes a status.'
    where id = ${agent.id}`;
  await updateAgent(t.deps, t.caller, { id: agent.id, input: { toolNames: ['count_by'] } }, undefined);
  const [, listed] = (await listShippedAgents(deps, t.caller)).agents;
  expect(listed!.added).toMatchObject({ agentId: agent.id, isCurrent: false, editedFields: ['toolNames'] });
  const updated = await updateShippedAgent(all, t.caller, 'triage');
  expect(updated.changes).toMatchObject([{ field: 'description', after: listed!.description }]);
  expect(updated.kept).toMatchObject([{ field: 'toolNames', before: ['count_by'] }]);
  expect((await listShippedAgents(deps, t.caller)).agents[1]).toMatchObject({
    added: { isCurrent: true, version: updated.version, editedFields: ['toolNames'] },
  });
  await deleteAgent(t.deps, t.caller, agent.id);
  await expect(updateShippedAgent(all, t.caller, 'triage')).rejects.toThrow('was not added');
  const again = await addShippedAgent(all, t.caller, 'triage', { ...options, enabled: false });
  expect(again.triggerSummary).toMatchObject([{ enabled: false }]);
});
