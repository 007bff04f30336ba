import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { findFreeLoopbackPort } from '../../src/platform/embedded-postgres/address.ts';
import { newProgramDir, removeProgramDir, root } from '../../test/support/program.ts';

const key = 'key-of-the-screenshots';

/** A running service. `read` calls its API with a key. */
export type Service = { signInLink: string; read: <T>(path: string) => Promise<T> };

/** Starts `tocsin COMMAND` in an empty folder, calls `use` and stops the service. */
export async function withService(command: 'demo' | 'all', use: (service: Service) => Promise<void>): Promise<void> {
  const dir = newProgramDir();
  const { port } = await findFreeLoopbackPort();
  const child = spawn(process.execPath, [join(root, 'bin/tocsin.mjs'), command], {
    cwd: dir,
    env: { PORT: String(port), TOCSIN_API_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  try {
    const signInLink = await readSignInLink(child);
    const read = async <T>(path: string): Promise<T> => {
      const response = await fetch(new URL(path, signInLink), { headers: { authorization: `Bearer ${key}` } });
      if (!response.ok) throw new Error(`GET ${path} returned ${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    };
    await use({ signInLink, read });
  } finally {
    child.kill('SIGTERM');
    await ended;
    removeProgramDir(dir);
  }
}

async function readSignInLink(child: ChildProcessByStdio<null, Readable, Readable>): Promise<string> {
  let output = '';
  return new Promise((done, fail) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const link = /http\S+\/console\/sign-in#\S+/.exec(output)?.[0];
      if (link) done(link);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => fail(new Error(`The service ended before it printed a sign-in link:\n${output}`)));
  });
}
