import { z } from 'zod';
import type { ModelTool } from '../../platform/models/model-tool.ts';
import { defineTool, type ToolDefinition, type ToolSources } from './tool-definition.ts';

/** The built-in tools by the names that a detection's `toolNames` uses. */
export const tools: Readonly<Record<string, ToolDefinition>> = {
  get_rows: defineTool({
    description: "Returns the entity's rows in chronological order.",
    input: z.strictObject({
      offset: z.int().min(0).max(1_000).default(0),
      limit: z.int().min(1).max(50).default(20),
      contains: z.string().max(200).optional().describe('Return only rows that contain this text in any field.'),
    }),
    effect: 'read',
    origin: 'organization',
    seesOtherEntities: false,
    findUrlProblem: null,
    run: ({ offset, limit, contains }, { rows }) => {
      const matching =
        contains === undefined
          ? rows
          : rows.filter(({ fields }) => Object.values(fields).some((value) => value.includes(contains)));
      return Promise.resolve({ total: matching.length, rows: matching.slice(offset, offset + limit) });
    },
  }),
  entity_history: defineTool({
    description:
      "Returns the entity's values in earlier windows, without free text, and its earlier hits with what people decided, newest first.",
    input: z.strictObject({ limit: z.int().min(1).max(200).default(50) }),
    effect: 'read',
    origin: 'organization',
    seesOtherEntities: false,
    findUrlProblem: null,
    run: ({ limit }, { history }) => history(limit),
  }),
  search_siem: defineTool({
    description: 'Runs a read-only query on the same logs. Returns at most 100 rows.',
    input: z.strictObject({
      query: z.string().min(1).max(5_000).describe("A query in the language of the detection's own query."),
      hours: z.int().min(1).max(168).default(24).describe('How many hours before the end of the window to search.'),
    }),
    effect: 'read',
    origin: 'outside',
    seesOtherEntities: true,
    findUrlProblem: null,
    run: ({ query, hours }, { searchSiem }, signal) => searchSiem(query, hours, signal),
  }),
  search_feed: defineTool({
    description:
      'Returns threat-intelligence items that contain these words in the title, summary or text, the best matches first.',
    input: z.strictObject({
      text: z
        .string()
        .min(2)
        .max(200)
        .describe('Words to search for, such as a product, a CVE or a name. All must match.'),
      limit: z.int().min(1).max(20).default(5),
    }),
    effect: 'read',
    origin: 'outside',
    seesOtherEntities: false,
    findUrlProblem: null,
    run: ({ text, limit }, { searchFeed }) => searchFeed(text, limit),
  }),
  lookup_indicator: defineTool({
    description: 'Returns what the threat feed knows about an indicator: its status and the items that mention it.',
    input: z.strictObject({
      value: z.string().min(3).max(2_000).describe('A complete IP address, domain, URL, hash or other indicator.'),
    }),
    effect: 'read',
    origin: 'outside',
    seesOtherEntities: false,
    findUrlProblem: null,
    run: ({ value }, { lookupIndicator }) => lookupIndicator(value),
  }),
  lookup_technique: defineTool({
    description: 'Returns the name, tactics and platforms of an ATT&CK technique by its ID.',
    input: z.strictObject({ id: z.string().regex(/^T\d{4}(?:\.\d{3})?$/i) }),
    effect: 'read',
    origin: 'organization',
    seesOtherEntities: false,
    findUrlProblem: null,
    run: ({ id }, { lookupTechnique }) => Promise.resolve(lookupTechnique(id) ?? { unknown: id }),
  }),
  /** The administrator sets the URL template. The model can fill in only values from the entity's rows, so it cannot send data of its own. */
  http_get: defineTool({
    description: 'Fetches the URL that an administrator set for this detection.',
    input: z.strictObject({
      values: z
        .record(z.string().max(100), z.string().max(500))
        .describe(
          'A value for each placeholder in the URL. Only the entity and complete values from its rows are accepted.',
        ),
    }),
    effect: 'send',
    origin: 'outside',
    seesOtherEntities: false,
    findUrlProblem: findTemplateProblem,
    run: async ({ values }, { grantedUrl, fetchText, entity, rows }, signal) => {
      if (grantedUrl === undefined) throw new Error('no administrator set a URL for this detection');
      return { body: await fetchText(fillUrlTemplate(grantedUrl, values, { entity, rows }), signal) };
    },
  }),
};

/** Returns a built-in tool, or undefined for the name of any other. */
export const findTool = (name: string): ToolDefinition | undefined =>
  Object.hasOwn(tools, name) ? tools[name] : undefined;

/** Binds a built-in tool to the sources of one entity. Returns undefined for an unknown name. */
export function bindTool(name: string, sources: ToolSources): ModelTool | undefined {
  const tool = findTool(name);
  if (!tool) return undefined;
  const { description, input, effect, origin, run } = tool;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: 'input' }) as Record<string, unknown>;
  return {
    name,
    description,
    inputSchema,
    effect,
    origin,
    parse: (values) => {
      const parsed = input.safeParse(values);
      if (parsed.success) return { input: parsed.data };
      return { problem: parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') };
    },
    run: (values, signal) => run(values, sources, signal),
  };
}

const placeholder = /\{([a-z]\w{0,30})\}/gi;

/** Fills the placeholders with escaped values. Throws if a value is missing or is not a value of the entity. */
function fillUrlTemplate(
  template: string,
  values: Record<string, string>,
  { entity, rows }: Pick<ToolSources, 'entity' | 'rows'>,
): string {
  return template.replaceAll(placeholder, (_all, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name]! : name === 'entity' ? entity : undefined;
    if (value === undefined) throw new Error(`values.${name} is missing`);
    const isKnown = value === entity || rows.some(({ fields }) => Object.values(fields).includes(value));
    if (!isKnown) throw new Error(`values.${name} is neither the entity nor a complete value from its rows`);
    // `.` and `..` would change the path.
    if (/^\.{1,2}$/.test(value)) throw new Error(`values.${name} cannot be used in a URL`);
    return encodeURIComponent(value);
  });
}

/** Returns the problem with a URL template, or undefined. Placeholders are allowed in path and query only. */
function findTemplateProblem(template: string): string | undefined {
  const bare = template.replaceAll(placeholder, 'x');
  if (!URL.canParse(bare) || !/^https?:$/.test(new URL(bare).protocol)) return 'must be an http or https URL';
  const url = new URL(bare);
  if (url.username || url.password) return 'must not contain a user name or password';
  const fixed = /^https?:\/\/[^/?#{}]+[/?]/i.exec(template);
  if (!fixed) return 'must have a fixed scheme and host, followed by a slash';
  return /[{}]/.test(bare) ? 'must have a placeholder name in each pair of braces, as in {entity}' : undefined;
}
