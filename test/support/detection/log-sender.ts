// Sends one body to a log store and says so when it is accepted: a process that a test may kill.
import { openDb } from '../../../src/platform/db/db.ts';
import { toOrgId } from '../../../src/platform/lib/org-id.ts';
import { receiveLogs } from '../../../src/detection/logs/ingestion/receive-logs.ts';

const [url, dataDir, org, body] = process.argv.slice(2);
const db = openDb(url!);
await receiveLogs({ db, clock: () => new Date(), config: { dataDir: dataDir! } }, toOrgId(org!), {
  dataset: 'auth',
  body: Buffer.from(body!),
});
console.log('accepted');
await db.destroy();
