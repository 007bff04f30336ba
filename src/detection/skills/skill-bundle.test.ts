import fc from 'fast-check';
import { zipSync } from 'fflate';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newDataDir } from '../../../test/support/harness.ts';
import { AppError } from '../../platform/lib/errors.ts';
import type { SkillFile } from './skills.schema.ts';
import { readBundle, toBundleFiles } from './skill-bundle.ts';
import { loadShippedSkills, readSkillFolder, readSkillZip, writeSkillZip } from './skill-files.ts';

const main = (frontMatter: string, body = 'Do it.\n') => `---\n${frontMatter}\n---\n${body}`;
const valid = main('name: phishing\ndescription: Judges a message.');

/** Returns the archive of files by their names. */
const zipOf = (files: Record<string, string | Uint8Array>): Buffer =>
  Buffer.from(
    zipSync(
      Object.fromEntries(
        Object.entries(files).map(([name, content]) => [
          name,
          typeof content === 'string' ? new TextEncoder().encode(content) : content,
        ]),
      ),
    ),
  );

/** Returns the field errors that a skill is refused with. */
function problemsOf(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error.errors;
    throw error;
  }
  return undefined;
}

test('reads every field of the specification, and the files beside it', () => {
  const text = main(
    [
      'name: pdf-processing',
      'description: >',
      '  Extracts text,',
      '  and fills forms.',
      'license: Apache-2.0',
      'compatibility: Requires git',
      'metadata:',
      '  author: northmere',
      '  version: 1.10',
      'allowed-tools: Bash(git:*) Read',
    ].join('\n'),
    '# Steps\n\n---\n\nEnd\n',
  );
  const image = Uint8Array.from([0x89, 0x50, 0, 0xff]);
  const zip = zipOf({
    'pdf-processing/SKILL.md': text,
    'pdf-processing/references/a.md': 'A',
    'pdf-processing/assets/b.png': image,
  });
  expect(readSkillZip(zip)).toEqual({
    name: 'pdf-processing',
    content: {
      description: 'Extracts text, and fills forms.\n',
      license: 'Apache-2.0',
      compatibility: 'Requires git',
      metadata: { author: 'northmere', version: '1.10' },
      allowedTools: ['Bash(git:*)', 'Read'],
      body: '# Steps\n\n---\n\nEnd\n',
      files: [
        { path: 'assets/b.png', base64: Buffer.from(image).toString('base64') },
        { path: 'references/a.md', text: 'A' },
      ],
    },
  });
});

test('accepts an archive without a folder, a list of tools, Windows line ends and a byte order mark', () => {
  const text = `\uFEFF${main('name: a\ndescription: b\nallowed-tools:\n  - Bash(git add:*)\n  - Read')}`.replaceAll(
    '\n',
    '\r\n',
  );
  const files = { 'SKILL.md': text, '__MACOSX/._SKILL.md': 'x', '.DS_Store': 'x', 'references/': new Uint8Array() };
  expect(readSkillZip(zipOf(files))).toMatchObject({
    name: 'a',
    content: { allowedTools: ['Bash(git add:*)', 'Read'], body: 'Do it.\r\n', files: [] },
  });
});

test.each<[string, string, string, RegExp]>([
  ['no front matter', '# Phishing', '/SKILL.md', /must begin with front matter/],
  ['an open front matter', '---\nname: phishing\n', '/SKILL.md', /must begin with front matter/],
  [
    'YAML that is broken',
    main('name: phishing\ndescription: Use when: mail'),
    '/SKILL.md',
    /not YAML: .*quotation marks/,
  ],
  ['a list', main('- name'), '/SKILL.md', /not a mapping/],
  ['no name', main('description: b'), '/SKILL.md/name', /`name` of SKILL.md is missing/],
  ['no description', main('name: phishing'), '/SKILL.md/description', /`description` of SKILL.md is missing/],
  ['an empty description', main("name: phishing\ndescription: ' '"), '/SKILL.md/description', /must not be blank/],
  [
    'a long description',
    main(`name: phishing\ndescription: ${'a'.repeat(1025)}`),
    '/SKILL.md/description',
    /at most 1024/,
  ],
  ['a long name', main(`name: ${'a'.repeat(65)}\ndescription: b`), '/SKILL.md/name', /at most 64/],
  ['an upper-case name', main('name: Phishing\ndescription: b'), '/SKILL.md/name', /lower-case/],
  ['a hyphen at the end', main('name: phishing-\ndescription: b'), '/SKILL.md/name', /lower-case/],
  ['two hyphens', main('name: phi--shing\ndescription: b'), '/SKILL.md/name', /lower-case/],
  ['the name of another folder', main('name: other\ndescription: b'), '/SKILL.md/name', /its folder is phishing/],
  [
    'long compatibility',
    main(`name: phishing\ndescription: b\ncompatibility: ${'a'.repeat(501)}`),
    '/SKILL.md/compatibility',
    /at most 500/,
  ],
  [
    'nested metadata',
    main('name: phishing\ndescription: b\nmetadata: {a: {b: c}}'),
    '/SKILL.md/metadata/a',
    /`metadata` of SKILL.md must be a string/,
  ],
  [
    'an unknown field',
    main('name: phishing\ndescription: b\nversion: 1'),
    '/SKILL.md/version',
    /unknown field "version".*metadata/,
  ],
  ['a long body', main('name: phishing\ndescription: b', 'a'.repeat(60_001)), '/SKILL.md/body', /at most 60000/],
])('refuses %s and says which field', (_what, text, pointer, detail) => {
  const problems = problemsOf(() => readSkillZip(zipOf({ 'phishing/SKILL.md': text })));
  expect(problems).toEqual([{ pointer, code: 'invalid_skill', detail: expect.stringMatching(detail) }]);
});

test.each<[string, Record<string, string | Uint8Array>, RegExp]>([
  ['two skills', { 'phishing/SKILL.md': valid, 'other/SKILL.md': valid }, /outside of the folder phishing/],
  ['a path out of the folder', { 'SKILL.md': valid, '../../etc/cron.d/x': 'x' }, /relative path/],
  ['a path out of its own folder', { 'phishing/SKILL.md': valid, 'phishing/../x': 'x' }, /relative path/],
  ['an absolute path', { 'SKILL.md': valid, '/etc/passwd': 'x' }, /relative path/],
  ['a path of Windows', { 'SKILL.md': valid, '..\\x': 'x' }, /must not contain/],
  ['a drive of Windows', { 'SKILL.md': valid, 'C:x': 'x' }, /must not contain/],
  ['names that differ in case', { 'SKILL.md': valid, 'a.md': 'x', 'A.md': 'y' }, /two files/],
  ['a file that is a folder', { 'SKILL.md': valid, a: 'x', 'a/b': 'y' }, /both a file and a folder/],
  ['no SKILL.md', { 'phishing/skill.txt': valid }, /SKILL\.md/],
  ['a SKILL.md too deep', { 'a/b/SKILL.md': valid }, /SKILL\.md/],
  ['a large file', { 'SKILL.md': valid, 'a.bin': new Uint8Array(256 * 1024 + 1) }, /larger than 262144 bytes/],
  [
    'more than a mebibyte',
    Object.fromEntries([
      ['SKILL.md', valid],
      ...Array.from({ length: 5 }, (_, n) => [`${n}`, new Uint8Array(256 * 1024)]),
    ]),
    /more than 1048576 bytes/,
  ],
  [
    'too many files',
    Object.fromEntries([['SKILL.md', valid], ...Array.from({ length: 101 }, (_, n) => [`${n}`, ''])]),
    /more than 101 files/,
  ],
])('refuses an archive with %s', (_what, files, detail) => {
  const [problem] = problemsOf(() => readSkillZip(zipOf(files))) ?? [];
  expect(problem?.detail).toMatch(detail);
});

test('refuses what is not a zip archive, a damaged one, and a bomb whose header lies about its size', () => {
  expect(problemsOf(() => readSkillZip(Buffer.from('hello')))).toMatchObject([{ code: 'invalid_archive' }]);
  const whole = zipOf({ 'SKILL.md': valid });
  expect(problemsOf(() => readSkillZip(whole.subarray(0, whole.length - 10)))).toMatchObject([
    { code: 'invalid_archive' },
  ]);
  // 50 MB of zeros, which both headers declare as 10 bytes.
  const bomb = zipOf({ 'SKILL.md': valid, 'a.bin': new Uint8Array(50_000_000) });
  for (let at = bomb.indexOf('a.bin'); at !== -1; at = bomb.indexOf('a.bin', at + 1))
    for (const size of [at - 8, at - 22]) if (bomb.readUInt32LE(size) === 50_000_000) bomb.writeUInt32LE(10, size);
  const read = problemsOf(() => readSkillZip(bomb));
  // Refused, or cut where the archive declares its end.
  if (read === undefined) {
    const { content } = readSkillZip(bomb);
    expect(JSON.stringify(content).length).toBeLessThan(1_000);
  } else expect(read).toMatchObject([{ code: 'invalid_archive' }]);
});

test('what is exported reads the same, whatever it contains', () => {
  const text = (max: number) =>
    fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: max })
      .filter(
        (one) => one.trim() !== '' && one.isWellFormed() && !/[\0-\u001f\u007f-\u009f\ufeff\u2028\u2029]/.test(one),
      );
  const word = fc.stringMatching(/^[A-Za-z(:*)]{1,8}$/);
  const content = fc.record({
    description: text(80),
    license: fc.option(text(20)),
    compatibility: fc.option(text(20)),
    metadata: fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(text(20), fc.constantFrom('1.10', 'true', 'null', '~', '2026-01-01', 'a: b', '# x', '')),
      { noNullPrototype: true },
    ),
    allowedTools: fc.array(word, { maxLength: 3 }),
    body: fc.string({ maxLength: 200 }),
    files: fc.constantFrom<SkillFile[]>(
      [],
      [{ path: 'references/a.md', text: 'ü' }],
      [{ path: 'x.bin', base64: 'AP8=' }],
    ),
  });
  fc.assert(
    fc.property(content, (one) => {
      const read = readSkillZip(writeSkillZip({ name: 'phishing', content: one }));
      expect(read).toEqual({ name: 'phishing', content: one });
      expect(readBundle('phishing', toBundleFiles(read))).toEqual(read);
    }),
  );
});

test('a folder is read without following links', () => {
  const folder = join(newDataDir(), 'phishing');
  mkdirSync(join(folder, 'references'), { recursive: true });
  writeFileSync(join(folder, 'SKILL.md'), valid);
  writeFileSync(join(folder, 'references/a.md'), 'A');
  symlinkSync('/etc/passwd', join(folder, 'references/b.md'));
  symlinkSync('/etc', join(folder, 'etc'));
  expect(readSkillFolder(folder).content.files).toEqual([{ path: 'references/a.md', text: 'A' }]);
});

test('the shipped skills are within the recommendations of the specification, and mention only files that they have', () => {
  const skills = [...loadShippedSkills().values()];
  expect(skills.map(({ name }) => name)).toEqual(['triage-of-a-sign-in', 'writing-a-detection']);
  for (const { content } of skills) {
    expect(content.body.split('\n').length).toBeLessThan(500);
    const paths = content.files.map(({ path }) => path);
    const mentioned = [...content.body.matchAll(/references\/[\w.-]+/g)].map(([path]) => path);
    expect(mentioned.toSorted()).toEqual(paths.toSorted());
  }
});
