import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const cloneMaxMs = 120_000;
const isRepository = (place: string): boolean => /^(https?|ssh|git|file):\/\/|^[\w.-]+@[\w.-]+:/.test(place);

/**
 * Calls `work` with the folder of a pack. A repository, `URL` or `URL#BRANCH`, is cloned with the system's Git into a temporary folder, which
 * is removed afterwards. Throws an Error with the message of Git.
 */
export async function withPackFolder<T>(place: string, work: (folder: string) => Promise<T>): Promise<T> {
  if (!isRepository(place)) return work(place);
  const [url = '', branch] = place.split('#');
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-pack-'));
  try {
    const branchOption = branch ? [`--branch=${branch}`] : [];
    // Nobody answers a question for a password.
    const command = [
      'GIT_TERMINAL_PROMPT=0',
      'git',
      'clone',
      '--quiet',
      '--depth',
      '1',
      ...branchOption,
      '--',
      url,
      folder,
    ];
    await promisify(execFile)('env', command, { timeout: cloneMaxMs }).catch((error: Error & { stderr?: string }) => {
      throw new Error(`git clone ${url}: ${error.stderr?.trim() || error.message}`, { cause: error });
    });
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
