import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createTestFolder } from '../../../test/support/detection/log-store.ts';
import { openBackupLocation } from './backup-location.ts';

const folder = createTestFolder();

test('refuses a file in a folder that does not exist before anything is read', async () => {
  await openBackupLocation(join(folder, 'tocsin.backup')).check();
  const missing = join(folder, 'missing');
  await expect(openBackupLocation(join(missing, 'tocsin.backup')).check()).rejects.toThrow(
    `The folder ${missing} does not exist.`,
  );
});
