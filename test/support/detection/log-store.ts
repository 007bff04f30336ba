import { rmSync } from 'node:fs';
import { atFileEnd } from '../at-file-end.ts';
import { newOrgId, testDatabase } from '../database.ts';
import { newProgramDir } from '../program.ts';
import type { OrgId } from '../../../src/platform/lib/org-id.ts';
import {
  SiemError,
  type QueryWindow,
  type SearchResult,
  type SiemFailure,
} from '../../../src/detection/siem/connector.ts';
import { createCatalogCache } from '../../../src/detection/log-store/catalog/catalog.store.ts';
import { createQueryShapes } from '../../../src/detection/log-query/search/run-together.ts';
import { createEngine, type LogEngine } from '../../../src/detection/log-engine/process/engine.ts';
import { bodyReaderInThisThread } from './body-reader.ts';
import { createFileStore } from '../../../src/detection/log-store/files/file-store.ts';
import type { SegmentStore } from '../../../src/detection/log-store/files/segment-store.ts';
import { createLogQuotaGuard } from '../../../src/detection/log-ingest/receive-logs.ts';
import { receiveLogs, type ReceiveLogsDeps } from '../../../src/detection/log-ingest/receive-logs.ts';
import type { LogReceipt } from '../../../src/detection/log-ingest/events/log-receipt.schema.ts';
import { searchLogs, type SearchLogsDeps } from '../../../src/detection/log-query/search/search-logs.ts';

const limits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 30_000 };

/** Creates an empty folder that is removed after the tests of this file. */
export function createTestFolder(): string {
  const folder = newProgramDir();
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export type TestLogStore = {
  /** The database's URL. */
  url: string;
  deps: SearchLogsDeps & ReceiveLogsDeps;
  engine: LogEngine;
  /** Sets slot time. */
  at: (iso: string) => void;
  newOrg: () => Promise<OrgId>;
  send: (
    org: OrgId,
    dataset: string,
    events: unknown[] | string | Buffer,
    more?: { history?: boolean; timeField?: string },
  ) => Promise<LogReceipt>;
  /** Searches a window, by default all events of any time. */
  search: (org: OrgId, query: string, window?: Partial<QueryWindow>) => Promise<SearchResult>;
};

/** Starts a log store with its own database, folder and engine for this test file. */
export async function startLogStore(
  segmentStore: SegmentStore = createFileStore(createTestFolder()),
): Promise<TestLogStore> {
  const { db, url } = await testDatabase();
  const engine = createEngine({ directoryOf: segmentStore.folderOf });
  atFileEnd(() => engine.close());
  let now = new Date('2024-06-01T00:00:00Z');
  const deps = {
    db,
    clock: () => now,
    segmentStore,
    engine,
    logCatalogs: createCatalogCache(),
    queryShapes: createQueryShapes(),
    bodyReader: bodyReaderInThisThread,
    logQuotas: createLogQuotaGuard(),
  };
  return {
    url,
    deps,
    engine,
    at: (iso) => {
      now = new Date(iso);
    },
    newOrg: () => newOrgId(db),
    send: (org, dataset, events, more = {}) => {
      const body = Array.isArray(events) ? events.map((event) => JSON.stringify(event)).join('\n') : events;
      return receiveLogs(deps, org, { dataset, body: Buffer.from(body as string), ...more });
    },
    search: (org, query, window = {}) => {
      const full: QueryWindow = {
        from: new Date('1990-01-01T00:00:00Z'),
        to: new Date('2100-01-01T00:00:00Z'),
        clock: 'event',
        ...window,
      };
      return searchLogs(deps, org, { query, window: full, limits });
    },
  };
}

/** Returns the failure of a promise that must reject with a SiemError. */
export async function failureOf(promise: Promise<unknown>): Promise<SiemFailure> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SiemError) return error.failure;
    throw error;
  }
  throw new Error('The promise did not reject.');
}
