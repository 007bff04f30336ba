import { expect, test } from 'vitest';
import { parseHeadlineTemplate } from './wording.ts';

test('splits a template into literals and fields', () => {
  expect(parseHeadlineTemplate('Shadow copies deleted on {{ host.name }} by {{user}}')).toEqual({
    literals: ['Shadow copies deleted on ', ' by ', ''],
    fields: ['host.name', 'user'],
  });
  expect(parseHeadlineTemplate('Nothing to fill')).toEqual({ literals: ['Nothing to fill'], fields: [] });
});

test.each([
  ['Deleted on {{host', 'has a "{{" at character 12 without a "}}"'],
  ['Deleted on host}} today', 'has a "}}" without a "{{" before it'],
  ['Deleted on {{ }}', 'has an empty placeholder at character 12: write {{field}}'],
  ['Deleted on {{{host}}}', 'has a placeholder with a brace in its name at character 12'],
  ['Deleted on {{a {{b}}', 'has a placeholder with a brace in its name at character 12'],
  [`Deleted on {{${'x'.repeat(256)}}}`, 'has a placeholder with more than 255 characters'],
  ['Deleted\non {{host}}', 'must be one line without control characters'],
  ['{{host}} {{user}}', 'must have words besides its placeholders'],
])('refuses %j', (text, problem) => {
  expect(parseHeadlineTemplate(text)).toEqual({ problem });
});
