import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { newProgramDir, removeProgramDir, root, until } from './program.ts';

/** Pages of the guide that go on where the demo ends. The others go on with the service of the first detection. */
export const demoPages = ['categories', 'hits', 'prompts', 'suggestions'].map((name) => `docs/guide/${name}.md`);

/** A shell block of a page, with the mark that stands above it and what the page says that it prints. */
export type Block = { mark: string; shell: string; prints: string };

/**
 * The shell blocks of a page, in order. `<!-- run -->` above a block has it typed by a test, `<!-- run: start -->` and
 * `<!-- run: demo -->` bring the service up. `<!-- prints -->` stands above what the block before it prints, shortened.
 */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const fenced = /(?:<!-- (.+?) -->\n)?```(\w*)\n([\s\S]*?)```/g;
  for (const [, mark = '', language = '', text = ''] of readFileSync(join(root, page), 'utf8').matchAll(fenced)) {
    const last = blocks.at(-1);
    if (mark === 'prints' && last) last.prints += text;
    else if (/^(sh|bash)$/.test(language)) blocks.push({ mark, shell: text, prints: '' });
  }
  return blocks;
}

/** A directory that looks like a fresh clone after `npm ci`: what a command writes stays in it. */
export function newClone(): string {
  const dir = newProgramDir();
  const own = /^\.(git|tocsin)|^detections$/;
  for (const name of readdirSync(root)) if (!own.test(name)) symlinkSync(join(root, name), join(dir, name));
  mkdirSync(join(dir, '.git'));
  return dir;
}

export type Service = { dir: string; port: number; output: () => string; stop: () => Promise<void> };

/** The block of a page that has a mark, without `npm ci`: it has made the directory that the tests run in. */
export function startBlock(page: string, mark: string): string {
  const block = blocksOf(page).find((one) => one.mark === mark);
  if (!block) throw new Error(`${page} has no block "${mark}"`);
  return block.shell.replace('npm ci\n', '');
}

/** Types a block that brings a service up in a clone of its own, and waits until its output matches `isUp`. */
export async function startTyped(shell: string, isUp: RegExp, maxMs = 60_000): Promise<Service> {
  const dir = newClone();
  const port = await freePort();
  // npm is a child of the shell and the program one of npm, as in a terminal: they are ended as a group.
  const child = spawn('bash', ['-c', shell], {
    cwd: dir,
    env: environment(port),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
  }
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) {
      const ended = once(child, 'close');
      process.kill(-child.pid, 'SIGTERM');
      await ended;
    }
    removeProgramDir(dir);
  };
  const failure = (): string => `the service does not come up:\n${text}`;
  try {
    await until(
      () => isUp.test(text),
      failure,
      () => child.exitCode !== null,
      maxMs,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return { dir, port, output: () => text, stop };
}

/** Types the blocks marked `run` into one shell that stops at the first error; answers what each printed. */
export async function type(service: Service, blocks: Block[], before = ''): Promise<string[]> {
  const texts = blocks.map(({ shell }, index) => `echo '========= ${index}'\n${shell}`);
  const script = [before, ...texts].join('\n').replaceAll(':8080', `:${service.port}`);
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: service.dir,
    env: environment(service.port),
    maxBuffer: 64 * 1024 ** 2,
  });
  return stdout.split(/={9} \d+\n/).slice(1);
}

/** Types a page against a service, as one who has set the key, and holds what it prints against what the page says. */
export async function expectTyped(service: Service, page: string): Promise<void> {
  const blocks = blocksOf(page).filter(({ mark }) => mark === 'run');
  const outputs = await type(service, blocks, 'export TOCSIN_API_KEY=choose-a-long-random-key');
  for (const [index, { prints, shell }] of blocks.entries()) {
    // Every refusal has one; a page that shows a refusal shows its status.
    if (!/"status": \d{3}/.test(prints)) expect(outputs[index]!, shell).not.toContain('"requestId"');
    expect(notPrinted(outputs[index]!, prints), `${shell}\nprinted\n${outputs[index]}`).toBeUndefined();
  }
}

/** The first thing of `prints` that `output` does not hold in its place, or undefined. `…` stands for anything, a time for any time, an id for any id. */
export function notPrinted(output: string, prints: string): string | undefined {
  const whole = plain(output);
  let at = 0;
  for (const part of prints.split(/…|\n/).map(plain).filter(Boolean)) {
    const found = whole.indexOf(part, at);
    if (found === -1) return part;
    at = found + part.length;
  }
  return undefined;
}

const plain = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'ID')
    .replaceAll(/\s+/g, ' ')
    .trim();

function environment(port: number): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('TOCSIN_') && name !== 'DATABASE_URL');
  return {
    ...Object.fromEntries(kept),
    PORT: String(port),
    TOCSIN_URL: `http://127.0.0.1:${port}`,
    TOCSIN_LOG_LEVEL: 'error',
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as { port: number };
  await new Promise((done) => {
    server.close(done);
  });
  return port;
}
