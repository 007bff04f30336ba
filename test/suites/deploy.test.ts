import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { root } from '../support/program.ts';

const folder = join(root, 'deploy');
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
const settings = readFileSync(join(root, 'docs/reference/settings.md'), 'utf8');
const version = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version as string;

describe.each(files.filter((file) => /ml$|Dockerfile|service$/.test(file)))('deploy/%s', (file) => {
  test('names only settings that exist, and the version of the package', () => {
    const named = [...new Set(read(file).match(/\bTOCSIN_[A-Z_]+|\bDATABASE_[A-Z_]+/g) ?? [])];
    expect(named.filter((name) => !settings.includes(`| \`${name}\` |`))).toEqual([]);
    const versions = [...read(file).matchAll(/tocsin:(\d[\w.-]*)|newTag: (\S+)/g)].map(
      ([, tag, newTag]) => tag ?? newTag,
    );
    expect(versions.filter((tag) => tag !== version)).toEqual([]);
  });

  test.runIf(file.endsWith('ml'))('is valid YAML', () => {
    expect(parseAllDocuments(read(file)).flatMap(({ errors }) => errors)).toEqual([]);
  });
});

test('the packages have one version', () => {
  for (const folder of ['packages/client', 'web'])
    expect(JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).version, folder).toBe(version);
});

test('every process is started as by npm', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const [option] = /--max-semi-space-size=\d+/.exec(scripts.start) ?? [];
  for (const file of ['Dockerfile', 'systemd/tocsin.service']) expect(read(file)).toContain(option);
  expect(readFileSync(join(root, 'bin/tocsin.mjs'), 'utf8').split('\n')[0]).toContain(option);
});

test('the image has the command of the documentation on its path', () => {
  expect(readFileSync(join(root, 'docs/operate/backup.md'), 'utf8')).toContain('docker compose exec tocsin tocsin ');
  expect(read('Dockerfile')).toMatch(
    /chmod \+x bin\/tocsin\.mjs[^]*ln -s \/opt\/tocsin\/bin\/tocsin\.mjs \/usr\/local\/bin\/tocsin/,
  );
});

test('the kustomization lists files that exist', () => {
  const [kustomization] = parseAllDocuments(read('kubernetes/kustomization.yaml'));
  const { resources } = kustomization!.toJS() as { resources: string[] };
  expect(resources.filter((name) => !existsSync(join(folder, 'kubernetes', name)))).toEqual([]);
  expect(resources.length).toBeGreaterThan(0);
});
