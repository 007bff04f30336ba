import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { shipperSources } from './shipper-sources.routes.ts';

const guide = readFileSync(new URL('../../../../docs/guide/send-logs.md', import.meta.url), 'utf8');

test.each(shipperSources)('the guide has the configuration of $id', ({ name, configuration }) => {
  const start = guide.indexOf(`**${name}**`);
  expect(start).toBeGreaterThan(0);
  expect(guide.slice(start)).toContain(`\n${configuration}\`\`\`\n`);
});
