import { z } from 'zod';
import type { ModelTool, ToolEffect } from '../../platform/models/model-tool.ts';
import { httpGet } from './http-get.ts';
import { bindToolDefinition, type ToolDefinition, type ToolSources } from './tool-definition.ts';

const GetRowsInput = z.strictObject({
  offset: z.int().min(0).max(1_000).default(0),
  limit: z.int().min(1).max(50).default(20),
  contains: z.string().max(200).optional().describe('Return only rows that contain this text in any field.'),
});

const getRows: ToolDefinition<z.infer<typeof GetRowsInput>> = {
  description: "Returns the entity's rows in chronological order.",
  input: GetRowsInput,
  effect: 'read',
  origin: 'organization',
  run: ({ offset, limit, contains }, { rows }) => {
    const matching =
      contains === undefined
        ? rows
        : rows.filter(({ fields }) => Object.values(fields).some((value) => value.includes(contains)));
    return Promise.resolve({ total: matching.length, rows: matching.slice(offset, offset + limit) });
  },
};

const EntityHistoryInput = z.strictObject({ limit: z.int().min(1).max(200).default(50) });

const entityHistory: ToolDefinition<z.infer<typeof EntityHistoryInput>> = {
  description:
    "Returns the entity's values in earlier windows, without free text, and its earlier hits with what people decided, newest first.",
  input: EntityHistoryInput,
  effect: 'read',
  origin: 'organization',
  run: ({ limit }, { history }) => history(limit),
};

const SearchSiemInput = z.strictObject({
  query: z.string().min(1).max(5_000).describe("A query in the language of the detection's own query."),
  hours: z.int().min(1).max(168).default(24).describe('How many hours before the end of the window to search.'),
});

/** Returns rows of any entity, so a detection with this tool is no longer limited to one entity. */
const searchSiem: ToolDefinition<z.infer<typeof SearchSiemInput>> = {
  description: 'Runs a read-only query on the same logs. Returns at most 100 rows.',
  input: SearchSiemInput,
  effect: 'read',
  origin: 'outside',
  run: ({ query, hours }, { searchSiem: search }, signal) => search(query, hours, signal),
};

const SearchFeedInput = z.strictObject({
  text: z.string().min(2).max(200).describe('Words to search for, such as a product, a CVE or a name. All must match.'),
  limit: z.int().min(1).max(20).default(5),
});

const searchFeed: ToolDefinition<z.infer<typeof SearchFeedInput>> = {
  description:
    'Returns threat-intelligence items that contain these words in the title, summary or text, the best matches first.',
  input: SearchFeedInput,
  effect: 'read',
  origin: 'outside',
  run: ({ text, limit }, { searchFeed: search }) => search(text, limit),
};

const LookupIndicatorInput = z.strictObject({
  value: z.string().min(3).max(2_000).describe('A complete IP address, domain, URL, hash or other indicator.'),
});

const lookupIndicator: ToolDefinition<z.infer<typeof LookupIndicatorInput>> = {
  description: 'Returns what the threat feed knows about an indicator: its status and the items that mention it.',
  input: LookupIndicatorInput,
  effect: 'read',
  origin: 'outside',
  run: ({ value }, { lookupIndicator: lookup }) => lookup(value),
};

const LookupTechniqueInput = z.strictObject({ id: z.string().regex(/^T\d{4}(?:\.\d{3})?$/i) });

const lookupTechnique: ToolDefinition<z.infer<typeof LookupTechniqueInput>> = {
  description: 'Returns the name, tactics and platforms of an ATT&CK technique by its ID.',
  input: LookupTechniqueInput,
  effect: 'read',
  origin: 'organization',
  run: ({ id }, { lookupTechnique: lookup }) => Promise.resolve(lookup(id) ?? { unknown: id }),
};

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
