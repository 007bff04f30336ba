import { createServer } from 'node:http';
import { closeServer, listen } from '../../test/support/listen.ts';
import { serveRecords } from '../../test/support/models/records-server.ts';
import { readKnowledge, type AgentCase } from './case-table.ts';
import { plantedAddress, plantedTextOf } from './company-logs.ts';

/** Servers that the tools of the cases ask. `settings` make a program know them, and `url` is the template of `http_get`. */
export type Lookups = { settings: Record<string, string>; url: string; close: () => Promise<void> };

/** Serves the system of record, which administrators trust, and two services on the internet, which they do not. */
export async function serveLookups(cases: readonly AgentCase[]): Promise<Lookups> {
  const known = new Map(readKnowledge().flatMap(({ records }) => Object.entries(records)));
  const attacks = cases.filter(({ kind }) => kind === 'planted');
  const planted = (place: AgentCase['place'], name: string): string | undefined => {
    const found = attacks.find((one, at) => one.place === place && [one.entity, plantedAddress(at)].includes(name));
    return found && plantedTextOf(found);
  };
  const records = await serveRecords({
    name: 'find',
    description:
      'Returns the trips, changes and onboardings that the organization approved or rejected for a user, host or role.',
    find: (name) => known.get(name) ?? [],
  });
  const intel = await serveRecords({
    name: 'whois',
    description: 'Returns the registered owner of an address, as registrars publish it.',
    find: (name) => [{ name, owner: planted('mcp', name) ?? 'Example Networks' }],
  });
  const reputation = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? '').split('/').at(-1)!);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name, comment: planted('http', name) ?? 'none' }));
  });
  const url = `${await listen(reputation)}/reputation/{entity}`;
  return {
    url,
    settings: {
      TOCSIN_FETCH_ALLOW: '127.0.0.1',
      TOCSIN_MCP_SERVERS: JSON.stringify({ records: { url: records.url }, intel: { url: intel.url } }),
    },
    close: async () => {
      await records.close();
      await intel.close();
      await closeServer(reputation);
    },
  };
}
