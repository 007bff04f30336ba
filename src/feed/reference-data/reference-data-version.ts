import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const epoch = Date.UTC(2025, 0, 1);

/** Returns the path of the file that holds the version of the installed data. */
export const versionPath = (dataDir: string): string => join(dataDir, 'knowledge', 'version');

/** Returns the version that the last `tocsin knowledge update` recorded, or 0 if nothing is installed. */
export function getReferenceDataVersion(dataDir: string): number {
  try {
    return Number.parseInt(readFileSync(versionPath(dataDir), 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

/** Returns the version of an update at `now`: minutes since 2025, and always more than the version before. */
export const nextReferenceDataVersion = (dataDir: string, now: Date): number =>
  Math.max(getReferenceDataVersion(dataDir) + 1, Math.ceil((now.getTime() - epoch) / 60_000));
