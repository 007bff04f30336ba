import { setTimeout } from 'node:timers/promises';
import { createServiceCall, type ServiceCall } from '../../detection/as-code/service-client.ts';
import type { AgentList, Detection } from '../../detection/detections/record/detection.schema.ts';
import type { ShippedAgentList, ShippedAgentUpdate } from '../../detection/response-agents/shipped-agents.schema.ts';
import type { Run, RunStarted } from '../../detection/runs/run-model/runs.schema.ts';
import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import { rejectArguments } from '../support/body-arguments.ts';
import { UsageError } from '../support/failures.ts';
import { printLines, printResult } from '../support/output.ts';
import { readServiceAccess } from '../support/service-access.ts';

type JsonOption = { json?: boolean | undefined };
type AddOptions = JsonOption & {
  model?: string | undefined;
  severity?: string | undefined;
  runsPerHour?: string | undefined;
  disabled?: boolean | undefined;
};
type RunOptions = JsonOption & {
  hit?: string | undefined;
  incident?: string | undefined;
  question?: string | undefined;
  input?: string[] | undefined;
  wait: string;
};

const openService = (): ServiceCall => createServiceCall(readServiceAccess());
const listOwn = async (call: ServiceCall): Promise<Detection[]> => {
  const { agents } = (await call<AgentList>('GET', '/api/agents?type=response&limit=200')).body;
  return agents.filter(({ isBuiltIn }) => !isBuiltIn);
};
const listShipped = async (call: ServiceCall): Promise<ShippedAgentList['agents']> =>
  (await call<ShippedAgentList>('GET', '/api/shipped-agents')).body.agents;

/** Prints the response agents of a service, and those that ship with it and were not added. */
export async function listAgentsCommand({ json }: JsonOption): Promise<number> {
  const call = openService();
  const agents = await listOwn(call);
  const shipped = await listShipped(call);
  const lines = [
    ...agents.map(({ id, name, modelAlias, triggerSummary }) => {
      const triggers = triggerSummary.map((one) => `${one.source}${one.enabled ? '' : ' (disabled)'}`);
      return `${id}  ${name}  model ${modelAlias}  ${triggers.join(', ') || 'by hand'}`;
    }),
    ...shipped.map(({ id, added }) => {
      if (added === null) return `${id}: ships with the service, not added`;
      return `${id}: added as ${added.agentId}${added.isCurrent ? '' : ', a new version is available'}`;
    }),
  ];
  return printResult(json, { agents, shipped }, lines);
}

/** Adds a shipped agent to a service. */
export async function addAgentCommand(
  name: string,
  { model, severity, runsPerHour, disabled, json }: AddOptions,
): Promise<number> {
  const body = {
    ...(model === undefined ? {} : { modelAlias: model }),
    ...(severity === undefined ? {} : { filter: { severity } }),
    ...(runsPerHour === undefined ? {} : { runsPerHourMax: Number(runsPerHour) }),
    enabled: disabled !== true,
  };
  const path = `/api/shipped-agents/${encodeURIComponent(name)}`;
  const { body: agent } = await openService()<Detection>('POST', path, { body }).catch(
    rejectArguments({ modelAlias: '--model', filter: '--severity', runsPerHourMax: '--runs-per-hour' }),
  );
  return printResult(json, agent, [`added  ${name}: ${agent.id}`]);
}

/** Updates agents to the shipped version: those with the names, or all that were added. */
export async function updateAgentsCommand(names: readonly string[], { json }: JsonOption): Promise<number> {
  const call = openService();
  const added = (await listShipped(call)).filter((one) => one.added !== null).map(({ id }) => id);
  const updates: ShippedAgentUpdate[] = [];
  for (const name of names.length > 0 ? names : added) {
    const path = `/api/shipped-agents/${encodeURIComponent(name)}/update`;
    const { body: update } = await call<ShippedAgentUpdate>('POST', path);
    updates.push(update);
    if (json) continue;
    printLines(`${update.changes.length === 0 ? 'unchanged' : 'updated'}  ${name}`);
    for (const { field } of update.changes) printLines(`  ${field}: changed to the shipped version`);
    for (const { field } of update.kept) printLines(`  ${field}: kept, because you edited it`);
  }
  if (json) return printResult(json, updates, []);
  if (updates.length === 0) printLines('No shipped agent was added.');
  return 0;
}

const pollMs = 1_000;
const waitSecondsMax = 86_400;

/** Runs a response agent by hand, waits for the end of the run, and prints what it found. Exit code 1 if the run did not complete. */
export async function runAgentCommand(
  nameOrId: string,
  { hit, incident, question, input = [], wait, json }: RunOptions,
): Promise<number> {
  const seconds = Number(wait);
  if (!(seconds >= 0 && seconds <= waitSecondsMax))
    throw new UsageError(`--wait must be a number of seconds from 0 to ${waitSecondsMax}, not "${wait}".`);
  const call = openService();
  const agent = await findAgent(call, nameOrId);
  const body = {
    ...(hit === undefined ? {} : { hitId: hit }),
    ...(incident === undefined ? {} : { incidentId: incident }),
    ...(question === undefined ? {} : { question }),
    inputs: parseInputs(agent, input),
  };
  const { runId } = (
    await call<RunStarted>('POST', `/api/agents/${agent.id}/run`, { body }).catch(
      rejectArguments({
        hitId: '--hit',
        incidentId: '--incident',
        question: '--question',
        inputs: (name) => `--input ${name ?? ''}`.trim(),
      }),
    )
  ).body;
  const until = Date.now() + seconds * 1_000;
  const readRun = async (): Promise<Run> => (await call<Run>('GET', `/api/runs/${runId}`)).body;
  let run = await readRun();
  while (['queued', 'running'].includes(run.status) && Date.now() < until) {
    await setTimeout(pollMs);
    run = await readRun();
  }
  const isWaiting = ['queued', 'running'].includes(run.status);
  printResult(json, run, renderRun(run));
  return run.status === 'completed' || (isWaiting && seconds === 0) ? 0 : 1;
}

/** Returns the response agent with this name or ID. */
async function findAgent(call: ServiceCall, nameOrId: string): Promise<Detection> {
  const agents = await listOwn(call);
  const found = agents.filter(({ id, name }) => id === nameOrId.toLowerCase() || name === nameOrId);
  if (found.length > 1) throw new UsageError(`${found.length} agents are named ${nameOrId}. Pass the ID of one.`);
  if (found[0]) return found[0];
  const names = agents.map(({ name }) => name);
  throw new UsageError(`There is no response agent ${nameOrId}${didYouMean(nameOrId, names)}`);
}

/** Returns the values of `NAME=VALUE` arguments, in the types that the agent declares. The service rejects what does not fit. */
function parseInputs({ inputs }: Detection, pairs: readonly string[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, name, value] = /^([^=]+)=([\s\S]*)$/.exec(pair) ?? [];
      if (name === undefined || value === undefined)
        throw new UsageError(`--input needs NAME=VALUE, such as user=ada, not "${pair}".`);
      const type = inputs.find((one) => one.name === name)?.type;
      if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return [name, Number(value)];
      if (type === 'boolean' && /^(?:true|false)$/.test(value)) return [name, value === 'true'];
      return [name, value];
    }),
  );
}

function renderRun({ id, status, failure, statusReason, entities: [verdict], costUsd }: Run): string[] {
  const head = `run ${id}: ${status}${statusReason === null ? '' : `, ${statusReason}`}`;
  if (failure !== null) return [head, failure.message];
  if (verdict === undefined) return [head];
  return [
    `${head}, ${verdict.verdict} with confidence ${verdict.confidence}${costUsd === null ? '' : `, $${costUsd.toFixed(4)}`}`,
    verdict.headline,
    ...verdict.claims.map(
      ({ text, status: proof, reason }) => `  ${proof}: ${text}${reason === null ? '' : ` (${reason})`}`,
    ),
    ...(verdict.openQuestion === null ? [] : [`open: ${verdict.openQuestion}`]),
    ...(verdict.output === undefined ? [] : [`output: ${JSON.stringify(verdict.output)}`]),
  ];
}
