import { expect } from 'vitest';
import { atFileEnd } from '../../support/at-file-end.ts';
import type { PullResult } from '../../../src/feed/ingestion/pull-plan.ts';
import type { SourceKind } from '../../../src/feed/formats/registry.ts';
import { measureLongestTurn } from '../../support/longest-turn.ts';
import { callOk } from '../../support/detection/detection-factory.ts';
import { startServer, type Route } from '../../support/feed/source-server.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';
import type { FeedItem } from '../../../src/feed/model/item.schema.ts';
import { startApp, type TestApp, type TestOrg } from '../../support/harness.ts';

export type Hostile = {
  app: TestApp;
  org: TestOrg;
  server: Awaited<ReturnType<typeof startServer>>;
  /** Serves the content at a new address, creates a source for it and pulls once. Fails if the service is blocked meanwhile. */
  pullFrom: (kind: SourceKind, answer: string | Buffer | Route, type?: string) => Promise<PullResult>;
  items: () => Promise<FeedItem[]>;
};

export const sourceKinds: SourceKind[] = ['kev', 'stix', 'taxii', 'misp', 'csaf', 'osv', 'nvd', 'rss', 'csv'];

/** The largest part of its processor time that a pull may use without letting anything else run. */
const shareMax = 0.8;

/** Starts the whole program and an HTTP server that serves hostile content. */
export async function startHostile(): Promise<Hostile> {
  const server = await startServer();
  atFileEnd(() => server.stop());
  const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
  const first = await app.newOrg();
  // The first report that a process reads builds the tables for reading, in one turn of the event loop.
  server.document('/first', JSON.stringify(stixBundle(['a.example'])));
  const source = await callOk(first, 'POST', '/api/feed/sources', {
    kind: 'stix',
    name: 'A',
    url: `${server.base}/first`,
  });
  await callOk(first, 'POST', `/api/feed/sources/${source.id}/pull`);
  const org = await app.newOrg();
  let sources = 0;
  return {
    app,
    org,
    server,
    async pullFrom(kind, answer, type) {
      sources += 1;
      const path = `/${kind}${sources}`;
      if (typeof answer === 'function') server.routes.set(path, answer);
      else server.document(path, answer, type);
      const input = { kind, name: `${kind} ${sources}`, url: server.base + path };
      const created = await org.call('POST', '/api/feed/sources', input);
      expect(created.status, JSON.stringify(created.body)).toBe(200);
      const pull = () => org.call('POST', `/api/feed/sources/${created.body.id}/pull`);
      const { result: pulled, share } = await measureLongestTurn(pull);
      expect(pulled.status).toBe(200);
      expect(share, 'processor time between two turns of the event loop').toBeLessThan(shareMax);
      return pulled.body as PullResult;
    },
    items: async () => (await org.call('GET', '/items?perPage=100')).body.items as FeedItem[],
  };
}

/** Starts an HTTP server that must never receive a request. `asked` records violations. */
export async function startTrap(): Promise<Awaited<ReturnType<typeof startServer>>> {
  const trap = await startServer('127.0.0.2');
  atFileEnd(() => trap.stop());
  return trap;
}
