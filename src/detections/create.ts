import { inOrg, type Tx } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import { appError } from '../lib/errors.ts';
import type { Caller } from '../orgs/caller.ts';
import { followConnections } from '../schedule/delays.ts';
import { openSchedule } from '../schedule/lifecycle.ts';
import { noFigures, type AgentView, type AgentWithPrompt } from './agent.ts';
import { findDismissed, insertAgent } from './agent-store.ts';
import { effectiveCron } from './cadence.ts';
import { checkWouldRun } from './check.ts';
import { checkModelAlias } from './columns.ts';
import { findConnected } from './connection-store.ts';
import { emitDetection } from './events.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { CreateDetection, CreateSuggestion } from './input.ts';
import { newAgent } from './new-agent.ts';
import { toRecord } from './record.ts';
import type { Detection } from './schema.ts';

type CreateDeps = Pick<Deps, 'db' | 'clock' | 'checkQuery' | 'models'>;

const lookAlikeDays = 90;
const dayMs = 86_400_000;

/** Makes a detection with its first prompt version, revision and schedule. With `validate` it is checked against its SIEM first (422). */
export async function createDetection(
  deps: CreateDeps,
  caller: Caller,
  input: CreateDetection,
  validate = false,
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const agent = newAgent(caller, input, deps.clock());
  const view = await viewOf(deps, caller, agent);
  if (validate) await checkWouldRun(deps, caller.orgId, view);
  const record = toRecord(view);
  await inOrg(deps.db, caller.orgId, async (tx) => {
    await insertAgent(tx, caller, agent, {
      action: 'detection.created',
      resourceType: 'detection',
      resourceId: agent.id,
      before: null,
      after: record,
    });
    await openAgentSchedule(tx, caller, agent);
    await emitDetection(tx, 'detection.created', record);
  });
  return record;
}

/**
 * Makes an open suggestion; it runs once it is accepted. `bySuggester`: the program's own proposals are refused (409,
 * suggestion_dismissed) where a look-alike was dismissed within 90 days of slot time; a person may propose anything.
 */
export async function createSuggestion(
  deps: CreateDeps,
  caller: Caller,
  input: CreateSuggestion,
  { validate = false, bySuggester = false }: { validate?: boolean; bySuggester?: boolean } = {},
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const now = deps.clock();
  const made = newAgent(caller, input, now);
  const agent: AgentWithPrompt = {
    ...made,
    is_suggestion: true,
    rationale: input.rationale ?? '',
    source_item_ids: input.sourceItemIds ?? [],
    suggestion_fingerprint: fingerprintOf(made),
  };
  const view = await viewOf(deps, caller, agent);
  if (validate) await checkWouldRun(deps, caller.orgId, view);
  const record = toRecord(view);
  await inOrg(deps.db, caller.orgId, async (tx) => {
    if (bySuggester) await refuseLookAlike(tx, caller, agent, now);
    await insertAgent(tx, caller, agent, {
      action: 'suggestion.created',
      resourceType: 'detection',
      resourceId: agent.id,
      before: null,
      after: record,
    });
    await emitDetection(tx, 'suggestion.created', record);
  });
  return record;
}

async function refuseLookAlike(tx: Tx, caller: Caller, agent: AgentWithPrompt, now: Date): Promise<void> {
  const since = new Date(now.getTime() - lookAlikeDays * dayMs);
  const dismissed = await findDismissed(tx, caller.orgId, agent.suggestion_fingerprint!, since);
  if (!dismissed) return;
  const detail = `Suggestion ${dismissed.id} with this query was dismissed within ${lookAlikeDays} days.`;
  throw appError('conflict', detail, {
    errors: [{ pointer: '/detectionQuery', code: 'suggestion_dismissed', detail }],
  });
}

/** The agent as it will be seen, before anything of it is stored. 400 for a connection that is not the organization's. */
async function viewOf({ db }: Pick<Deps, 'db'>, caller: Caller, agent: AgentWithPrompt): Promise<AgentView> {
  const isPlain = agent.connection_id === null && agent.siem_type === null;
  const connected = isPlain || (await inOrg(db, caller.orgId, (tx) => findConnected(tx, agent)));
  return { ...agent, ...noFigures, siem_connected: connected };
}

/** Coverage of a detection begins here, at the last slot before now. */
async function openAgentSchedule(tx: Tx, { orgId }: Caller, agent: AgentWithPrompt): Promise<void> {
  await openSchedule(tx, {
    orgId,
    detectionId: agent.id,
    cron: effectiveCron(agent),
    active: agent.enabled,
    lookbackMinutes: agent.lookback_minutes,
    now: agent.updated_at,
  });
  if (agent.connection_id !== null || agent.siem_type !== null) await followConnections(tx, orgId, agent.id);
}
