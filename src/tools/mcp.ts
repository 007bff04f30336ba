import type { OrgId } from '../lib/org-id.ts';
import type { McpConnection } from './mcp-client.ts';
import type { McpSettings } from './mcp-settings.ts';
import type { ReadyTool } from './tool.ts';

/** The tools of the MCP servers of the settings. `find`: undefined where no server that the organization may use has it. */
export type McpTools = {
  find: (orgId: OrgId, name: string) => Promise<ReadyTool | undefined>;
  list: (orgId: OrgId) => Promise<{ name: string; description: string }[]>;
  close: () => Promise<void>;
};

const failedMs = 30_000;

/** Connects to a server when one of its tools is first asked for, and again after it went away; a server that fails is left alone for half a minute. */
export function createMcpTools(settings: McpSettings): McpTools {
  const open = new Map<string, Promise<McpConnection>>();
  const failedAt = new Map<string, number>();

  async function toolsOf(server: string): Promise<ReadyTool[]> {
    if (performance.now() - (failedAt.get(server) ?? -Infinity) < failedMs) return [];
    try {
      let connection = await open.get(server);
      if (!connection || connection.isClosed()) {
        const connecting = import('./mcp-client.ts').then(({ connectMcp }) => connectMcp(server, settings[server]!));
        open.set(server, connecting);
        connection = await connecting;
      }
      return await connection.tools();
    } catch {
      failedAt.set(server, performance.now());
      open.delete(server);
      return [];
    }
  }

  const mayUse = (orgId: OrgId, server: string): boolean => settings[server]?.organizations?.includes(orgId) ?? true;
  return {
    find: async (orgId, name) => {
      const server = name.split('__')[0]!;
      if (!Object.hasOwn(settings, server) || !mayUse(orgId, server)) return undefined;
      return (await toolsOf(server)).find((tool) => tool.name === name);
    },
    list: async (orgId) => {
      const servers = Object.keys(settings).filter((server) => mayUse(orgId, server));
      const found = await Promise.all(servers.map(toolsOf));
      return found.flat().map(({ name, description }) => ({ name, description }));
    },
    close: async () => {
      const connections = await Promise.allSettled(open.values());
      await Promise.all(connections.map((one) => (one.status === 'fulfilled' ? one.value.close() : undefined)));
    },
  };
}
