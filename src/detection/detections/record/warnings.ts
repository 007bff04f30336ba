import type { AgentView, AgentRow } from './detection-row.ts';
import { describeMissingConnection } from '../../siem/siem-errors.ts';
import { isMcpToolName } from '../../../platform/mcp/mcp.schema.ts';
import { categories } from '../../analysis/registry.ts';
import { findTool } from '../../tools/tools.ts';
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
    .filter((name) => !findTool(name) && !isMcpToolName(name))
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

/** The field of the detection that a warning of a run or a check is about. Warnings about the data of one window are not listed. */
const fieldByCode: Record<string, string> = {
  no_data: 'detectionQuery',
  query: 'detectionQuery',
  unknown_column: 'detectionQuery',
  failed_values: 'detectionQuery',
  no_row_times: 'detectionQuery',
  no_entity_field: 'entityField',
  no_entity_value: 'entityField',
  no_time_field: 'timeField',
  ...Object.fromEntries(
    Object.values(categories).flatMap(({ neededColumns }) => neededColumns.map(({ code }) => [code, 'detectionQuery'])),
  ),
};

/** Returns the warnings of a run that are about its definition, as warnings of the detection. */
export const toQueryWarnings = (warnings: readonly { code: string; detail: string }[]): Warning[] =>
  warnings.flatMap(({ code, detail }) => {
    const field = fieldByCode[code];
    return field === undefined ? [] : [{ code, field, detail }];
  });

/** Returns the agent with the warnings of a check. */
export const withQueryWarnings = (agent: AgentView, warnings: Warning[]): AgentView => ({
  ...agent,
  query_warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
});

const columns = [
  'detection_query',
  'detection_category',
  'entity_field',
  'time_field',
  'connection_id',
  'siem_type',
] as const satisfies readonly (keyof AgentRow)[];

/** Returns whether two versions of a detection query the same fields of the same data, so that a check of one counts for both. */
export const hasSameQuery = (before: AgentRow, after: AgentRow): boolean =>
  columns.every((column) => before[column] === after[column]);
