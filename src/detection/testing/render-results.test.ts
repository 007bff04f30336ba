import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TestResult } from './testing.schema.ts';
import { renderJunit } from './render-results.ts';

const now = new Date('2026-01-05T08:00:00Z');
const failedResult: TestResult = {
  name: 'x',
  passed: false,
  expected: [],
  found: [],
  missing: [],
  unexpected: [],
  error: null,
  ms: 1234,
};
const render = (file: string, changes: Partial<TestResult>): string =>
  renderJunit(
    [
      {
        file,
        run: {
          passed: false,
          queryTested: true,
          warnings: [],
          model: 'analyst',
          tokens: 0,
          costUsd: 0,
          results: [{ ...failedResult, ...changes }],
        },
      },
    ],
    now,
  );

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
const unescapeXml = (text: string): string =>
  text.replaceAll(/&(?:#(\d+)|(\w+));/g, (_all, code, name) => (code ? String.fromCharCode(code) : entities[name]!));

// The Char production of XML 1.0.
const isChar = (char: string): boolean => /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]$/u.test(char);

test('renders any test name and error as valid XML', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('<', '&', ']]>', '"', '\n', '\0', '\u{FFFE}', '\u{D800}', 'é'), fc.string()),
  });
  fc.assert(
    fc.property(text, text, (name, error) => {
      const xml = render('a.yaml', { name, error });
      expect([...xml].every(isChar)).toBe(true);
      const [, renderedName] = /<testcase name="([^"<]*)" classname="a" time="1\.234">/.exec(xml) ?? [];
      const expected = [...name.toWellFormed()].map((char) => (isChar(char) ? char : '\u{FFFD}')).join('');
      expect(unescapeXml(renderedName!)).toBe(expected);
      const [, body] =
        /<error message="[^"<]*" type="error">([^<]*)<\/error><\/testcase>\n {2}<\/testsuite>\n<\/testsuites>\n$/.exec(
          xml,
        ) ?? [];
      expect(body).not.toContain(']]>');
      expect(xml.match(/&(?!(amp|lt|gt|quot|#\d+);)/)).toBe(null);
    }),
    { numRuns: 200 },
  );
});

test('renders a test that could not run as an error and a wrong result as a failure', () => {
  expect(render('a.yaml', { missing: ['ada'], expected: ['ada'] })).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="tocsin" tests="1" failures="1" errors="0" time="1.234">
  <testsuite name="a.yaml" tests="1" failures="1" errors="0" time="1.234" skipped="0" timestamp="2026-01-05T08:00:00">
    <properties><property name="queryTested" value="true"/></properties>
    <testcase name="x" classname="a" time="1.234"><failure message="missing ada" type="failure">expected: [&quot;ada&quot;]
found: []</failure></testcase>
  </testsuite>
</testsuites>
`);
  expect(render('a.yaml', { error: 'no' })).toContain('failures="0" errors="1"');
});
