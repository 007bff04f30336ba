import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { compileWith, listPlaces } from '../../support/change-request.ts';
import { detectionRequests } from './detection.ts';
import { feedRequests } from './feed.ts';
import { notificationRequests } from './notifications.ts';
import { platformRequests } from './platform.ts';
import { toolRequests } from './tools.ts';

const requests = [...feedRequests, ...detectionRequests, ...notificationRequests, ...platformRequests, ...toolRequests];

// One check of the whole program with a fake member of every kind, because it takes many seconds.
const errors = compileWith(requests);

test.for(requests)('the row "$addition" of CONTRIBUTING.md lists every place, and no other', (request) => {
  const { edits, compiler, suites = {} } = request;
  // `<name>` is the member's own file, which its line in the registry imports.
  const listed = listPlaces(request.addition).filter((place) => !place.includes('<'));
  expect(listed.toSorted()).toEqual(
    [...new Set([edits, compiler, suites].flatMap((places) => Object.keys(places)))].toSorted(),
  );
  expect(Object.values(suites).filter((suite) => !existsSync(suite))).toEqual([]);
});

test.for(requests)('the compiler reports what the addition "$addition" lacks', ({ compiler }) => {
  for (const [file, text] of Object.entries(compiler))
    expect(errors).toContainEqual({ file, message: expect.stringContaining(text) as unknown });
});

test('the compiler reports no other place', () => {
  const isListed = ({ file, message }: (typeof errors)[number]): boolean =>
    requests.some(({ compiler }) => compiler[file] !== undefined && message.includes(compiler[file]));
  expect(errors.filter((error) => !isListed(error))).toEqual([]);
});
