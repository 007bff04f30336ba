import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const common = {
  /** Ids of the organizations that may use it; absent: all. */
  organizations: z.array(z.uuid().toLowerCase()).optional(),
  tools: z.array(z.string()).optional(),
};

/** A process of this machine, or an address. */
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

/** What a server may be called: its tools are named after it. */
export const mcpServerName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,30}$/i);

const Servers = z.record(mcpServerName, Server);

/** Reads TOCSIN_MCP_SERVERS: JSON, or the path of a file that holds it. Throws one sentence that names what is wrong. */
export function readMcpSettings(text: string | undefined): McpSettings {
  if (text === undefined) return {};
  const isInline = text.trimStart().startsWith('{');
  if (!isInline && !existsSync(text)) throw new Error(`TOCSIN_MCP_SERVERS: there is no file ${text}.`);
  let json: unknown;
  try {
    json = JSON.parse(isInline ? text : readFileSync(text, 'utf8'));
  } catch {
    throw new Error(`TOCSIN_MCP_SERVERS: ${isInline ? 'it' : text} is not JSON.`);
  }
  const parsed = Servers.safeParse(json);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'it'}: ${issue.message}`);
  throw new Error(`TOCSIN_MCP_SERVERS: ${problems.join('; ')}`);
}
