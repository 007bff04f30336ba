import { join } from 'node:path';
import type { Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/clock.ts';
import type { LogEngine } from './engine/engine.ts';

/** What the log store needs; the program's Deps have it all. `clock` is slot time. */
export type LogDeps = { db: Db; clock: Clock; config: { dataDir: string } };
export type SearchDeps = LogDeps & { engine: LogEngine };

/** The folder of an organization's events: nothing of another organization lies below it. */
export function logFolderPath(dataDir: string, orgId: string): string {
  return join(dataDir, 'logs', orgId);
}
