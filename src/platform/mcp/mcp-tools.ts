import type { OrgId } from '../lib/org-id.ts';
import type { McpConnection } from './mcp-client.ts';
import type { McpServer, McpSettings } from './mcp-settings.ts';
import type { ReadyTool } from '../../detection/tools/tool.ts';

/** The tools of the MCP servers that an organization may use. `find`: undefined where none of them has it. */
export type McpTools = {
  find: (orgId: OrgId, name: string) => Promise<ReadyTool | undefined>;
  list: (orgId: OrgId) => Promise<{ name: string; description: string }[]>;
  close: () => Promise<void>;
};

/** A server that an organization added. `version` changes with it; `allow`: private hosts that it may be at. */
export type StoredServer = { name: string; version: string; server: McpServer; allow: readonly string[] };

type Target = Omit<StoredServer, 'allow'> & { key: string; allow: readonly string[] | undefined };

const failedMs = 30_000;

/**
 * Connects to a server when one of its tools is first asked for, and again after it went away or was changed; a server that fails is left
 * alone for half a minute. Servers of the settings go before those that `stored` tells of an organization.
 */
export function createMcpTools(
  settings: McpSettings,
  stored: (orgId: OrgId) => Promise<StoredServer[]> = () => Promise.resolve([]),
): McpTools {
  const open = new Map<string, { version: string; connection: Promise<McpConnection> }>();
  const failedAt = new Map<string, number>();

  async function toolsOf(target: Target): Promise<ReadyTool[]> {
    const { key, version } = target;
    const failed = `${key} ${version}`;
    if (performance.now() - (failedAt.get(failed) ?? -Infinity) < failedMs) return [];
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
      failedAt.set(failed, performance.now());
      open.delete(key);
      return [];
    }
  }

  async function targetsOf(orgId: OrgId): Promise<Target[]> {
    const fixed = Object.entries(settings)
      .filter(([, server]) => server.organizations?.includes(orgId) ?? true)
      .map(([name, server]): Target => ({ key: name, name, version: '', server, allow: undefined }));
    const names = new Set(fixed.map(({ name }) => name));
    const own = (await stored(orgId)).filter(({ name }) => !names.has(name));
    return [...fixed, ...own.map((one) => ({ ...one, key: `${orgId}/${one.name}` }))];
  }

  return {
    find: async (orgId, name) => {
      const server = name.split('__')[0]!;
      const target = (await targetsOf(orgId)).find((one) => one.name === server);
      return target && (await toolsOf(target)).find((tool) => tool.name === name);
    },
    list: async (orgId) => {
      const found = await Promise.all((await targetsOf(orgId)).map(toolsOf));
      return found.flat().map(({ name, description }) => ({ name, description }));
    },
    close: async () => {
      const connections = await Promise.allSettled([...open.values()].map(({ connection }) => connection));
      await Promise.all(connections.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
    },
  };
}

const connect = async ({ name, server, allow }: Pick<Target, 'name' | 'server' | 'allow'>): Promise<McpConnection> =>
  (await import('./mcp-client.ts')).connectMcp(name, server, allow);

/** Connects once and answers the names of the server's tools. Throws what went wrong. */
export async function askMcpServer(one: Pick<StoredServer, 'name' | 'server' | 'allow'>): Promise<string[]> {
  const connection = await connect(one);
  try {
    return (await connection.tools()).map(({ name }) => name);
  } finally {
    await connection.close();
  }
}
