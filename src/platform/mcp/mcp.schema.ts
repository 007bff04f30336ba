import { z } from 'zod';
import { boundedString } from '../lib/text/bounded-text.ts';
import { ignoreFields } from '../lib/schema-parts.ts';
import { mcpServerName } from './mcp-settings.ts';

const time = z.string().describe('ISO 8601, UTC, with milliseconds.');

const fields = {
  name: mcpServerName.describe('The prefix of its tool names: `<name>__<tool>`.'),
  url: boundedString({ max: 2000 }, z.url({ protocol: /^https?$/ })).describe(
    'Streamable HTTP. https, or http if the host is listed in TOCSIN_FETCH_ALLOW.',
  ),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]{1,100}$/, 'must be a header name'),
      boundedString({ max: 8000 }).regex(/^[\t\x20-\x7e]*$/, 'must be printable ASCII'),
    )
    .describe(
      'Sent with each request. Stored encrypted and never returned. Required again when `url` changes to another origin.',
    ),
  tools: z
    .array(boundedString({ min: 1, max: 200 }))
    .max(200)
    .nullable()
    .describe('Tools that may be used. null means all.'),
};

export const CreateMcpServer = z.strictObject({
  name: fields.name,
  url: fields.url,
  headers: fields.headers.default({}),
  tools: fields.tools.default(null),
});
export type CreateMcpServer = z.infer<typeof CreateMcpServer>;

const readOnly = ['id', 'headerNames', 'createdAt', 'updatedAt'];

/** Absent fields stay unchanged; `headers` is replaced as a whole. Read-only fields are ignored, so a GET response can be sent back. */
export const UpdateMcpServer = ignoreFields(readOnly, z.strictObject(fields).partial());
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
