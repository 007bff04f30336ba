import { join } from 'node:path';

/** Returns the folder of an organization's events. It contains no other organization's data. */
export function logFolderPath(dataDir: string, orgId: string): string {
  return join(dataDir, 'logs', orgId);
}
