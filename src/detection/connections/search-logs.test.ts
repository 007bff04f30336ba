import { expect, test, vi } from 'vitest';
import type { Caller } from '../../platform/http/caller.ts';
import { SiemError, type SiemConnection } from '../siem/connector.ts';
import { searchWindow } from './search-logs.ts';

const input = { query: 'SELECT 1', from: '2024-01-01T00:00:00Z', to: '2024-01-01T01:00:00Z', limit: 10 };
const cancelled = new SiemError({ kind: 'cancelled', blame: 'service', retryable: true, message: 'Cancelled.' });
const connection = { search: () => Promise.reject(cancelled) } as unknown as SiemConnection;
const connectionFor = () => Promise.resolve(connection);

test('a query that is stopped after its time limit is query_timeout, and another one unavailable', async () => {
  const search = () =>
    searchWindow({ connectionFor }, { orgId: 'org' } as unknown as Caller, input, new AbortController().signal);
  await expect(search()).rejects.toMatchObject({ code: 'unavailable' });
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  await expect(search()).rejects.toMatchObject({
    code: 'check_failed',
    errors: [expect.objectContaining({ pointer: '/query', code: 'query_timeout' })],
  });
  timeout.mockRestore();
});
