import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../support/program.ts';

type Step = { uses?: string; run?: string; with?: Record<string, unknown>; 'working-directory'?: string };
type Workflow = {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<string, { 'timeout-minutes'?: number; permissions?: Record<string, string>; steps: Step[] }>;
};
const folder = join(root, '.github/workflows');
const read = (name: string): Workflow => parse(readFileSync(join(folder, name), 'utf8')) as Workflow;
const names = readdirSync(folder);

/** The lock files of the repository. Those of workspaces are part of the first. */
const locked = ['package-lock.json', 'site/package-lock.json'].map((path) => `/${dirname(path)}`.replace('/.', '/'));

test.each(names)('%s states its permissions and the time of each job', (name) => {
  const { on, permissions, jobs } = read(name);
  expect(permissions, 'a change from a fork has the same rights').toMatchObject({ contents: expect.any(String) });
  if ('pull_request' in on) expect(permissions).toEqual({ contents: 'read' });
  expect(on).not.toHaveProperty('pull_request_target');
  for (const [job, { 'timeout-minutes': minutes }] of Object.entries(jobs)) expect(minutes, job).toBeGreaterThan(0);
});

test('jobs that run the tests have the tags, from the last of which a test upgrades', () => {
  const jobs = names.flatMap((name) => Object.values(read(name).jobs));
  const testing = jobs.filter(({ steps }) => steps.some(({ run = '' }) => run.includes('.ci/run')));
  expect(testing.length).toBeGreaterThan(1);
  for (const { steps } of testing)
    expect(steps.find(({ uses = '' }) => uses.startsWith('actions/checkout'))?.with).toEqual({ 'fetch-depth': 0 });
});

test('dependencies are checked for every change and every week, those of the documentation included', () => {
  const { on, jobs } = read('dependencies.yml');
  expect(Object.keys(on)).toEqual(expect.arrayContaining(['pull_request', 'schedule']));
  const audits = jobs['audit']!.steps.filter(({ run = '' }) => /^npm audit .*--audit-level high$/.test(run));
  expect(audits.map((step) => `/${step['working-directory'] ?? ''}`)).toEqual(locked);
  for (const path of locked) expect(existsSync(join(root, path, 'package-lock.json')), path).toBe(true);
});

test('newer versions are proposed for every lock file and for the actions', () => {
  const { updates } = parse(readFileSync(join(root, '.github/dependabot.yml'), 'utf8')) as {
    updates: { 'package-ecosystem': string; directories?: string[]; directory?: string }[];
  };
  const of = (ecosystem: string): string[] =>
    updates
      .filter((update) => update['package-ecosystem'] === ecosystem)
      .flatMap(({ directories = [], directory }) => (directory ? [directory] : directories));
  expect(of('npm')).toEqual(locked);
  expect(of('github-actions')).toEqual(['/']);
});
