import { z } from 'zod';
import { ignoreFields } from '../lib/schema-parts.ts';
import { parseJsonSetting } from '../lib/settings-input.ts';
import { boundedString } from '../lib/text/bounded-text.ts';

const common = {
  /** Organizations that may use the server. All if absent. */
  organizations: z.array(z.uuid().toLowerCase()).optional(),
  tools: z.array(z.string()).optional(),
};

/** Either a local process or a URL. */
const Server = z.union([
  z.strictObject({
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: z.record(z.string(), z.string()).default({}),
    ...common,
  }),
  z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    headers: z.record(z.string(), z.string()).default({}),
    ...common,
  }),
]);
export type McpServer = z.infer<typeof Server>;
export type McpSettings = Record<string, McpServer>;

/** A server's name is the prefix of its tools' names. */
const mcpServerName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/i);

const Servers = z.record(mcpServerName, Server);

/** Parses TOCSIN_MCP_SERVERS, which is JSON or the path of a JSON file. Throws an error that states the problem. */
export function readMcpSettings(text: string | undefined): McpSettings {
  return text === undefined ? {} : parseJsonSetting('TOCSIN_MCP_SERVERS', text, Servers);
}

/** Returns whether a tool name has the form `server__tool` of a tool on an MCP server, even if no such tool exists. */
export const isMcpToolName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,30}__[\w.-]{1,64}$/i.test(name);

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
