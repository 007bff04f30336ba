import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bindTool, tools } from './tools.ts';
import type { ToolSources } from './tool-definition.ts';

const rows = [{ id: 'r1', fields: { user: 'root' } }] as unknown as ToolSources['rows'];
const sources: ToolSources = {
  entity: 'root',
  rows,
  history: () => Promise.resolve({ remembered: [], hits: [] }),
  searchSiem: () => Promise.resolve({ rows: [...rows], total: 1, truncated: false }),
  searchFeed: () => Promise.resolve({ found: [] }),
  lookupIndicator: () => Promise.resolve({ found: [] }),
  lookupTechnique: () => undefined,
  grantedUrl: 'https://intel.example/ip/{entity}',
  fetchText: (url) => Promise.resolve(`from ${url}`),
};

/** A valid input of every tool. */
const inputs: Record<string, Record<string, unknown>> = {
  get_rows: { contains: 'root' },
  entity_history: {},
  search_siem: { query: 'select 1' },
  search_feed: { text: 'ransomware' },
  lookup_indicator: { value: '192.0.2.1' },
  lookup_technique: { id: 'T1059' },
  http_get: { values: {} },
};

test.for(Object.entries(tools))('%s keeps what its description promises', async ([name, tool]) => {
  expect(name).toMatch(/^[a-z]+(_[a-z]+)+$/);
  expect(tool.description).toMatch(/^[A-Z].*\.$/);
  const bound = bindTool(name, sources)!;
  expect(bound.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
  expect(bound.parse({ ...inputs[name], unknown: 1 })).toMatchObject({ problem: expect.stringContaining('unknown') });
  const parsed = bound.parse(inputs[name] ?? {});
  expect(parsed).toHaveProperty('input');
  const { input } = parsed as { input: unknown };
  expect(JSON.stringify(await bound.run(input, new AbortController().signal))).toMatch(/^[{[]/);
  // Rows of other entities, like answers of other systems, may have been written by an attacker.
  if (tool.seesOtherEntities || tool.effect === 'send') expect(tool.origin).toBe('outside');
  if (tool.findUrlProblem) {
    expect(tool.effect).toBe('send');
    expect(tool.findUrlProblem('ftp://{entity}')).toMatch(/^must /);
    await expect(
      bindTool(name, { ...sources, grantedUrl: undefined })!.run(input, new AbortController().signal),
    ).rejects.toThrow('no administrator');
  }
});

test('the guide lists every tool', () => {
  const guide = readFileSync('docs/guide/tools.md', 'utf8');
  expect(Object.keys(tools).filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
