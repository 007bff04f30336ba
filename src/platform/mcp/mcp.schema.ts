import { z } from 'zod';
import { text } from '../lib/text/bounded-text.ts';
import { mcpServerName } from './mcp-settings.ts';

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

const fields = {
  name: mcpServerName.describe('Its tools are called `<name>__<tool>`.'),
  url: text({ max: 2000 }, z.url({ protocol: /^https?$/ })).describe(
    'Streamable HTTP; https, http only where TOCSIN_FETCH_ALLOW names the host.',
  ),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'must be the name of a header'),
      text({ max: 8000 }).regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII'),
    )
    .describe(
      'Sent with each request; stored encrypted and never shown. With a new address they have to be given again.',
    ),
  tools: z
    .array(text({ min: 1, max: 200 }))
    .max(200)
    .nullable()
    .describe('Tools that may be used; null: all.'),
};

export const CreateMcpServer = z.strictObject({
  name: fields.name,
  url: fields.url,
  headers: fields.headers.default({}),
  tools: fields.tools.default(null),
});
export type CreateMcpServer = z.infer<typeof CreateMcpServer>;

const readOnly = ['id', 'headerNames', 'createdAt', 'updatedAt'];

/** Absent means unchanged; `headers` are replaced whole. What GET gave may be sent back. */
export const UpdateMcpServer = z.preprocess((value) => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !readOnly.includes(key)));
}, z.strictObject(fields).partial());
export type UpdateMcpServer = z.infer<typeof UpdateMcpServer>;

export const McpServerRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    url: z.string(),
    headerNames: z.array(z.string()),
    tools: z.array(z.string()).nullable(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'McpServer' });
export type McpServerRecord = z.infer<typeof McpServerRecord>;

export const McpServerList = z.object({ servers: z.array(McpServerRecord), nextCursor: z.string().nullable() });
export type McpServerList = z.infer<typeof McpServerList>;

export const McpServerCheck = z.object({ ok: z.literal(true), tools: z.array(z.string()), ms: z.number() });
export type McpServerCheck = z.infer<typeof McpServerCheck>;

export const McpServerPath = z.object({ id: z.guid('must be a UUID').toLowerCase() });
