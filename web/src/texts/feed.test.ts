import { expect, test } from 'vitest';
import document from '../../../openapi.json' with { type: 'json' };
import { texts } from './feed.ts';

test('labels every filter of GET /items that no menu offers', () => {
  const parameters = document.paths['/items'].get.parameters.map(({ name }) => name);
  const others = ['page', 'perPage', 'asOf', 'highlight', 'duplicates', 'updatedSince', 'q', 'searchOrder'];
  const menus = ['severity', 'status', 'platform', 'source', 'relevancyMode', 'requirement'];
  expect(Object.keys(texts.linkedFilters).toSorted()).toEqual(
    parameters.filter((name) => ![...others, ...menus].includes(name)).toSorted(),
  );
});
