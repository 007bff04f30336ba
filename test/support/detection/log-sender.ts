// Sends one body to a log store and prints `accepted` once it is stored. Tests run it as a process that they can kill.
import { openDb } from '../../../src/platform/db/db.ts';
import { toOrgId } from '../../../src/platform/lib/org-id.ts';
import { createCatalogCache } from '../../../src/detection/log-store/catalog/catalog.store.ts';
import { createQueryShapes } from '../../../src/detection/log-query/search/run-together.ts';
import { bodyReaderInThisThread } from './body-reader.ts';
import { createFileStore } from '../../../src/detection/log-store/files/file-store.ts';
import { createLogQuotaGuard } from '../../../src/detection/log-ingest/receive-logs.ts';
import { receiveLogs } from '../../../src/detection/log-ingest/receive-logs.ts';

const [url, logsFolder, org, body] = process.argv.slice(2);
const db = openDb(url!);
const deps = {
  db,
  clock: () => new Date(),
  segmentStore: createFileStore(logsFolder!),
  logCatalogs: createCatalogCache(),
  queryShapes: createQueryShapes(),
  bodyReader: bodyReaderInThisThread,
  logQuotas: createLogQuotaGuard(),
};
await receiveLogs(deps, toOrgId(org!), { dataset: 'auth', body: Buffer.from(body!) });
console.log('accepted');
await db.destroy();
