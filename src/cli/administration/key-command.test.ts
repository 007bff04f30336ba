import { expect, test } from 'vitest';
import { createKeyCommand } from './key-command.ts';

test.each([
  [{ scope: ['nonsense'] }, /^--scope nonsense: must be one of feed:admin, detections:read/],
  [{ name: '' }, /^--name: must have at least 1 character/],
  [{ expires: 'tomorrow' }, /^--expires must be a date such as 2027-01-31/],
])('explains the wrong option %j in words of the command line', async (options, message) => {
  await expect(createKeyCommand({ org: 'default', name: 'robot', ...options })).rejects.toThrow(message);
});
