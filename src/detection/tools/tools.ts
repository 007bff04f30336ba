import { z } from 'zod';
import type { Candidate } from '../analysis/candidate.ts';
import type { HiddenData } from '../siem/hidden-data.ts';
import { countBy } from './count-by.ts';
import { describeDataset, listDatasets } from './dataset-tools.ts';
import { enrichValues } from './enrich.ts';
import {
  lookupIndicator,
  lookupTechnique,
  searchFeed,
  entityProfile,
  getRows,
  relatedHits,
} from './organization-tools.ts';
import { collectKnownValues, findUnknownArgument } from './outside-arguments.ts';
import { readSkill } from './read-skill.ts';
import { searchLogs } from './search-logs.ts';
import {
  type BoundTool,
  type ToolDefinition,
  type ToolGrantSettings,
  type ToolSources,
  defineTool,
} from './tool-definition.ts';
import { createResult, hideFields, toTextRows } from './tool-result.ts';
import type { ModelTool } from '../../platform/models/model-request.ts';
import { findTemplateProblem, placeholder } from '../../platform/lib/outbound-http/request-text.ts';

const text = (max: number, description: string) => z.string().min(1).max(max).describe(description);
const reason = text(1_000, 'Why, in one or two sentences.');

const shared = { effect: 'propose', source: 'reference', seesOtherEntities: false, findUrlProblem: null } as const;

const proposeException = defineTool({
  description:
    'Proposes that the detection of the hit ignores an entity, or rows with a value of a field. A person decides about it later.',
  input: z.strictObject({
    entity: text(1_000, 'The entity. `*` stands for any text.').optional(),
    field: text(255, 'A field of the rows. Needs `value`.').optional(),
    value: text(4_000, 'The value of the field. `*` stands for any text.').optional(),
    reason,
  }),
  ...shared,
  run: async (input, { propose }) => createResult({ note: await propose('propose_exception', input, input.reason) }),
});

const proposeDetection = defineTool({
  description:
    'Proposes a detection that would find such behavior in the future. Try the query with search_logs before. A person decides about it later.',
  input: z.strictObject({
    name: text(255, 'What it finds.'),
    detectionCategory: z.enum(['custom', 'first_occurrence', 'baseline_anomaly']),
    detectionQuery: text(10_000, 'The query, without a limit of time: each run adds its own window.'),
    systemPrompt: text(10_000, 'How to judge what it finds.'),
    reason,
  }),
  ...shared,
  run: async ({ reason: rationale, ...detection }, { propose }) =>
    createResult({ note: await propose('propose_detection', { ...detection, rationale }, rationale) }),
});

/** An administrator sets the URL template. Unless the grant says otherwise, the model can fill in only values that it was shown, so it cannot send data of its own. */
const httpGet = defineTool({
  description: 'Fetches the URL that an administrator set for this detection.',
  input: z.strictObject({
    values: z
      .record(z.string().max(100), z.string().max(500))
      .describe(
        'A value for each placeholder in the URL: the entity, or a complete value from its rows or from an earlier result.',
      ),
  }),
  effect: 'send',
  source: 'outside',
  seesOtherEntities: false,
  findUrlProblem: findTemplateProblem,
  run: async ({ values }, { grant, fetchText, entity, known }, signal) => {
    if (grant?.url === undefined) throw new Error('no administrator set a URL for this detection');
    const url = fillUrlTemplate(grant.url, values, { entity, known: grant.allowsFreeArguments ? undefined : known });
    return createResult({ query: url, rows: toTextRows(await fetchText(url, signal)) });
  },
});

/** Fills the placeholders with escaped values. Throws if a value is missing or is not known. Without `known`, any value is. */
function fillUrlTemplate(
  template: string,
  values: Record<string, string>,
  { entity, known }: { entity: string; known: ReadonlySet<string> | undefined },
): string {
  return template.replaceAll(placeholder, (_all, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name]! : name === 'entity' ? entity : undefined;
    if (value === undefined) throw new Error(`values.${name} is missing`);
    if (known && value !== entity && !known.has(value))
      throw new Error(
        `values.${name} is neither the entity nor a complete value from its rows or from an earlier result`,
      );
    // `.` and `..` would change the path.
    if (/^\.{1,2}$/.test(value)) throw new Error(`values.${name} cannot be used in a URL`);
    return encodeURIComponent(value);
  });
}

/** The built-in tools by the names that a detection's `toolNames` uses. */
export const tools: Readonly<Record<string, ToolDefinition>> = {
  get_rows: getRows,
  list_datasets: listDatasets,
  describe_dataset: describeDataset,
  search_logs: searchLogs,
  count_by: countBy,
  entity_profile: entityProfile,
  related_hits: relatedHits,
  search_feed: searchFeed,
  lookup_indicator: lookupIndicator,
  lookup_technique: lookupTechnique,
  enrich_values: enrichValues,
  read_skill: readSkill,
  http_get: httpGet,
  propose_exception: proposeException,
  propose_detection: proposeDetection,
};

/** Returns the name of a built-in tool by its own name or its alias, or undefined for the name of any other. */
export const findToolName = (name: string): string | undefined =>
  Object.hasOwn(tools, name) ? name : Object.keys(tools).find((one) => tools[one]!.alias === name);

/** Returns a built-in tool by its name or its alias, or undefined for the name of any other. */
export function findTool(name: string): ToolDefinition | undefined {
  const own = findToolName(name);
  return own === undefined ? undefined : tools[own];
}

/**
 * Binds a built-in tool to the sources of one entity, under the name by which the detection knows it. Returns undefined for an unknown name. Every result
 * is without the fields that the organization keeps from models.
 */
export function bindTool(name: string, sources: Omit<ToolSources, 'known'>): BoundTool | undefined {
  const tool = findTool(name);
  if (!tool) return undefined;
  const { description, input, effect, source, run } = tool;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' }) as Record<string, unknown>;
  return {
    name,
    description,
    inputSchema,
    effect,
    source,
    isTrusted: sources.grant?.isTrusted ?? false,
    parse: (values) => {
      const parsed = input.safeParse(values);
      if (parsed.success) return { input: parsed.data };
      return { problem: parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') };
    },
    run: async (values, signal, earlier = []) => {
      // An enricher may send what it looks up.
      const known =
        effect === 'send' || tool === enrichValues ? collectKnownValues(sources, earlier) : new Set<string>();
      return hideFields(await run(values, { ...sources, known }, signal), sources.hidden);
    },
  };
}

const logToolNames = ['list_datasets', 'describe_dataset', 'search_logs', 'count_by'];
const nothing = (): Promise<never[]> => Promise.resolve([]);
const noCase: Omit<ToolSources, 'grant' | 'known' | 'hidden' | 'logs'> = {
  entity: '',
  rows: [],
  facts: {},
  profile: nothing,
  relatedHits: nothing,
  skills: nothing,
  searchFeed: nothing,
  lookupIndicator: nothing,
  lookupTechnique: () => undefined,
  lookUpValues: nothing,
  fetchText: () => Promise.resolve(''),
  propose: () => Promise.reject(new Error('Only response agents can propose calls.')),
};

/** Binds the tools that read logs, for a model that has no case. */
export const bindLogTools = (sources: Pick<ToolSources, 'hidden' | 'logs'>): BoundTool[] =>
  logToolNames.map((name) => bindTool(name, { ...noCase, ...sources, grant: undefined })!);

/** Binds a tool of an MCP server so that a call is not made, but proposed to a person with its arguments. */
export const bindProposed = (tool: ModelTool, propose: ToolSources['propose']): BoundTool => ({
  ...tool,
  effect: 'propose',
  source: 'reference',
  isTrusted: false,
  run: async (input) => createResult({ note: await propose(tool.name, input, '') }),
});

type ForeignSources = Pick<Candidate, 'entity' | 'rows' | 'facts'> & { grant: ToolGrantSettings; hidden: HiddenData };

/**
 * Binds a tool of an MCP server, whose text becomes rows. Unless the grant says otherwise, a call throws if one of its arguments is neither a value that the
 * investigation was shown nor one that the schema of the tool lists.
 */
export function bindForeignTool(tool: ModelTool, { grant, hidden, ...candidate }: ForeignSources): BoundTool {
  return {
    ...tool,
    isTrusted: grant.isTrusted,
    run: async (input, signal, earlier = []) => {
      const unknown = grant.allowsFreeArguments
        ? undefined
        : findUnknownArgument(input, collectKnownValues(candidate, earlier), tool.inputSchema);
      if (unknown !== undefined)
        throw new Error(
          `The argument ${unknown} is not a complete value of the case or of an earlier result. An administrator can allow free arguments for this tool.`,
        );
      const text = String(await tool.run(input, signal));
      return hideFields(createResult({ query: JSON.stringify(input), rows: toTextRows(text) }), hidden);
    },
  };
}
