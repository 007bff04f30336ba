import fc from 'fast-check';
import { expect, test } from 'vitest';
import { slackMessage, teamsMessage } from '../../src/platform/notifications/chat-message.ts';
import { showText } from '../../src/platform/lib/text/show-text.ts';
import { showText as showInConsole } from '../../web/src/lib/jsx/show-text.ts';
import { createProgress } from '../../src/cli/support/output.ts';
import { startApp } from '../support/harness.ts';
import { runCommand } from '../support/run-command.ts';

/** Clears the screen, begins another line, and shows `gpj.exe` as `exe.jpg`. */
const name = 'a\u001b[2J\u009b1m\nb\u202Egpj.exe';
const shown = String.raw`a\u001b[2J\u009b1m\u000ab\u202egpj.exe`;
const { url, newOrg } = await startApp();
const command = (...args: string[]) => runCommand(args, { DATABASE_URL: url, TOCSIN_LOG_LEVEL: 'silent' });

test('commands print names escaped, one per line, and their JSON keeps them', async () => {
  const org = await newOrg();
  const { id } = (await org.call('POST', '/api/keys', { name })).body;
  const listed = await command('key', 'list', '--org', org.name);
  expect(listed.out.split('\n').find((line) => line.startsWith(id))).toContain(`valid    ${shown}  `);
  const json = await command('key', 'list', '--org', org.name, '--json');
  expect(json.out).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
  expect(JSON.parse(json.out).map((key: { name: string }) => key.name)).toContain(name);
});

test('errors of commands are printed escaped', async () => {
  const answers = [await command('key', 'list', '--org', name), await command('key', 'revoke', name)];
  for (const { code, out } of answers) {
    expect(code).toBe(1);
    expect(out).not.toMatch(/[^\P{Cc}\n]|\u202E/u);
    expect(out).toContain(String.raw`\u001b[2J`);
  }
});

test('progress is printed escaped', () => {
  let out = '';
  createProgress({ write: (text) => (out += text) }, 'rules')(1, 1, name);
  expect(out).toBe(`  ${shown}  1 of 1 rules\n`);
});

test('chat messages show names escaped', () => {
  const data = { headline: name, entity: name, summary: name };
  const event = { id: 'e', type: 'hit.created', timestamp: '', organizationId: 'o', revision: 1, data };
  for (const message of [slackMessage(event), teamsMessage(event)]) {
    expect(JSON.stringify(message)).not.toContain('\u202E');
    expect(JSON.stringify(message)).toContain(JSON.stringify(shown).slice(1, -1));
  }
});

test('the console shows texts as the command line does', () => {
  const withoutReturns = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\r', ''));
  fc.assert(fc.property(withoutReturns, (text) => showInConsole(text) === showText(text)));
});
