import type { OrgId } from '../lib/org-id.ts';
import type { McpConnection } from './mcp-client.ts';
import type { McpServer, McpSettings } from './mcp.schema.ts';
import type { ModelTool } from '../models/model-request.ts';

/** The tools of the MCP servers that an organization may use. */
export type McpTools = {
  find: (orgId: OrgId, name: string) => Promise<ModelTool | undefined>;
  list: (orgId: OrgId) => Promise<{ name: string; description: string }[]>;
  close: () => Promise<void>;
};

/** A server that an organization added. `version` changes with its record. `allow` lists the private hosts that may be reached. */
export type StoredMcpServer = { name: string; version: string; server: McpServer; allow: readonly string[] };

type McpTarget = Omit<StoredMcpServer, 'allow'> & { key: string; allow: readonly string[] | undefined };

const retryAfterFailureMs = 30_000;

/**
 * Connects to a server when one of its tools is first used, and again after the connection closed or the server changed. A
 * server that fails is not retried for 30 seconds. Servers from the settings take precedence over stored ones of the same name.
 */
export function createMcpTools(
  settings: McpSettings,
  readStoredServers: (orgId: OrgId) => Promise<StoredMcpServer[]> = () => Promise.resolve([]),
): McpTools {
  const open = new Map<string, { version: string; connection: Promise<McpConnection> }>();
  const failedAt = new Map<string, number>();

  async function listTools(target: McpTarget): Promise<ModelTool[]> {
    const { key, version } = target;
    const failureKey = `${key} ${version}`;
    if (performance.now() - (failedAt.get(failureKey) ?? -Infinity) < retryAfterFailureMs) return [];
    try {
      const known = open.get(key);
      let connection = known?.version === version ? await known.connection : undefined;
      if (!connection || connection.isClosed()) {
        if (known && known.version !== version) void known.connection.then((old) => old.close()).catch(() => undefined);
        const connecting = connect(target);
        open.set(key, { version, connection: connecting });
        connection = await connecting;
      }
      return await connection.tools();
    } catch {
      failedAt.set(failureKey, performance.now());
      open.delete(key);
      return [];
    }
  }

  async function listTargets(orgId: OrgId): Promise<McpTarget[]> {
    const configured = Object.entries(settings)
      .filter(([, server]) => server.organizations?.includes(orgId) ?? true)
      .map(([name, server]): McpTarget => ({ key: name, name, version: '', server, allow: undefined }));
    const names = new Set(configured.map(({ name }) => name));
    const added = (await readStoredServers(orgId)).filter(({ name }) => !names.has(name));
    return [...configured, ...added.map((server) => ({ ...server, key: `${orgId}/${server.name}` }))];
  }

  return {
    find: async (orgId, name) => {
      const server = name.split('__')[0]!;
      const target = (await listTargets(orgId)).find((candidate) => candidate.name === server);
      return target && (await listTools(target)).find((tool) => tool.name === name);
    },
    list: async (orgId) => {
      const tools = await Promise.all((await listTargets(orgId)).map(listTools));
      return tools.flat().map(({ name, description }) => ({ name, description }));
    },
    close: async () => {
      const connections = await Promise.allSettled([...open.values()].map(({ connection }) => connection));
      await Promise.all(
        connections.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)),
      );
    },
  };
}

const connect = async ({ name, server, allow }: Pick<McpTarget, 'name' | 'server' | 'allow'>): Promise<McpConnection> =>
  (await import('./mcp-client.ts')).connectToMcpServer(name, server, allow);

/** Connects once and returns the names of the server's tools. Throws if the server cannot be reached. */
export async function listMcpServerTools(
  server: Pick<StoredMcpServer, 'name' | 'server' | 'allow'>,
): Promise<string[]> {
  const connection = await connect(server);
  try {
    return (await connection.tools()).map(({ name }) => name);
  } finally {
    await connection.close();
  }
}
