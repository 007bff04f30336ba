import { z } from 'zod';
import { defineTool } from './tool-definition.ts';
import { createResult, toRow } from './tool-result.ts';

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
