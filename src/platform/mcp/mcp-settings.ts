import { z } from 'zod';
import { parseJsonSetting } from '../lib/settings-input.ts';

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
export const mcpServerName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/i);

const Servers = z.record(mcpServerName, Server);

/** Parses TOCSIN_MCP_SERVERS, which is JSON or the path of a JSON file. Throws an error that states the problem. */
export function readMcpSettings(text: string | undefined): McpSettings {
  return text === undefined ? {} : parseJsonSetting('TOCSIN_MCP_SERVERS', text, Servers);
}

/** Returns whether a tool name has the form `server__tool` of a tool on an MCP server, even if no such tool exists. */
export const isMcpToolName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,30}__[\w.-]{1,64}$/i.test(name);
