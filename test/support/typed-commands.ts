import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { findFreeLoopbackPort } from '../../src/platform/embedded-postgres/address.ts';
import { startCommandServer } from './command-server.ts';
import { newProgramDir, removeProgramDir, root, until } from './program.ts';

/** Guide pages that continue where the demo ends. The others continue with the service of the first detection. */
export const demoPages = ['categories', 'hits', 'prompts', 'suggestions'].map((name) => `docs/guide/${name}.md`);

/** A shell block of a page, with the mark above it and the output that the page promises. */
export type ShellBlock = { mark: string; shell: string; prints: string };

/**
 * Returns the shell blocks of a page, in order. Tests run blocks below `<!-- run -->`. Blocks below `<!-- run: start -->` and
 * `<!-- run: demo -->` start the service. A block below `<!-- prints -->` is the shortened output of the block before it.
 */
export function blocksOf(page: string): ShellBlock[] {
  const blocks: ShellBlock[] = [];
  const fenced = /(?:<!-- (.+?) -->\n)?```(\w*)\n([\s\S]*?)```/g;
  for (const [, mark = '', language = '', text = ''] of readFileSync(join(root, page), 'utf8').matchAll(fenced)) {
    const last = blocks.at(-1);
    if (mark === 'prints' && last) last.prints += text;
    else if (/^(sh|bash)$/.test(language)) blocks.push({ mark, shell: text, prints: '' });
  }
  return blocks;
}

/** Creates a directory that looks like a fresh clone after `npm ci`. Commands write only into it. */
export function newClone(): string {
  const dir = newProgramDir();
  const own = /^\.(git|tocsin)|^detections$/;
  for (const name of readdirSync(root)) if (!own.test(name)) symlinkSync(join(root, name), join(dir, name));
  mkdirSync(join(dir, '.git'));
  return dir;
}

export type RunningService = { dir: string; port: number; output: () => string; stop: () => Promise<void> };

/** Returns the block with the given mark, without `npm ci`, which has already run. */
export function startBlock(page: string, mark: string): string {
  const block = blocksOf(page).find((one) => one.mark === mark);
  if (!block) throw new Error(`${page} has no block "${mark}"`);
  return block.shell.replace('npm ci\n', '');
}

/** Runs a block that starts a service in a new clone, and waits until its output matches `isUp`. */
export async function startService(shell: string, isUp: RegExp, maxMs = 180_000): Promise<RunningService> {
  const dir = newClone();
  const { port } = await findFreeLoopbackPort();
  // As in a terminal, npm is a child of the shell and the program a child of npm. They are stopped as a group.
  const child = spawn('bash', ['-c', shell], {
    cwd: dir,
    env: environment(port),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) {
      const ended = once(child, 'close');
      process.kill(-child.pid, 'SIGTERM');
      await ended;
    }
    removeProgramDir(dir);
  };
  const failure = (): string => `the service does not start:\n${text}`;
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

/**
 * Replaces `npm run --silent tocsin -- …` by the same command within the test's process, because the pages call it fifty times. Commands that serve
 * or read their input run the program itself, with the same options. The blocks that start a service use npm.
 */
const direct = `npm() {
  [ "$1 $2 $3 $4" = "run --silent tocsin --" ] || { command npm "$@"; return; }
  shift 4
  case "$1" in all|demo|mcp|serve|work) ;; *) [ -p /dev/stdin ] || [ -f /dev/stdin ] || { run_here "$@"; return; } ;; esac
  "$PROGRAM_NODE" ${readNodeOptions()} "$PROGRAM" "$@"
}`;

/** Returns the options of Node in the script `tocsin` of package.json. */
function readNodeOptions(): string {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { tocsin: string } };
  const options = /^exec node (.+) bin\/tocsin\.mjs$/.exec(scripts.tocsin)?.[1];
  if (!options) throw new Error(`The script "tocsin" is ${scripts.tocsin}.`);
  return options;
}

/** Runs the blocks in one shell that stops at the first error. Returns the output of each block. */
export async function runBlocks(service: RunningService, blocks: ShellBlock[], before = ''): Promise<string[]> {
  const texts = blocks.map(({ shell }, index) => `echo '========= ${index}'\n${shell}`);
  const script = [direct, before, ...texts].join('\n').replaceAll(':8080', `:${service.port}`);
  const commands = await startCommandServer();
  const run = promisify(execFile)(
    'bash',
    ['-euo', 'pipefail', '-c', `exec < /dev/null\n${commands.shell}\n${script}`],
    {
      cwd: service.dir,
      env: environment(service.port),
      maxBuffer: 64 * 1024 ** 2,
    },
  );
  const { stdout } = await run
    .catch((error: Error & { stdout: string }) => {
      throw new Error(`A command failed after this output:\n${error.stdout}`, { cause: error });
    })
    .finally(commands.stop);
  return stdout.split(/={9} \d+\n/).slice(1);
}

/** Runs the blocks of a page against a service, with the key set, and compares their output with the page. */
export const expectPageRuns = (service: RunningService, page: string): Promise<void> =>
  expectBlocksRun(
    service,
    blocksOf(page).filter(({ mark }) => mark === 'run'),
    'export TOCSIN_API_KEY=choose-a-long-random-key',
  );

/** Runs blocks after the commands `before`, and compares the output, error messages included, with what the page prints. */
export async function expectBlocksRun(service: RunningService, blocks: ShellBlock[], before: string): Promise<void> {
  const outputs = await runBlocks(service, blocks, `exec 2>&1\n${before}`);
  for (const [index, { prints, shell }] of blocks.entries()) {
    // Every error response has one. A page that shows an error shows its status.
    if (!/"status": \d{3}/.test(prints)) expect(outputs[index]!, shell).not.toContain('"requestId"');
    expect(findMissingOutput(outputs[index]!, prints), `${shell}\nprinted\n${outputs[index]}`).toBeUndefined();
  }
}

/** Returns the first part of `prints` that is missing in `output` in that order, or undefined. `…` matches anything, a time any time, an id any id. */
export function findMissingOutput(output: string, prints: string): string | undefined {
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
    // For the function `tocsin` of pages that call the installed program.
    PROGRAM: join(root, 'bin/tocsin.mjs'),
    PROGRAM_NODE: process.execPath,
    // What docs/operate/organizations.md exports.
    TOCSIN_ADMIN_KEY: 'choose-another-long-random-key-here',
  };
}
