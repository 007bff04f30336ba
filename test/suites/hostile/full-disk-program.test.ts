import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { removeProgramDir, runProgram, startProgram, until, type Program } from '../../support/program.ts';
import { mountSmallDisk, unmountSmallDisk } from '../../support/small-disk.ts';

/** The database, the logs and everything else of the program are on a disk of this size. */
const diskMib = 400;
const reserveMib = 100;
const key = 'a-key-for-the-test-of-a-full-disk';
// Every user can enter it. Below a private directory, the database would be elsewhere.
const dir = mkdtempSync(join(tmpdir(), 'tocsin-disk-'));
const filler = join(dir, 'filler');
let program: Program | undefined;

const isMounted = mountSmallDisk(dir, `${diskMib}m`);
afterAll(async () => {
  await program?.kill('SIGKILL');
  if (isMounted) {
    rmSync(filler, { force: true });
    await runProgram(['org', 'list'], dir);
    unmountSmallDisk(dir);
  }
  removeProgramDir(dir);
});

/** Fills the disk until at most `freeMib` are left, or completely. */
function fillDisk(freeMib: number): void {
  const file = openSync(filler, 'a');
  const piece = Buffer.alloc(1024 * 1024);
  const free = () => Number(execFileSync('df', ['--output=avail', '-m', dir], { encoding: 'utf8' }).split('\n')[1]);
  try {
    while (free() > freeMib) writeSync(file, piece);
    if (freeMib === 0) for (;;) writeSync(file, piece, 0, 4096);
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(file);
  }
}

test.skipIf(!isMounted)(
  'a program whose whole disk fills up refuses events in time, and works again without a restart (needs the right to mount)',
  async () => {
    program = await startProgram(dir, { TOCSIN_API_KEY: key, TOCSIN_DISK_RESERVE_BYTES: String(reserveMib * 2 ** 20) });
    const { url } = program;
    expect(program.output()).toContain(`database: ${dir}/`);
    const call = async (method: string, path: string, body?: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(`${url}${path}`, { method, headers, ...(body && { body }) });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const send = (user: string) => call('POST', '/api/logs/auth', JSON.stringify({ user }));
    const detection = (name: string) =>
      call(
        'POST',
        '/api/detections',
        JSON.stringify({
          name,
          detectionCategory: 'custom',
          systemPrompt: randomBytes(10_000).toString('hex'),
          detectionQuery: 'SELECT 1 AS n',
        }),
      );
    const isReady = async () => (await call('GET', '/readyz')).body['status'] === 'ok';
    expect((await send('ada')).status).toBe(200);

    // Up to the reserve: events are refused, everything else works.
    fillDisk(reserveMib - 10);
    await until(async () => !(await isReady()), program.output);
    expect(await send('bo')).toMatchObject({ status: 507, body: { code: 'insufficient_storage' } });
    expect((await detection('while the reserve lasts')).status).toBe(200);

    // Beyond: the database itself cannot write.
    fillDisk(0);
    const stored: string[] = [];
    const statuses = new Set<number>();
    let refused = 0;
    // The database has some room left in its files.
    for (let n = 0; n < 1_000 && refused < 20; n += 1) {
      const { status, body } = await detection(`without space ${n}`);
      statuses.add(status);
      if (status === 200) stored.push(String(body['id']));
      else refused += 1;
    }
    expect([...statuses].filter((status) => ![200, 507].includes(status))).toEqual([]);
    expect(statuses).toContain(507);

    rmSync(filler);
    await until(
      async () => (await isReady().catch(() => false)) && (await send('cy')).status === 200,
      program.output,
      program.hasEnded,
      60_000,
    );
    expect((await detection('with space again')).status).toBe(200);
    const { datasets } = (await call('GET', '/api/logs')).body as { datasets: { events: number }[] };
    expect(datasets[0]!.events).toBe(2);
    for (const id of stored) expect((await call('GET', `/api/detections/${id}`)).status).toBe(200);
    expect(await program.kill('SIGTERM')).toBe(0);
  },
);
