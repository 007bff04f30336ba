import type { AgentView } from './detection-row.ts';
import { noConnectionTo } from '../../siem/siem-failures.ts';
import { isMcpName, toolNames } from '../../tools/registry.ts';
import type { Warning } from './detection.schema.ts';

type Asking = Pick<AgentView, 'siem_type' | 'connection_id' | 'siem_connected'>;

/** What would not run, in the words with which the run would fail. Looks nothing up outside. */
export function warningsOf(agent: Asking & Pick<AgentView, 'tool_names'>): Warning[] {
  return [...toolWarnings(agent.tool_names), ...siemWarnings(agent)];
}

export function toolWarnings(names: readonly string[]): Warning[] {
  return names
    .filter((name) => !toolNames.includes(name) && !isMcpName(name))
    .map((name) => ({ code: 'unknown_tool', field: 'toolNames', detail: `There is no tool named "${name}".` }));
}

/** A SIEM without a connection, or with several of which none is named: what is asked of it cannot run. */
function siemWarnings({
  siem_type: siemType,
  connection_id: connectionId,
  siem_connected: connected,
}: Asking): Warning[] {
  if (connected) return [];
  const detail = connectionId === null ? noConnectionTo(siemType) : `There is no connection ${connectionId}.`;
  return [{ code: 'no_connection', field: connectionId === null ? 'siemType' : 'connectionId', detail }];
}
