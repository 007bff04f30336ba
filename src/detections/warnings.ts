import type { Agent } from './agent.ts';
import type { Warning } from './schema.ts';

/** Names of the tools that an agent can be given. */
const toolNames: readonly string[] = [
  'get_rows',
  'entity_history',
  'search_siem',
  'search_feed',
  'lookup_indicator',
  'lookup_technique',
  'http_get',
];

/** SIEMs that this version reaches; a detection that names none runs on the embedded log store, `local`. */
const siemTypes: readonly string[] = ['local'];

/** What would not run, in the words with which the run would fail. Looks nothing up outside. */
export function warningsOf(agent: Pick<Agent, 'tool_names' | 'siem_type'>): Warning[] {
  const tools = agent.tool_names
    .filter((name) => !toolNames.includes(name))
    .map((name) => ({ code: 'unknown_tool', field: 'toolNames', detail: `There is no tool named "${name}".` }));
  return [...tools, ...siemWarnings(agent.siem_type)];
}

/** A SIEM without a connection: what is asked of it cannot run. */
export function siemWarnings(siemType: string | null): Warning[] {
  if (siemType === null || siemTypes.includes(siemType.toLowerCase())) return [];
  return [
    { code: 'no_connection', field: 'siemType', detail: `There is no connection to a SIEM of type "${siemType}".` },
  ];
}
