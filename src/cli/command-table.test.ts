import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Command } from '@commander-js/extra-typings';
import { expect, test } from 'vitest';
import { root } from '../../test/support/program.ts';
import { packageVersion } from '../platform/lib/program-files.ts';
import { createCommandTable } from './command-table.ts';

/** Parses a command line without running a command. Returns what is printed. */
async function typed(...argv: string[]): Promise<string> {
  let text = '';
  const program = createCommandTable(async () => undefined);
  const capture = (command: Command): void => {
    command.configureOutput({ writeOut: (part) => (text += part), writeErr: (part) => (text += part) });
    command.commands.forEach((child) => capture(child as Command));
  };
  capture(program);
  await program.parseAsync(argv, { from: 'user' }).catch(() => undefined);
  return text;
}

function listCommands(command: Command, path: string[] = []): { path: string[]; command: Command }[] {
  const children = command.commands as readonly Command[];
  return [{ path, command }, ...children.flatMap((child) => listCommands(child, [...path, child.name()]))];
}

const all = listCommands(createCommandTable(async () => undefined));
const leaves = all.filter(({ command }) => command.commands.length === 0);

test.each(leaves.map(({ path }) => path.join(' ')))('%s --help has a description and an example', async (path) => {
  const help = await typed(...path.split(' '), '--help');
  expect(help).toContain(`Usage: tocsin ${path}`);
  expect(help).toMatch(new RegExp(`Examples?:\n  \\$ .*tocsin ${path}`));
});

test('prints the version and the list of commands', async () => {
  expect(await typed('--version')).toBe(`${packageVersion}\n`);
  const help = await typed('--help');
  for (const { path } of all.filter(({ path }) => path.length === 1))
    expect(help).toMatch(new RegExp(`^  ${path[0]} `, 'm'));
});

test.each([
  [['key', 'creat'], /unknown command 'creat'.*Did you mean create\?.*Usage: tocsin key/s],
  [['key', 'create', '--org', 'a'], /required option '--name <NAME>' not specified.*Usage: tocsin key create/s],
  [['demo', '--twice'], /unknown option '--twice'.*Usage: tocsin demo/s],
  [['plan'], /missing required argument 'DIR'.*Help: {2}tocsin plan --help/s],
  [
    ['work', '--only', 'runs,run'],
    /option '--only <ROLES>'.*"run" is not a role. The roles are runs, match, judge, ingest, deliver/s,
  ],
  [['serve', '--only', 'runs'], /unknown option '--only'/],
  [['migrate', 'now'], /too many arguments.*Usage: tocsin migrate/s],
])('explains the command line %j', async (argv, message) => {
  expect(await typed(...argv)).toMatch(message);
});

test('ends quietly if the reader of its output, such as head, has closed it', async () => {
  const program = spawn(process.execPath, [join(root, 'bin/tocsin.mjs'), '--help'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  program.stdout.destroy();
  const [errors, [code]] = await Promise.all([text(program.stderr), once(program, 'exit')]);
  expect([code, errors]).toEqual([0, '']);
});
