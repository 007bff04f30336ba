import type { ModelTool, ToolEffect } from '../../platform/models/model-tool.ts';
import { entityHistory } from './entity-history.ts';
import { getRows } from './get-rows.ts';
import { httpGet } from './http-get.ts';
import { lookupIndicator } from './lookup-indicator.ts';
import { lookupTechnique } from './lookup-technique.ts';
import { searchFeed } from './search-feed.ts';
import { searchSiem } from './search-siem.ts';
import { bindToolDefinition, type ToolDefinition } from './tool-definition.ts';
import type { ToolSources } from './tool-sources.ts';

/** The built-in tools by the names that a detection's `toolNames` uses. */
const tools: Record<string, ToolDefinition> = {
  get_rows: getRows,
  entity_history: entityHistory,
  search_siem: searchSiem,
  search_feed: searchFeed,
  lookup_indicator: lookupIndicator,
  lookup_technique: lookupTechnique,
  http_get: httpGet,
};

export const toolNames: readonly string[] = Object.keys(tools);

export function listTools(): { name: string; description: string; effect: ToolEffect }[] {
  return Object.entries(tools).map(([name, { description, effect }]) => ({ name, description, effect }));
}

/** Binds a built-in tool to the sources of one entity. Returns undefined for an unknown name. */
export function bindTool(name: string, sources: ToolSources): ModelTool | undefined {
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  return tool && bindToolDefinition(name, tool, sources);
}
