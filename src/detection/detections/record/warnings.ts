import type { AgentView } from './detection-row.ts';
import { describeMissingConnection } from '../../siem/siem-errors.ts';
import { isMcpToolName } from '../../../platform/mcp/mcp-settings.ts';
import { toolNames } from '../../tools/tool-registry.ts';
import type { Warning } from './detection.schema.ts';

type AgentConnection = Pick<AgentView, 'siem_type' | 'connection_id' | 'siem_connected'>;

/** Returns the reasons why the detection cannot run, with the texts its runs would fail with. Makes no network calls. */
export function findRunErrors(agent: AgentConnection & Pick<AgentView, 'tool_names'>): Warning[] {
  return [...findToolWarnings(agent.tool_names), ...findSiemWarnings(agent)];
}

/** Returns everything that the record warns of: why the detection cannot run, and what its newest run or check found. */
export function findWarnings(agent: AgentView): Warning[] {
  const stored = agent.query_warnings === null ? [] : (JSON.parse(agent.query_warnings) as Warning[]);
  return [...findRunErrors(agent), ...stored];
}

export function findToolWarnings(names: readonly string[]): Warning[] {
  return names
    .filter((name) => !toolNames.includes(name) && !isMcpToolName(name))
    .map((name) => ({ code: 'unknown_tool', field: 'toolNames', detail: `There is no tool named "${name}".` }));
}

/** Warns if the SIEM has no connection, or has several and `connectionId` selects none. */
function findSiemWarnings({
  siem_type: siemType,
  connection_id: connectionId,
  siem_connected: isConnected,
}: AgentConnection): Warning[] {
  if (isConnected) return [];
  const detail =
    connectionId === null ? describeMissingConnection(siemType) : `There is no connection ${connectionId}.`;
  return [{ code: 'no_connection', field: connectionId === null ? 'siemType' : 'connectionId', detail }];
}
