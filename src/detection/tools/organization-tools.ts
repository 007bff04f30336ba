import { z } from 'zod';
import { withoutHiddenFields } from '../siem/hidden-data.ts';
import { defineTool, type RecordRow } from './tool-definition.ts';
import { createResult, toRow } from './tool-result.ts';

const dayMs = 86_400_000;
const valuesMax = 200;

export const getRows = defineTool({
  description: "Returns the entity's rows in chronological order.",
  input: z.strictObject({
    offset: z.int().min(0).max(1_000).default(0),
    limit: z.int().min(1).max(50).default(20),
    contains: z.string().max(200).optional().describe('Return only rows that contain this text in any field.'),
  }),
  effect: 'read',
  source: 'case',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: ({ offset, limit, contains }, { rows, hidden }) => {
    const shown = withoutHiddenFields(rows, hidden);
    const matching =
      contains === undefined
        ? shown
        : shown.filter(({ fields }) => Object.values(fields).some((value) => value.includes(contains)));
    const page = matching.slice(offset, offset + limit);
    return Promise.resolve(
      createResult({ rows: page, total: matching.length, truncated: page.length < matching.length }),
    );
  },
});

const toRows = (records: readonly RecordRow[]) => records.map(({ id, ...record }) => toRow(id, record));

export const entityProfile = defineTool({
  description:
    'Returns what the organization knows of an entity: notes, value lists with it, its hits and how people judged them, when it was first and last seen, and its values in earlier windows of this detection.',
  alias: 'entity_history',
  input: z.strictObject({
    entity: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('Another user, host or address. Default: the entity of the case.'),
    limit: z.int().min(1).max(100).default(50),
  }),
  effect: 'read',
  source: 'records',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: async ({ entity, limit }, sources) => {
    const subject = entity ?? sources.entity;
    const records = await sources.profile(subject, limit);
    const note =
      records.length === 0 ? 'The organization has no notes, lists, hits or memory of this entity.' : undefined;
    return createResult({ query: subject, rows: toRows(records), note });
  },
});

export const relatedHits = defineTool({
  description:
    'Returns hits of other entities or other detections that share a value with this case, latest first, with how people judged them.',
  input: z.strictObject({
    value: z
      .string()
      .min(1)
      .max(500)
      .optional()
      .describe('A whole value, such as an address or a hash. Default: all values of the rows.'),
    days: z.int().min(1).max(365).default(30),
    limit: z.int().min(1).max(50).default(20),
  }),
  effect: 'read',
  source: 'records',
  seesOtherEntities: true,
  findUrlProblem: null,
  run: async ({ value, days, limit }, sources) => {
    const { entity, rows, logs } = sources;
    const all = new Set([
      entity,
      ...withoutHiddenFields(rows, sources.hidden).flatMap((row) => Object.values(row.fields)),
    ]);
    const values = value === undefined ? [...all].slice(0, valuesMax) : [value];
    const from = new Date(logs.now.getTime() - days * dayMs);
    const records = await sources.relatedHits(values, from, limit);
    const note = records.length === 0 ? 'No other hit of this time contains one of the values.' : undefined;
    return createResult({ query: value ?? entity, from, to: logs.now, rows: toRows(records), note });
  },
});

type FoundItems = { items?: ({ id?: string; itemId?: string } & Record<string, unknown>)[]; warnings?: string[] };

const toItemRows = ({ items = [] }: FoundItems) =>
  items.map((item, index) => toRow(`item:${item.id ?? item.itemId ?? index + 1}`, item));

export const searchFeed = defineTool({
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
  source: 'outside',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: async ({ text, limit }, sources) => {
    const found = (await sources.searchFeed(text, limit)) as FoundItems;
    const note =
      found.warnings?.join(' ') ?? (found.items?.length ? undefined : 'No item contains all of these words.');
    return createResult({ query: text, rows: toItemRows(found), note });
  },
});

export const lookupIndicator = defineTool({
  description: 'Returns what the threat feed knows about an indicator: its status and the items that mention it.',
  input: z.strictObject({
    value: z.string().min(3).max(2_000).describe('A complete IP address, domain, URL, hash or other indicator.'),
  }),
  effect: 'read',
  source: 'outside',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: async ({ value }, sources) => {
    const found = (await sources.lookupIndicator(value)) as FoundItems & Record<string, unknown>;
    const { items: _items, ...status } = found;
    const summary = Object.entries(status).filter(([, one]) => typeof one === 'string' || typeof one === 'number');
    return createResult({
      query: value,
      rows: [toRow('indicator', Object.fromEntries(summary)), ...toItemRows(found)],
    });
  },
});

export const lookupTechnique = defineTool({
  description: 'Returns the name, tactics and platforms of an ATT&CK technique by its ID.',
  input: z.strictObject({ id: z.string().regex(/^T\d{4}(?:\.\d{3})?$/i) }),
  effect: 'read',
  source: 'reference',
  seesOtherEntities: false,
  findUrlProblem: null,
  run: ({ id }, sources) => {
    const technique = sources.lookupTechnique(id) as Record<string, unknown> | undefined;
    const rows = technique ? [toRow(`technique:${id.toUpperCase()}`, technique)] : [];
    const note = technique ? undefined : `${id} is no technique of ATT&CK.`;
    return Promise.resolve(createResult({ query: id, rows, note }));
  },
});
