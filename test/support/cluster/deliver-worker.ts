// A process that only delivers. A test kills it.

import { buildDeps } from '../../../src/app/build-deps.ts';
import { loadConfig } from '../../../src/config.ts';
import { openDb } from '../../../src/platform/db/db.ts';
import { createLogger } from '../../../src/platform/lib/logging/logger.ts';
import { deliverLoop } from '../../../src/platform/notifications/deliver.ts';

const config = loadConfig();
const { deps } = buildDeps({ config, db: openDb(config.databaseUrl!, 4), log: createLogger('error') });
process.on('disconnect', () => process.exit(0));
await deliverLoop(deps, new AbortController().signal);
