import { readdirSync, readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataDir } from '../../../test/support/data.ts';
import { checkParsed } from '../../../test/support/feed/check-parsed.ts';
import { sourceFormats, type SourceKind } from './registry.ts';

const data = dataDir();
const recorded: [SourceKind, string, number][] = [
  ['kev', 'feed/kev/kev-latest.json.gz', 1],
  ['stix', 'feed/stix', 30],
  ['misp', 'feed/misp', 20],
  ['misp', 'feed/eset/misp', 20],
  ['csaf', 'feed/csaf', 39],
  ['osv', 'feed/osv/osv.zip', 143],
];

describe.skipIf(!data)('recorded sources', () => {
  test.each(recorded)('%s: parses %s into valid records', (kind, path, least) => {
    const whole = resolve(data!, path);
    const names = statSync(whole).isFile()
      ? ['']
      : readdirSync(whole, { recursive: true, encoding: 'utf8' }).filter((name) => /\.json(?:\.gz)?$/.test(name));
    const parts = names.map((name) => ({ name, bytes: readFileSync(resolve(whole, name)) }));
    const parsed = sourceFormats[kind].parse(parts, { reliability: 0.6 });
    expect(parsed.records.length).toBeGreaterThanOrEqual(least);
    checkParsed(parsed);
  });
});
