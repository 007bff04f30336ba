import { entityHistory } from './entity-history.ts';
import { getRows } from './get-rows.ts';
import { httpGet } from './http-get.ts';
import { lookupIndicator } from './lookup-indicator.ts';
import { lookupTechnique } from './lookup-technique.ts';
import { searchFeed } from './search-feed.ts';
import { searchSiem } from './search-siem.ts';
import type { ToolSources } from './tool-sources.ts';
import { readyTool, type Effect, type ReadyTool, type Tool } from './tool.ts';

/** Every tool of the service itself; the names that a detection's `toolNames` may hold are the keys. */
const tools: Record<string, Tool> = {
  get_rows: getRows,
  entity_history: entityHistory,
  search_siem: searchSiem,
  search_feed: searchFeed,
  lookup_indicator: lookupIndicator,
  lookup_technique: lookupTechnique,
  http_get: httpGet,
};

export const toolNames: readonly string[] = Object.keys(tools);

/** A tool of an MCP server: `server__tool`. Which there are is known to the servers alone. */
export const isMcpName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,30}__[\w.-]{1,64}$/i.test(name);

export function listTools(): { name: string; description: string; effect: Effect }[] {
  return Object.entries(tools).map(([name, { description, effect }]) => ({ name, description, effect }));
}

/** A tool bound to an entity; undefined for a name that is none of ours. */
export function bindTool(name: string, sources: ToolSources): ReadyTool | undefined {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return tool && readyTool(name, tool, sources);
}
