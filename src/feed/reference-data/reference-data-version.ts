import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const epoch = Date.UTC(2025, 0, 1);

/** Returns when `tocsin knowledge update` last changed a file, in minutes since 2025 (rounded up), or 0 if nothing is installed. */
export function getReferenceDataVersion(dataDir: string): number {
  const folder = join(dataDir, 'knowledge');
  const times = filesOf(folder).map((name) => statSync(join(folder, name)).mtimeMs);
  return Math.max(0, Math.ceil((Math.max(epoch, ...times) - epoch) / 60_000));
}

function filesOf(folder: string): string[] {
  try {
    // Skips `.new` files, which are being written.
    return readdirSync(folder).filter((name) => /\.json(?:\.gz)?$/.test(name));
  } catch {
    return [];
  }
}
