import { expect, test } from 'vitest';
import { findFreeLoopbackPort } from '../../src/platform/embedded-postgres/address.ts';
import { testDatabase } from '../support/database.ts';
import { blocksOf, findMissingOutput, runBlocks, startBlock, startService } from '../support/typed-commands.ts';

const page = 'docs/operate/scale.md';

test('the workers of the page start with their roles and answer on their ports', async () => {
  const { url } = await testDatabase();
  const ports = [await findFreeLoopbackPort(), await findFreeLoopbackPort()].map(({ port }) => String(port));
  const fillIn = (shell: string): string =>
    shell.replace('postgres://tocsin@db/tocsin', url).replaceAll('8081', ports[0]!).replaceAll('8082', ports[1]!);
  const isUp = /^(?=[^]*listens on)(?=[^]*Working: runs, match\.)(?=[^]*Working: judge, ingest, deliver\.)/;
  const service = await startService(fillIn(startBlock(page, 'run: roles')), isUp);
  try {
    const health = blocksOf(page).find(({ mark }) => mark === 'run: health')!;
    const [output = ''] = await runBlocks(service, [{ ...health, shell: fillIn(health.shell) }]);
    expect(findMissingOutput(output, health.prints), output).toBeUndefined();
  } finally {
    await service.stop();
  }
});
