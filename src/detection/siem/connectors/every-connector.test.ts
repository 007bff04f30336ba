import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { datasets } from '../siem-settings.ts';
import { findConnector, remoteConnectors, type RemoteSiemType, type SiemKind } from './registry.ts';

/** What every connector must answer. A new one is checked by being in the registry. `testConnectorConformance` tests its queries. */

const kinds = Object.keys(remoteConnectors) as RemoteSiemType[];

describe.each(kinds)('%s', (kind) => {
  const { label, language, writing, settings, credentials, timeField, source, sweep } = remoteConnectors[kind];

  test('is documented and has tests', () => {
    const read = (page: string): string => readFileSync(resolve('docs/guide', page), 'utf8');
    expect(read('connections.md')).toContain(`\n## ${label} (\`${kind}\`)\n`);
    expect(read('sigma.md')).toContain(`\`${kind}\``);
    const tests = readFileSync(resolve(import.meta.dirname, `${kind}.test.ts`), 'utf8');
    expect(tests).toMatch(new RegExp(`test(?:HttpAdapter|ConnectorConformance)\\('${kind}'`));
  });

  test('describes itself for forms', () => {
    expect([label, language, writing, source.label].every((text) => text !== '')).toBe(true);
    expect(datasets.safeParse({ windows: { source: source.example } }).success).toBe(true);
    for (const schema of [settings, credentials])
      expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ $schema: expect.any(String) as unknown });
  });

  test('reads times from the field that its settings have by default', () => {
    const { properties = {} } = z.toJSONSchema(settings, { io: 'input' }) as {
      properties?: Record<string, { default?: string }>;
    };
    const byDefault = properties['timeField']?.default ?? properties['timeColumn']?.default;
    expect([undefined, timeField]).toContain(byDefault);
  });

  test('applies the window to the query of a sweep unless it comes beside the query', () => {
    const query = sweep.query('logs', 'condition');
    expect(query.includes('$window')).toBe(writing.includes('$window'));
  });
});

test.each<SiemKind>(['local', ...kinds])('%s finds values and patterns', (kind) => {
  const { text, isIn, isLike, or, query } = findConnector(kind).sweep;
  const conditions = [isIn(text('domain'), ['evil.top', 'bad.top']), isLike(text('url'), ['*.evil.top*', '91.92.*'])];
  const swept = query('logs', conditions.join(or));
  for (const part of ['logs', 'domain', 'url', 'evil.top', 'bad.top', ...conditions]) expect(swept).toContain(part);
});
