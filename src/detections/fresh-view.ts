import { inOrg } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import type { Caller } from '../orgs/caller.ts';
import { noFigures, type AgentView, type AgentWithPrompt } from './agent.ts';
import { findConnected } from './connection-store.ts';

/** An agent as it will be seen, before anything of it is stored. 400 for a connection that is not the organization's. */
export async function freshView({ db }: Pick<Deps, 'db'>, caller: Caller, agent: AgentWithPrompt): Promise<AgentView> {
  const isPlain = agent.connection_id === null && agent.siem_type === null;
  const connected = isPlain || (await inOrg(db, caller.orgId, (tx) => findConnected(tx, agent)));
  return { ...agent, ...noFigures, siem_connected: connected };
}
